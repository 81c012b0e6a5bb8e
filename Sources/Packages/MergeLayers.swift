internal import Foundation
internal import TileBodies

/// The layers of a package's vector tiles, found on threads of their own where the tileset does not tell them.
///
/// Bodies of which nothing is remembered are inflated for it, which is then the longest work of the merge; so bodies are shared out by their numbers.
/// Whoever put them into shards had checked them. A union does not depend on who found what, so neither does the package.
struct MergeLayers {
    private let lanes: [MergeAside<VectorLayers>]

    /// `nil` where nobody asks.
    init?(_ metadata: PackageMetadata, _ memory: LayerMemory) {
        guard metadata.lacksLayers else { return nil }
        let count = min(4, max(1, ProcessInfo.processInfo.activeProcessorCount))
        lanes = (0..<count).map { lane in
            MergeAside("layers.\(lane)") { belt in
                var found = LayerCollector(memory, isSettled: true)
                while let tiles = belt.take() {
                    for tile in tiles where Int(tile.number) % count == lane {
                        try tile.content.withUnsafeBytes { content in
                            let body = UnsafeRawBufferPointer(rebasing: content[tile.range])
                            try found.add(body, tile.key, zoom: tile.zoom)
                        }
                    }
                }
                return found.layers
            }
        }
    }

    /// Adds tiles that follow all before.
    func add(_ tiles: [MergeTile]) { for lane in lanes { lane.add(tiles) } }

    /// The layers of all that was added, as JSON text of the array.
    func finish() throws -> String {
        var all = VectorLayers()
        for lane in lanes { all.formUnion(try lane.finish()) }
        return all.json
    }
}
