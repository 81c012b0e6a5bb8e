internal import Errors
internal import Files
internal import Foundation
internal import PackageFiles
internal import Shards
internal import Tiles

/// The first pass over the shards: reads each index, counts the package's tiles per column, and records which bodies
/// occur more than once.
///
/// Memory: two to four bytes a tile, twelve a column in use, and a few hundred a shard; at most ``tableTiles`` of the tiles
/// themselves, so that a small package reads each index once.
struct TileSurvey {
    /// Columns a shard has tiles of the package in, per zoom.
    private(set) var spans: [[Int: ClosedRange<Int>]] = []
    /// Tiles per zoom and column.
    private(set) var columns: [Int: [Int: Int]] = [:]
    /// Tiles mentioned, stored or empty; a tile two shards mention counts twice.
    private(set) var mentioned: UInt64 = 0
    private(set) var repeats: RepeatFilter
    /// The package's tiles of each shard, of the first shards that have ``tableTiles`` together; `nil` for the others.
    private(set) var tables: [ShardTable?] = []
    /// Some 150 bytes each.
    private static let tableTiles = 40_000

    init(_ spec: PackageSpec, _ shards: [MergeInput], tick: () throws -> Void) throws {
        repeats = RepeatFilter(tiles: spec.mask.count(in: spec.zooms))
        var space = Self.tableTiles
        for input in shards {
            let reader = try Self.open(input, isFirstTime: true)
            var span: [Int: ClosedRange<Int>] = [:]
            let before = mentioned
            for entry in reader.entries where spec.admits(entry.tile) {
                let tile = entry.tile
                columns[tile.zoom, default: [:]][tile.x, default: 0] += 1
                let known = span[tile.zoom] ?? tile.x...tile.x
                span[tile.zoom] = min(known.lowerBound, tile.x)...max(known.upperBound, tile.x)
                mentioned += 1
                if let body = entry.body { repeats.add(BodyKey(body.digest)) }
            }
            spans.append(span)
            let tiles = Int(clamping: mentioned - before)
            tables.append(tiles <= space ? reader.table(spec.admits) : nil)
            if tiles <= space { space -= tiles }
            try tick()
        }
    }

    /// Runs of columns of one zoom with at most `limit` tiles each (more only when one column alone has more).
    func strips(zoom: Int, limit: Int) -> [ClosedRange<Int>] {
        var strips: [ClosedRange<Int>] = []
        var current: ClosedRange<Int>?
        var count = 0
        for (column, tiles) in columns[zoom, default: [:]].sorted(by: { $0.key < $1.key }) {
            if let open = current, count + tiles <= limit {
                current = open.lowerBound...column
                count += tiles
            } else {
                if let current { strips.append(current) }
                current = column...column
                count = tiles
            }
        }
        if let current { strips.append(current) }
        return strips
    }

    /// The shards that may have tiles in a strip.
    func shards(zoom: Int, columns: ClosedRange<Int>) -> [Int] {
        spans.indices.filter { spans[$0][zoom]?.overlaps(columns) ?? false }
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
