/// The ranges of an archive on a web server that together have the bodies of some tiles: planned once, read by many workers.
///
/// Tiles have positions: by the place of their bodies, so that tiles that share a body follow one another, and behind
/// them those without a body. A batch is a part of these positions. The bytes are a function of the archive and the tiles;
/// docs/formats/range-plan.md describes them.
public struct RangePlan: Sendable, Hashable {
    /// The archive as the planner saw it, so that no worker has to ask for its beginning again.
    public struct Archive: Sendable, Hashable {
        /// Bytes of the file.
        public var length: UInt64
        /// As the server sent it; empty = none.
        public var etag: String
        /// As the server sent it; empty = none.
        public var lastModified: String
        /// The first bytes of the file, at most ``PMTilesHeader/rootEnd``.
        public var head: [UInt8]

        /// An archive.
        public init(length: UInt64, etag: String, lastModified: String, head: [UInt8]) {
            (self.length, self.etag, self.lastModified, self.head) = (length, etag, lastModified, head)
        }
    }

    /// Tiles that follow one another along the Hilbert curve and share a body.
    public struct Run: Sendable, Hashable, BitwiseCopyable {
        /// The id of the first tile.
        public var tile: UInt64
        /// Their number, at least 1.
        public var count: UInt32
        /// Bytes of the body; 0 = the archive has none of these tiles.
        public var length: UInt32
        /// The first byte of the body in the file.
        public var offset: UInt64

        /// Some tiles.
        public init(tile: UInt64, count: UInt32, length: UInt32, offset: UInt64) {
            (self.tile, self.count, self.length, self.offset) = (tile, count, length, offset)
        }

        /// The place of the body; `nil` without one.
        public var place: Range<UInt64>? { length == 0 ? nil : offset..<offset + UInt64(length) }
    }

    /// A stretch of bodies with the hash that a list of blocks says of it.
    public struct Block: Sendable, Hashable, BitwiseCopyable {
        /// The first byte in the file.
        public var offset: UInt64
        /// Its bytes, at least 1.
        public var length: UInt64
        /// XXH64 of its bytes.
        public var hash: UInt64

        /// A stretch of a file.
        public init(offset: UInt64, length: UInt64, hash: UInt64) {
            (self.offset, self.length, self.hash) = (offset, length, hash)
        }

        /// Its place in the file.
        public var place: Range<UInt64> { offset..<offset + length }
    }

    /// The archive.
    public let archive: Archive
    /// All tiles, in the order of their positions.
    public let runs: [Run]
    /// What is requested, ascending, without overlap; empty when bodies overlap, and each is requested by itself.
    public let requests: [Range<UInt64>]
    /// The blocks that have the bodies, ascending, without overlap; empty without a list of blocks.
    public let blocks: [Block]

    /// A plan of runs by ascending place, those without a body last.
    public init(archive: Archive, runs: [Run], requests: [Range<UInt64>], blocks: [Block] = []) {
        (self.archive, self.runs, self.requests, self.blocks) = (archive, runs, requests, blocks)
    }

    /// The block that has the whole of a body; `nil` for a body that lies in no block, or in two.
    public func block(with place: Range<UInt64>) -> Block? {
        let next = firstBlock(from: place.lowerBound + 1)
        guard next > 0, blocks[next - 1].place.upperBound >= place.upperBound else { return nil }
        return blocks[next - 1]
    }

    /// The index of the first block that begins at a byte or after it; the number of blocks when no block does.
    public func firstBlock(from byte: UInt64) -> Int {
        var (low, high) = (0, blocks.count)
        while low < high {
            let middle = (low + high) / 2
            if blocks[middle].offset < byte { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The number of tiles.
    public var tiles: UInt64 { runs.reduce(0) { $0 + UInt64($1.count) } }

    /// The tiles at some positions; `nil` when the plan does not have that many.
    public func runs(at positions: Range<UInt64>) -> [Run]? {
        var (found, begin): ([Run], UInt64) = ([], 0)
        for run in runs {
            let own = (begin..<begin + UInt64(run.count)).clamped(to: positions)
            if !own.isEmpty {
                var part = run
                part.tile += own.lowerBound - begin
                part.count = UInt32(own.count)
                found.append(part)
            }
            begin += UInt64(run.count)
            if begin >= positions.upperBound { break }
        }
        return begin >= positions.upperBound ? found : nil
    }
}
