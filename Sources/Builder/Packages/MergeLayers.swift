internal import Foundation
internal import PackageFiles
internal import TileBodies

/// Finds the layers of a package's vector tiles on separate threads, if the tileset does not list them.
///
/// Bodies that are not in the cache must be decompressed, which is then the longest work of the merge. So bodies are
/// distributed over threads by their numbers. The bodies were checked before they were put into shards. A union does
/// not depend on which thread found which layer, so the package does not either.
struct MergeLayers {
    private let lanes: [ParallelTileConsumer<VectorLayers>]

    /// `nil` if the layers are not needed.
    init?(_ metadata: PackageMetadata, _ memory: LayerCache) {
        guard metadata.lacksLayers else { return nil }
        let count = min(4, max(1, ProcessInfo.processInfo.activeProcessorCount))
        lanes = (0..<count).map { lane in
            ParallelTileConsumer("layers.\(lane)") { queue in
                var found = LayerCollector(metadata.format, memory, isChecked: true)
                while let tiles = queue.next() {
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

    /// Adds tiles that follow all previous ones.
    func add(_ tiles: [MergeTile]) { for lane in lanes { lane.add(tiles) } }

    /// The layers of all that was added, as JSON text of the array.
    func finish() throws -> String {
        var all = VectorLayers()
        for lane in lanes { all.formUnion(try lane.finish()) }
        return all.json
    }
}
