internal import Files
public import Foundation
internal import PackageFiles
internal import Shards
internal import TextFormats
public import TileBodies
internal import Tiles

/// Turns shards into one MBTiles file whose bytes depend on the spec and the tiles alone.
public enum MBTilesMerge {
    /// Writes, flushes and verifies the package.
    ///
    /// The bytes do not depend on how the tiles are spread over shards, on the shards' order or on the order of bodies in them.
    /// Memory: about 60 MB, 2–4 bytes per
    /// tile and 50 per body that occurs again. Blocks for a long time: call it on a thread of its own.
    ///
    /// - Parameters:
    ///   - spec: The package's description. Tiles outside its mask and zooms are skipped.
    ///   - shards: Everything fetched for the job; may hold more than the package.
    ///   - temporary: A file that does not exist, on the file system of the blob store. Removed when anything fails.
    ///   - allowedMissing: How many tiles of the mask may be missing from all shards: those reported as permanently
    ///     failed.
    ///   - layers: A cache of the layers of bodies, used if the spec does not list them; reusing it avoids
    ///     decompressing bodies again.
    ///   - stripTiles: Tiles sorted at a time; affects memory (about 100 bytes each) and speed, but not the bytes of
    ///     the file.
    ///   - progress: Called regularly with the number of tiles written. Throw from it (`CancellationError`) to stop.
    /// - Throws: ``PackagesError``; `bad-shard` names the shard to fetch again.
    public static func run(
        _ spec: PackageSpec, shards: [MergeInput], into temporary: URL, allowedMissing: UInt64 = 0,
        layers: LayerCache = LayerCache(), stripTiles: Int = 40_000, progress: (UInt64) throws -> Void = { _ in }
    ) throws -> PackageReceipt {
        guard spec.zooms.max <= spec.mask.maxZoom else {
            throw PackagesError(
                .badSpec, "Package '\(spec.id)' spans zooms \(spec.zooms), its mask ends at zoom \(spec.mask.maxZoom).")
        }
        guard PackageSpec.formatVersions.contains(spec.formatVersion) else {
            throw PackagesError(.badSpec, "Package format \(spec.formatVersion) is not written by this build.")
        }
        try spec.metadata.check()
        guard !FileManager.default.fileExists(atPath: temporary.path) else {
            throw PackagesError(.io, "'\(temporary.path)' exists already; a merge writes a new file.")
        }
        // Sorted by digest, so that nothing can depend on the order of the list.
        let inputs = Set(shards).sorted { $0.digest < $1.digest }
        do {
            let survey = try TileSurvey(spec, inputs) { try progress(0) }
            let expected = spec.mask.count(in: spec.zooms)
            if survey.mentioned + allowedMissing < expected {
                throw try missing(of: spec, from: inputs, count: expected - survey.mentioned, allowed: allowedMissing)
            }
            let readBack = { (totals: Totals) in try verify(temporary, against: spec, totals: totals) }
            let (totals, digest) = try BulkPackage.write(temporary, readBack: readBack) { builder in
                var totals = Totals()
                try fill(
                    builder, spec: spec, inputs: inputs, survey: survey, stripTiles: stripTiles, layers: layers,
                    totals: &totals, progress: progress)
                totals.missing = expected - min(expected, totals.tiles + totals.empty)
                guard totals.missing <= allowedMissing else {
                    throw try missing(of: spec, from: inputs, count: totals.missing, allowed: allowedMissing)
                }
                return totals
            }
            return PackageReceipt(
                digest: digest, size: try FileDescriptor(reading: temporary).size, tiles: totals.tiles,
                empty: totals.empty, missing: totals.missing,
                distinct: totals.distinct, tilesHash: totals.hash, remark: totals.remark)
        } catch {
            for suffix in ["", "-journal"] { unlink(temporary.path + suffix) }
            throw PackagesError.wrapping(error, path: temporary.path)
        }
    }

    private struct Totals {
        var tiles: UInt64 = 0
        var empty: UInt64 = 0
        var missing: UInt64 = 0
        var distinct: UInt64 = 0
        var hash = ""
        var sum = TileSum()
        var remark = ""
    }

    private static func fill(
        _ builder: any PackageWriter, spec: PackageSpec, inputs: [MergeInput], survey: TileSurvey,
        stripTiles: Int, layers memory: LayerCache, totals: inout Totals, progress: (UInt64) throws -> Void
    ) throws {
        let hash = ParallelTileConsumer.tilesHash()
        let layers = MergeLayers(spec.metadata, memory)
        var metadata = spec.metadata
        var pictures = PictureCounts()
        var fill = FillTally(spec)
        let counts = try MergeStream.run(spec, inputs: inputs, survey: survey, stripTiles: stripTiles) { tiles in
            hash.add(tiles)
            layers?.add(tiles)
            for tile in tiles {
                try tile.content.withUnsafeBytes { content in
                    let bytes = UnsafeRawBufferPointer(rebasing: content[tile.range])
                    if tile.isNew {
                        try builder.add(body: bytes, number: tile.number)
                        if !metadata.format.traits.isVector { pictures.add(bytes, stated: metadata.format) }
                    }
                    try builder.add(zoom: tile.zoom, column: tile.column, row: tile.row, number: tile.number)
                    fill.add(tile, bytes)
                    totals.sum.add(zoom: tile.zoom, column: tile.column, row: tile.row, TileSum.Body(bytes))
                }
            }
            totals.tiles += UInt64(tiles.count)
            try progress(totals.tiles)
        }
        totals.empty = counts.empty
        totals.remark = fill.remark
        totals.distinct = counts.distinct
        totals.hash = try hash.finish()
        // An area of an archive with PNG and JPEG can have one of them alone.
        metadata.format = pictures.mostFrequent(orStated: metadata.format) ?? metadata.format
        try builder.add(
            metadata: metadata.rows(
                zooms: spec.zooms, tilesHash: totals.hash, foundLayers: try layers?.finish(),
                isFlat: spec.formatVersion >= 2))
        try progress(totals.tiles)
    }

    /// Reads the file back as clients do.
    ///
    /// Proves that the file has the given bodies. That the bodies are valid tiles was checked by a worker before it put
    /// their SHA-256 into a shard.
    private static func verify(_ url: URL, against spec: PackageSpec, totals: Totals) throws {
        let problems = try MBTilesReadBack.problems(
            of: url, sum: totals.sum, format: spec.metadata.format)
        guard let first = problems.first else { return }
        throw PackagesError(
            .verificationFailed,
            "Package '\(spec.id)' failed its verification with \(Units.count(problems.count, of: "problem")); the first: \(first)."
        )
    }

    /// The error that names some of the tiles that were not fetched.
    static func missing(
        of spec: PackageSpec, from inputs: [MergeInput], count: UInt64, allowed: UInt64
    ) throws -> PackagesError {
        var examples: [String] = []
        // Naming them needs a set of all tiles; for very large packages only the count is given.
        if spec.mask.count(in: spec.zooms) <= 4_000_000 {
            var known: Set<TileID> = []
            for input in inputs { known.formUnion(try TileSurvey.open(input).entries.map(\.tile)) }
            for tile in spec.mask.tiles(in: spec.zooms) where examples.count < 5 && !known.contains(tile) {
                examples.append(tile.description)
            }
        }
        let some = examples.isEmpty ? "" : ", such as \(examples.joined(separator: ", "))"
        return PackagesError(
            .missingTiles,
            "Package '\(spec.id)' lacks \(Units.count(count, of: "tile")) of its mask\(some); only \(allowed) were reported as failed. "
                + "At least one batch was never fetched: submit the job again.")
    }
}
