internal import Errors
internal import Files
internal import Foundation
internal import PackageFiles
internal import Shards
internal import Tiles

/// The first pass over the shards: reads each index, counts the package's tiles per run of each order, and records which
/// bodies occur more than once.
///
/// Memory: two to four bytes a tile, twelve a run in use, and a few hundred a shard; at most ``tableTiles`` of the tiles
/// themselves, so that a small package reads each index once.
struct TileSurvey {
    /// Where its tiles are, for each order.
    private(set) var runs: [TileRuns]
    /// Tiles mentioned, stored or empty; a tile two shards mention counts twice.
    private(set) var mentioned: UInt64 = 0
    private(set) var repeats: RepeatFilter
    /// The package's tiles of each shard, of the first shards that have ``tableTiles`` together; `nil` for the others.
    private(set) var tables: [ShardTable?] = []
    /// Some 150 bytes each.
    private static let tableTiles = 40_000

    /// - Parameter orders: Those in which the tiles will be read.
    init(
        _ spec: PackageSpec, _ shards: [MergeInput], orders: [TileOrder] = [], tick: () throws -> Void
    ) throws {
        runs = orders.map(TileRuns.init)
        repeats = RepeatFilter(tiles: spec.mask.count(in: spec.zooms))
        var space = Self.tableTiles
        for input in shards {
            let reader = try Self.open(input, isFirstTime: true)
            for order in runs.indices { runs[order].addShard() }
            let before = mentioned
            for entry in reader.entries where spec.admits(entry.tile) {
                for order in runs.indices { runs[order].add(entry.tile) }
                mentioned += 1
                if let body = entry.body { repeats.add(BodyKey(body.digest)) }
            }
            let tiles = Int(clamping: mentioned - before)
            tables.append(tiles <= space ? reader.table(spec.admits) : nil)
            if tiles <= space { space -= tiles }
            try tick()
        }
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
