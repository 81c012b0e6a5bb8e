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
    /// Whether its tiles are in memory, so that one thread does all of the work.
    var isSmall: Bool { if case .memory = source { true } else { false } }
    private let source: Source
    private let orders: [TileOrder]
    private let expected: UInt64
    private let allowedMissing: UInt64

    private enum Source {
        case memory(SmallPackageTiles)
        case shards(TileSurvey)
    }

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

    /// Reads the index of each shard, or takes it from `maps`, and the bodies of a small package.
    ///
    /// - Parameters:
    ///   - orders: Those in which the tiles will be read.
    ///   - small: Which packages are small.
    /// - Throws: ``PackagesError`` `bad-shard`, `missing-tiles`, and what `tick` throws.
    init(
        _ spec: PackageSpec, shards: [MergeInput], orders: [TileOrder], allowedMissing: UInt64, maps: ShardMaps,
        small: SmallPackage, tick: () throws -> Void
    ) throws {
        (self.spec, self.allowedMissing, self.orders) = (spec, allowedMissing, orders)
        let inputs = Set(shards).sorted { $0.digest < $1.digest }
        let expected = spec.mask.count(in: spec.zooms)
        (self.inputs, self.expected) = (inputs, expected)
        func check(_ mentioned: UInt64) throws {
            guard mentioned + allowedMissing < expected else { return }
            throw try Self.missing(of: spec, from: inputs, count: expected - mentioned, allowed: allowedMissing)
        }
        if let places = try SmallPackagePlaces(spec, inputs, maps: maps, limit: small, tick: tick) {
            try check(places.mentioned)
            if let tiles = try places.load(limit: small, tick: tick) {
                source = .memory(tiles)
                return
            }
        }
        let survey = try TileSurvey(spec, inputs, orders: orders, maps: maps, tick: tick)
        try check(survey.mentioned)
        source = .shards(survey)
    }

    /// Gives all tiles to `each`, some at a time, on the caller's thread: once in each order.
    ///
    /// - Parameters:
    ///   - stripTiles: Tiles sorted at a time, of a package that is not small.
    ///   - each: Gets the number of the pass, from 0, and tiles.
    /// - Returns: What one pass has read.
    /// - Throws: What reading throws, and what `each` throws.
    func run(
        stripTiles: Int, each: (_ pass: Int, [MergeTile]) throws -> Void
    ) throws -> MergeStream.Counts {
        switch source {
        case .memory(let tiles): try tiles.run(orders, each: each)
        case .shards(let survey):
            try MergeStream.run(spec, inputs: inputs, survey: survey, stripTiles: stripTiles, each: each)
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
