internal import Files
public import Foundation
internal import PackageFiles
internal import TextFormats
public import TileBodies

/// Turns shards into one MBTiles file whose bytes depend on the spec and the tiles alone.
public enum MBTilesMerge {
    /// Writes and verifies the package; `BlobStore.put` flushes it.
    ///
    /// The bytes do not depend on how the tiles are spread over shards, on the shards' order or on the order of bodies in them.
    /// Memory: about 24 MB (see ``memory(tiles:)``), 2–4 bytes per
    /// tile and 50 per body that occurs again; less for a small package, which one thread merges. Blocks for a long time: call it on a thread of its own.
    ///
    /// - Parameters:
    ///   - spec: The package's description. Tiles outside its mask and zooms are skipped.
    ///   - shards: Everything fetched for the job; may hold more than the package.
    ///   - temporary: A file that does not exist, on the file system of the blob store. Removed when anything fails.
    ///   - allowedMissing: How many tiles of the mask may be missing from all shards: those reported as permanently
    ///     failed.
    ///   - layers: A cache of the layers of bodies, used if the spec does not list them; reusing it avoids
    ///     decompressing bodies again.
    ///   - maps: A cache of the indexes of shards; reusing it avoids reading them again.
    ///   - small: Which packages are small.
    ///   - stripTiles: Tiles sorted at a time; affects memory (about 100 bytes each) and speed, but not the bytes of
    ///     the file.
    ///   - progress: Called regularly with the number of tiles written. Throw from it (`CancellationError`) to stop.
    /// - Throws: ``PackagesError``; `bad-shard` names the shard to fetch again.
    public static func run(
        _ spec: PackageSpec, shards: [MergeInput], into temporary: URL, allowedMissing: UInt64 = 0,
        layers: LayerCache = LayerCache(), maps: ShardMaps = ShardMaps(), small: SmallPackage = .usual,
        stripTiles: Int = 40_000, progress: (UInt64) throws -> Void = { _ in }
    ) throws -> PackageReceipt {
        try MergePlan.check(spec, into: temporary)
        do {
            let plan = try MergePlan(
                spec, shards: shards, orders: [.rows], allowedMissing: allowedMissing, maps: maps, small: small
            ) { try progress(0) }
            let readBack = { (written: Written, content: SealedContent) in
                try verify(content, against: spec, sum: written.sum)
            }
            let (written, digest) = try BulkPackage.write(
                temporary, inMemory: plan.isSmall ? small.file : 0, isFlushed: false, readBack: readBack
            ) { builder in
                try fill(builder, plan: plan, stripTiles: stripTiles, layers: layers, progress: progress)
            }
            return PackageReceipt(
                digest: digest, size: try temporary.fileSize(), tiles: written.sum.tiles,
                empty: written.counts.empty, missing: written.missing, distinct: written.counts.distinct,
                tilesHash: written.found.hash, remark: written.found.remark)
        } catch {
            for suffix in ["", "-journal"] { unlink(temporary.path + suffix) }
            throw PackagesError.wrapping(error, path: temporary.path)
        }
    }

    /// Bytes that a merge of so many tiles takes at most, about, when its shards have no larger bodies than usual; 0 for a small package.
    public static func memory(tiles: UInt64) -> Int {
        tiles <= SmallPackage.usual.tiles ? 0 : (24 << 20) + Int(clamping: min(tiles, 1 << 40) * 4)
    }

    private struct Written {
        let sum: TileSum
        let counts: MergeStream.Counts
        let missing: UInt64
        let found: MergeFindings.Outcome
    }

    private static func fill(
        _ builder: any PackageWriter, plan: MergePlan, stripTiles: Int, layers: LayerCache,
        progress: (UInt64) throws -> Void
    ) throws -> Written {
        var findings = MergeFindings(plan.spec, layers, isAlone: plan.isSmall)
        var sum = TileSum()
        let counts = try plan.run(stripTiles: stripTiles) { _, tiles in
            try findings.add(tiles) { tile, bytes in
                if tile.isNew { try builder.add(body: bytes, number: tile.number) }
                try builder.add(zoom: tile.zoom, column: tile.column, row: tile.row, number: tile.number)
                sum.add(zoom: tile.zoom, column: tile.column, row: tile.row, TileSum.Body(bytes))
            }
            try progress(findings.tiles)
        }
        let found = try findings.finish()
        try builder.add(metadata: found.rows)
        try progress(sum.tiles)
        return Written(
            sum: sum, counts: counts, missing: try plan.missing(tiles: sum.tiles, empty: counts.empty), found: found)
    }

    /// Reads the file back as clients do.
    ///
    /// Proves that the file has the given bodies. That the bodies are valid tiles was checked by a worker before it put
    /// their SHA-256 into a shard.
    private static func verify(_ content: SealedContent, against spec: PackageSpec, sum: TileSum) throws {
        let problems = try MBTilesReadBack.problems(of: content, sum: sum, format: spec.metadata.format)
        guard let first = problems.first else { return }
        throw PackagesError(
            .verificationFailed,
            "Package '\(spec.id)' failed its verification with \(Units.count(problems.count, of: "problem")); the first: \(first)."
        )
    }
}
