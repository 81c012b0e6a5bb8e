internal import PackageFiles
internal import Shards
internal import Tiles

/// A tile for a package, with its body.
struct MergeTile: Sendable {
    let zoom: Int
    let column: Int
    /// Counted from the south.
    let row: Int
    /// The identity of the body.
    let key: BodyKey
    /// Whether other tiles may have the same body; never false if they have.
    let occursAgain: Bool
    /// Its number in the package.
    let number: UInt32
    /// Whether this is the body's first tile.
    let isNew: Bool
    /// The buffer that contains the body; shared, not copied.
    let content: [UInt8]
    let range: Range<Int>
}

/// Reads and checks the tiles of a package on another thread, while the caller uses earlier tiles.
enum MergeStream {
    /// Counts of the tiles that were read.
    struct Counts: Sendable {
        var empty: UInt64 = 0
        var distinct: UInt64 = 0
    }

    /// Some tiles of a pass.
    private struct Chunk: Sendable {
        let pass: Int
        let tiles: [MergeTile]
    }

    /// Tiles per chunk, bytes of bodies after which a chunk ends, and how many chunks may wait in the queue: some megabytes.
    ///
    /// Small bodies go in larger numbers: waking the other thread takes as long as some of them.
    private static let chunk = (tiles: 128, bytes: 128 << 10)
    private static let waiting = 3

    /// Gives all tiles to `each`, some at a time, on the caller's thread: once in each order of the survey.
    ///
    /// - Parameter each: Gets the number of the pass, from 0, and tiles.
    /// - Returns: What one pass has read.
    /// - Throws: What reading throws, and what `each` throws; the other thread has ended then.
    static func run(
        _ spec: PackageSpec, inputs: [MergeInput], survey: TileSurvey, stripTiles: Int,
        each: (_ pass: Int, [MergeTile]) throws -> Void
    ) throws -> Counts {
        let queue = BoundedQueue<Chunk>(limit: waiting)
        let reading = BackgroundTask("merge.read") {
            defer { queue.close() }
            // One reader for all passes: a small package is decompressed once.
            let reader = StripReader(spec, inputs, survey: survey)
            var counts = Counts()
            for pass in survey.runs.indices {
                let read = try read(spec, reader, pass: pass, of: survey, stripTiles: stripTiles, into: queue)
                // The caller has stopped reading.
                guard let read else { break }
                counts = read
            }
            return counts
        }
        do {
            while let chunk = queue.next() { try each(chunk.pass, chunk.tiles) }
        } catch {
            queue.close()
            // Only waits for the end of the thread; the first error is reported.
            _ = try? reading.wait()
            throw error
        }
        return try reading.wait()
    }

    /// One pass; `nil` when the queue was closed.
    private static func read(
        _ spec: PackageSpec, _ reader: StripReader, pass: Int, of survey: TileSurvey, stripTiles: Int,
        into queue: BoundedQueue<Chunk>
    ) throws -> Counts? {
        var numbers = BodyNumbers(survey.repeats)
        var common = CommonBodies()
        var counts = Counts()
        var (tiles, bytes): ([MergeTile], Int) = ([], 0)
        let runs = survey.runs[pass]
        for zoom in spec.zooms {
            for strip in runs.strips(zoom: zoom, limit: stripTiles) {
                for tile in try reader.tiles(zoom: zoom, runs, strip) {
                    guard let body = reader.body(of: tile) else {
                        counts.empty += 1
                        continue
                    }
                    let key = BodyKey(body.digest)
                    let (number, isNew, occursAgain) = try numbers.number(of: key)
                    let (content, range) =
                        try (occursAgain ? common[number] : nil).map { ($0, $0.indices) }
                        ?? reader.place(of: body, shard: tile.shard, occursAgain: occursAgain)
                    reader.release(body, shard: tile.shard)
                    // Most bodies that may occur again do not, so the first time is not enough.
                    if occursAgain, !isNew { common.insert(content[range], number) }
                    tiles.append(
                        MergeTile(
                            zoom: zoom, column: tile.tile.x, row: tile.tile.tmsY, key: key, occursAgain: occursAgain,
                            number: number, isNew: isNew, content: content, range: range))
                    bytes += range.count
                    if tiles.count == chunk.tiles || bytes >= chunk.bytes {
                        guard queue.put(Chunk(pass: pass, tiles: tiles)) else { return nil }
                        (tiles, bytes) = ([], 0)
                    }
                }
            }
        }
        if !tiles.isEmpty { _ = queue.put(Chunk(pass: pass, tiles: tiles)) }
        counts.distinct = UInt64(numbers.count)
        return counts
    }
}

/// Computes something from all tiles of a package on another thread, while the caller writes them.
final class ParallelTileConsumer<Outcome: Sendable>: Sendable {
    private let queue = BoundedQueue<[MergeTile]>(limit: 3)
    private let aside: BackgroundTask<Outcome>

    /// Starts it.
    ///
    /// - Parameter work: Takes tiles in the package's order up to the end. What it throws, ``finish()`` throws.
    init(_ name: String, _ work: @escaping @Sendable (BoundedQueue<[MergeTile]>) throws -> Outcome) {
        aside = BackgroundTask("merge.\(name)") { [queue] in
            // After a failure, producers must not wait for this thread.
            defer { queue.close() }
            return try work(queue)
        }
    }

    deinit { queue.close() }

    /// Adds tiles that follow all previous ones; waits while the queue is full.
    func add(_ tiles: [MergeTile]) { _ = queue.put(tiles) }

    /// Returns the result for all added tiles.
    func finish() throws -> Outcome {
        queue.close()
        return try aside.wait()
    }
}

extension ParallelTileConsumer<String> {
    /// `agg_tiles_hash`: MD5 is the slowest step per body.
    static func tilesHash() -> ParallelTileConsumer<String> {
        ParallelTileConsumer("hash") { queue in
            var hash = TilesHash()
            while let tiles = queue.next() { hash.add(tiles) }
            return hash.finish()
        }
    }
}

/// `agg_tiles_hash` while tiles pass: on another thread, or on the calling one.
enum MergeHash {
    case aside(ParallelTileConsumer<String>)
    case here(TilesHash)

    /// Adds tiles that follow all previous ones.
    mutating func add(_ tiles: [MergeTile]) {
        switch self {
        case .aside(let consumer): consumer.add(tiles)
        case .here(var hash):
            hash.add(tiles)
            self = .here(hash)
        }
    }

    /// The hash of all that was added.
    func finish() throws -> String {
        switch self {
        case .aside(let consumer): try consumer.finish()
        case .here(let hash): hash.finish()
        }
    }
}

extension TilesHash {
    fileprivate mutating func add(_ tiles: [MergeTile]) {
        for tile in tiles {
            tile.content.withUnsafeBytes { content in
                add(
                    zoom: tile.zoom, column: tile.column, row: tile.row,
                    body: UnsafeRawBufferPointer(rebasing: content[tile.range]))
            }
        }
    }
}
