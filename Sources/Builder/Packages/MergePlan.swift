internal import Files
internal import Foundation
internal import PackageFiles
internal import Shards
internal import TextFormats
internal import Tiles

/// What a merge knows before it writes a byte, whatever its format: where the tiles are, and that enough of them are there.
struct MergePlan {
    let spec: PackageSpec
    /// Sorted by digest, so that nothing can depend on the order of the list.
    let inputs: [MergeInput]
    let survey: TileSurvey
    private let expected: UInt64
    private let allowedMissing: UInt64

    /// Refuses what cannot be merged into a new file.
    ///
    /// - Throws: ``PackagesError`` `bad-spec`, `io`.
    static func check(_ spec: PackageSpec, into temporary: URL) throws {
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
    }

    /// Reads the index of each shard.
    ///
    /// - Parameter orders: Those in which the tiles will be read.
    /// - Throws: ``PackagesError`` `bad-shard`, `missing-tiles`, and what `tick` throws.
    init(
        _ spec: PackageSpec, shards: [MergeInput], orders: [TileOrder], allowedMissing: UInt64, tick: () throws -> Void
    ) throws {
        (self.spec, self.allowedMissing) = (spec, allowedMissing)
        inputs = Set(shards).sorted { $0.digest < $1.digest }
        survey = try TileSurvey(spec, inputs, orders: orders, tick: tick)
        expected = spec.mask.count(in: spec.zooms)
        guard survey.mentioned + allowedMissing >= expected else {
            throw try Self.missing(
                of: spec, from: inputs, count: expected - survey.mentioned, allowed: allowedMissing)
        }
    }

    /// How many tiles of the mask no shard mentions.
    ///
    /// - Parameters:
    ///   - tiles: Those with a body.
    ///   - empty: Those known to have none.
    /// - Throws: `missing-tiles` when there are more than allowed.
    func missing(tiles: UInt64, empty: UInt64) throws -> UInt64 {
        let count = expected - min(expected, tiles + empty)
        guard count <= allowedMissing else {
            throw try Self.missing(of: spec, from: inputs, count: count, allowed: allowedMissing)
        }
        return count
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
