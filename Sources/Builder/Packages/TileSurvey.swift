internal import Errors
internal import Files
internal import Foundation
internal import PackageFiles
internal import Shards
internal import Tiles

/// The first pass over the shards: reads each index, counts the package's tiles per run of each order, and records which
/// bodies occur more than once.
///
/// Memory: two to four bytes a tile, twelve a run in use, four a group of bodies, and a few hundred a shard. Indexes are in ``ShardMaps``,
/// which all merges of a worker share.
struct TileSurvey {
    /// Where its tiles are, for each order.
    private(set) var runs: [TileRuns]
    /// Tiles mentioned, stored or empty; a tile two shards mention counts twice.
    private(set) var mentioned: UInt64 = 0
    private(set) var repeats: RepeatFilter
    /// For each shard and each of its groups, how often all orders together take a body of it.
    private(set) var uses: [[UInt32]] = []
    /// The indexes of the shards.
    let maps: ShardMaps

    /// - Parameters:
    ///   - orders: Those in which the tiles will be read.
    ///   - maps: By default none is kept.
    init(
        _ spec: PackageSpec, _ shards: [MergeInput], orders: [TileOrder] = [], maps: ShardMaps = ShardMaps(limit: 0),
        tick: () throws -> Void
    ) throws {
        self.maps = maps
        runs = orders.map(TileRuns.init)
        repeats = RepeatFilter(tiles: spec.mask.count(in: spec.zooms))
        for input in shards {
            add(try maps.map(of: input), of: spec)
            try tick()
        }
    }

    private mutating func add(_ map: ShardMap, of spec: PackageSpec) {
        for order in runs.indices { runs[order].addShard() }
        var uses = [UInt32](repeating: 0, count: map.groupCount)
        map.forEachTile(in: spec.zooms.min...spec.zooms.max) { tile, number in
            guard spec.mask.contains(tile) else { return }
            for order in runs.indices { runs[order].add(tile) }
            mentioned += 1
            guard let body = map.body(number) else { return }
            repeats.add(BodyKey(body.digest))
            uses[body.group] += UInt32(runs.count)
        }
        self.uses.append(uses)
    }

    /// Opens a shard and checks that it has the expected digest.
    ///
    /// - Parameter isFirstTime: Whether a shard with an unknown footer digest is read completely for this check.
    static func open(_ input: MergeInput, isFirstTime: Bool = false) throws -> ShardReader {
        do throws(StorageError) {
            let reader = try ShardReader(
                input.url, expecting: isFirstTime && input.footerDigest == nil ? input.digest : nil)
            guard input.footerDigest == nil || input.footerDigest == reader.footerDigest else {
                throw StorageError(
                    .digestMismatch,
                    "'\(input.url.path)' is not the expected shard \(input.digest). Fetch this batch again.")
            }
            return reader
        } catch {
            throw PackagesError.blaming(input.digest, for: error)
        }
    }
}

extension PackageSpec {
    /// Whether a tile belongs into the package.
    func admits(_ tile: TileID) -> Bool { zooms.contains(tile.zoom) && mask.contains(tile) }
}
