internal import Tiles

/// An order in which a merge reads the tiles of a zoom.
///
/// Tiles are sorted in strips of whole runs, so that not all of them are in memory: all tiles of a run come before those of the next one.
enum TileOrder: Hashable, Sendable {
    /// By column and TMS row, as MBTiles stores them; a run is a column.
    case rows
    /// Along the Hilbert curve, as PMTiles stores them; a run is a square of at most 128 × 128 tiles.
    case curve

    /// Zooms between a run of the curve and its tiles.
    private static let zoomsOfRun = 7

    /// Where a tile stands among those of its zoom.
    func place(of tile: TileID) -> UInt64 {
        switch self {
        case .rows: UInt64(tile.x) << 32 | UInt64(tile.tmsY)
        case .curve: tile.hilbertPlace
        }
    }

    /// The number of the run that a tile is in; runs ascend in the order of their tiles.
    func run(of tile: TileID) -> Int {
        switch self {
        case .rows: tile.x
        case .curve: Int(truncatingIfNeeded: tile.hilbertPlace >> UInt64(2 * min(tile.zoom, Self.zoomsOfRun)))
        }
    }
}

/// Where the tiles of a package are, by the runs of an order.
struct TileRuns: Sendable {
    /// Runs that are read and sorted together.
    struct Strip {
        var runs: ClosedRange<Int>
        /// Tiles that shards mention in them.
        var tiles: Int
    }

    let order: TileOrder
    /// Tiles by zoom and run.
    private var counts: [Int: [Int: Int]] = [:]
    /// The runs that each shard has tiles in, by zoom.
    private var spans: [[Int: ClosedRange<Int>]] = []

    init(_ order: TileOrder) { self.order = order }

    /// Begins the next shard.
    mutating func addShard() { spans.append([:]) }

    /// Adds a tile of the last shard.
    mutating func add(_ tile: TileID) {
        let run = order.run(of: tile)
        counts[tile.zoom, default: [:]][run, default: 0] += 1
        let known = spans[spans.count - 1][tile.zoom] ?? run...run
        spans[spans.count - 1][tile.zoom] = min(known.lowerBound, run)...max(known.upperBound, run)
    }

    /// Strips of runs of one zoom with at most `limit` tiles each (more only when one run alone has more).
    func strips(zoom: Int, limit: Int) -> [Strip] {
        var strips: [Strip] = []
        for (run, tiles) in counts[zoom, default: [:]].sorted(by: { $0.key < $1.key }) {
            if let last = strips.last, last.tiles + tiles <= limit {
                strips[strips.count - 1] = Strip(runs: last.runs.lowerBound...run, tiles: last.tiles + tiles)
            } else {
                strips.append(Strip(runs: run...run, tiles: tiles))
            }
        }
        return strips
    }

    /// The shards that may have tiles in a strip.
    func shards(zoom: Int, strip: Strip) -> [Int] {
        spans.indices.filter { spans[$0][zoom]?.overlaps(strip.runs) ?? false }
    }
}
