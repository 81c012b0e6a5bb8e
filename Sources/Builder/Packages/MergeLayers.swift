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
    private var own: LayerCollector

    /// `nil` if the layers are not needed.
    ///
    /// - Parameter isAlone: Whether the calling thread looks at the bodies.
    init?(_ metadata: PackageMetadata, _ memory: LayerCache, isAlone: Bool) {
        guard metadata.lacksLayers else { return nil }
        own = LayerCollector(metadata.format, memory, isChecked: true)
        guard !isAlone else {
            lanes = []
            return
        }
        let count = min(4, max(1, ProcessInfo.processInfo.activeProcessorCount))
        lanes = (0..<count).map { lane in
            ParallelTileConsumer("layers.\(lane)") { queue in
                var found = LayerCollector(metadata.format, memory, isChecked: true)
                while let tiles = queue.next() {
                    for tile in tiles where Int(tile.number) % count == lane { try found.add(tile) }
                }
                return found.layers
            }
        }
    }

    /// Adds tiles that follow all previous ones.
    ///
    /// - Throws: `verification-failed` for a body that is not a vector tile, when the calling thread looks at it.
    mutating func add(_ tiles: [MergeTile]) throws {
        for lane in lanes { lane.add(tiles) }
        if lanes.isEmpty { for tile in tiles { try own.add(tile) } }
    }

    /// The layers of all that was added, as JSON text of the array.
    func finish() throws -> String {
        var all = own.layers
        for lane in lanes { all.formUnion(try lane.finish()) }
        return all.json
    }
}

extension LayerCollector {
    /// Adds what the body of a tile has.
    fileprivate mutating func add(_ tile: MergeTile) throws {
        try tile.content.withUnsafeBytes { content in
            try add(UnsafeRawBufferPointer(rebasing: content[tile.range]), tile.key, zoom: tile.zoom)
        }
    }
}
