internal import Dispatch
internal import Shards
internal import Synchronization
internal import Tiles

/// A tile on its way into a package, with the body that was found for it.
struct MergeTile: Sendable {
    let zoom: Int
    let column: Int
    let row: Int
    /// The body's number in the package.
    let number: UInt32
    /// Whether this is the body's first tile.
    let isNew: Bool
    let occursAgain: Bool
    /// What the body is a part of; shared, not copied.
    let content: [UInt8]
    let range: Range<Int>
}

/// The tiles of a package in its order, read and checked on a thread of their own while the caller writes those before.
enum MergeStream {
    /// What passed by.
    struct Counts: Sendable {
        var empty: UInt64 = 0
        var distinct: UInt64 = 0
    }

    /// Tiles handed over at a time, and how many such lots may wait: some megabytes.
    private static let lot = 64
    private static let waiting = 4

    /// Gives all tiles to `each`, some at a time, on the caller's thread.
    ///
    /// - Throws: What reading throws, and what `each` throws; the other thread has ended then.
    static func run(
        _ spec: PackageSpec, _ inputs: [MergeInput], _ survey: TileSurvey, stripTiles: Int,
        each: ([MergeTile]) throws -> Void
    ) throws -> Counts {
        let belt = Conveyor<[MergeTile]>(limit: waiting)
        let outcome = Mutex<Result<Counts, any Error>>(.success(Counts()))
        let end = DispatchGroup()
        DispatchQueue(label: "packhorse.merge.read").async(group: end) {
            let result = Result { try read(spec, inputs, survey, stripTiles, into: belt) }
            outcome.withLock { $0 = result }
            belt.close()
        }
        defer {
            belt.close()
            end.wait()
        }
        while let tiles = belt.take() { try each(tiles) }
        end.wait()
        return try outcome.withLock { $0 }.get()
    }

    private static func read(
        _ spec: PackageSpec, _ inputs: [MergeInput], _ survey: TileSurvey, _ stripTiles: Int,
        into belt: Conveyor<[MergeTile]>
    ) throws -> Counts {
        let reader = StripReader(spec, inputs)
        var numbers = BodyNumbers(survey.repeats)
        var common = CommonBodies()
        var counts = Counts()
        var tiles: [MergeTile] = []
        for zoom in spec.zooms {
            for columns in survey.strips(zoom: zoom, limit: stripTiles) {
                let shards = survey.shards(zoom: zoom, columns: columns)
                for tile in try reader.tiles(zoom: zoom, columns: columns, shards: shards) {
                    guard let body = tile.body else {
                        counts.empty += 1
                        continue
                    }
                    let (number, isNew, occursAgain) = try numbers.number(of: BodyKey(body.digest))
                    let (content, range) =
                        try common[number].map { ($0, $0.indices) } ?? reader.place(of: body, shard: tile.shard)
                    if occursAgain { common.keep(content[range], number) }
                    tiles.append(
                        MergeTile(
                            zoom: zoom, column: tile.column, row: tile.row, number: number, isNew: isNew,
                            occursAgain: occursAgain, content: content, range: range))
                    if tiles.count == lot {
                        // The caller has given up.
                        guard belt.put(tiles) else { return counts }
                        tiles = []
                    }
                }
            }
        }
        _ = belt.put(tiles)
        counts.distinct = UInt64(numbers.count)
        return counts
    }
}

/// Takes `agg_tiles_hash` on a thread of its own: MD5 is the slowest thing that happens to a body.
final class TilesHashThread: Sendable {
    private let belt = Conveyor<[MergeTile]>(limit: 4)
    private let result = Outcome()
    private let end = DispatchGroup()

    /// Outlives neither the thread nor the one who asks; the thread must not hold the other.
    private final class Outcome: Sendable {
        let text = Mutex("")
    }

    init() {
        DispatchQueue(label: "packhorse.merge.hash").async(group: end) { [belt, result] in
            var hash = TilesHash()
            while let tiles = belt.take() {
                for tile in tiles {
                    tile.content.withUnsafeBytes { content in
                        hash.add(
                            zoom: tile.zoom, column: tile.column, row: tile.row,
                            body: UnsafeRawBufferPointer(rebasing: content[tile.range]))
                    }
                }
            }
            let text = hash.finish()
            result.text.withLock { $0 = text }
        }
    }

    deinit { belt.close() }

    /// Adds tiles that follow all before; waits while many wait.
    func add(_ tiles: [MergeTile]) { _ = belt.put(tiles) }

    /// The hash of all that was added.
    func finish() -> String {
        belt.close()
        end.wait()
        return result.text.withLock { $0 }
    }
}
