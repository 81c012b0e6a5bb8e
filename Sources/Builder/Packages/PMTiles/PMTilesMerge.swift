internal import Files
public import Foundation
internal import PackageFiles
public import TileBodies
internal import Tiles

/// Turns shards into one PMTiles file whose bytes depend on the spec and the tiles alone.
///
/// They are the bytes of ``PackageExport`` from the MBTiles file of the same spec and tiles, which is not written.
public enum PMTilesMerge {
    /// Writes and verifies the file; `BlobStore.put` flushes it.
    ///
    /// Reads the tiles twice: in the order of rows for the hash and the layers that its metadata has, and along the Hilbert curve for the
    /// file. Parameters, memory and errors are those of ``MBTilesMerge/run(_:shards:into:allowedMissing:layers:maps:small:stripTiles:progress:)``, and `unsupported` when
    /// there is no tile at all. `progress` counts a tile as half written when it was read once.
    public static func run(
        _ spec: PackageSpec, shards: [MergeInput], into temporary: URL, allowedMissing: UInt64 = 0,
        layers: LayerCache = LayerCache(), maps: ShardMaps = ShardMaps(), small: SmallPackage = .usual,
        stripTiles: Int = 40_000, progress: (UInt64) throws -> Void = { _ in }
    ) throws -> PackageReceipt {
        try MergePlan.check(spec, into: temporary)
        do {
            let plan = try MergePlan(
                spec, shards: shards, orders: [.rows, .curve], allowedMissing: allowedMissing, maps: maps, small: small
            ) { try progress(0) }
            var findings = MergeFindings(spec, layers, isAlone: plan.isSmall)
            var export = try PMTilesExport(temporary, inMemory: plan.isSmall ? small.file : 0, isFlushed: false)
            let counts = try plan.run(stripTiles: stripTiles) { pass, tiles in
                if pass == 0 {
                    try findings.add(tiles) { _, _ in }
                } else {
                    for tile in tiles { try export.add(try FeedTile(tile)) }
                }
                try progress((findings.tiles + export.tiles) / 2)
            }
            let missing = try plan.missing(tiles: export.tiles, empty: counts.empty)
            let found = try findings.finish()
            // Each name is there once.
            let rows = Dictionary(found.rows.map { ($0.name, $0.value) }) { first, _ in first }
            let (tiles, digest) = try export.close(rows, format: found.format)
            try progress(tiles)
            return PackageReceipt(
                digest: digest, size: try temporary.fileSize(), tiles: tiles, empty: counts.empty,
                missing: missing, distinct: counts.distinct, tilesHash: found.hash, remark: found.remark)
        } catch {
            unlink(temporary.path)
            throw PackagesError.wrapping(error, path: temporary.path)
        }
    }
}

extension FeedTile {
    /// A tile of a merge; its body is copied when it is asked for.
    fileprivate init(_ tile: MergeTile) throws {
        guard let place = TileID(zoom: tile.zoom, x: tile.column, tmsY: tile.row) else {
            throw PackagesError(
                .verificationFailed,
                "The merge has a tile \(tile.zoom)/\(tile.column)/\(tile.row); this is a bug in Packhorse.")
        }
        self.init(tile: place, key: tile.key, occursAgain: tile.occursAgain) { Array(tile.content[tile.range]) }
    }
}
