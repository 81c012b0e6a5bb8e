/// A plan as bytes: columns of varints, as in a directory.
extension RangePlan {
    /// The most bytes of a plan: three times those of the largest one that is made.
    public static let largest = 64 << 20
    /// The most tiles of a plan.
    public static let mostTiles = UInt64(UInt32.max)
    private static let signature = Array("PKHRANGE".utf8)
    /// The byte behind the signature of a plan without blocks, and of one with blocks.
    private static let (plain, withBlocks): (UInt8, UInt8) = (1, 2)
    private static let longestText = 400
    /// One more than the largest id of a tile at zoom 22.
    private static let idEnd: UInt64 = ((1 << 46) - 1) / 3

    /// The bytes.
    public var encoded: [UInt8] {
        var bytes = Self.signature + [blocks.isEmpty ? Self.plain : Self.withBlocks]
        bytes.reserveCapacity(archive.head.count + (runs.count + requests.count) * 8 + blocks.count * 12 + 1_000)
        func add(_ value: UInt64) {
            var rest = value
            while rest >= 0x80 {
                bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            bytes.append(UInt8(rest))
        }
        func add(_ part: [UInt8]) {
            add(UInt64(part.count))
            bytes += part
        }
        add(archive.length)
        add(Array(archive.etag.utf8))
        add(Array(archive.lastModified.utf8))
        add(archive.head)
        add(UInt64(runs.count))
        var end: UInt64 = 0
        for run in runs {
            add(Self.folded(run.tile &- end))
            end = run.tile + UInt64(run.count)
        }
        for run in runs { add(UInt64(run.count)) }
        for run in runs { add(UInt64(run.length)) }
        var last = Run(tile: 0, count: 0, length: 0, offset: 0)
        for run in runs where run.length > 0 {
            let step = run.offset - last.offset
            add(step == 0 ? 0 : step == UInt64(last.length) ? 1 : step + 1)
            last = run
        }
        add(UInt64(requests.count))
        end = 0
        for request in requests {
            add(request.lowerBound - end)
            add(request.upperBound - request.lowerBound)
            end = request.upperBound
        }
        guard !blocks.isEmpty else { return bytes }
        add(UInt64(blocks.count))
        end = 0
        for block in blocks {
            add(block.offset - end)
            add(block.length)
            bytes += (0..<8).map { UInt8(truncatingIfNeeded: block.hash >> (8 * UInt64($0))) }
            end = block.place.upperBound
        }
        return bytes
    }

    /// Decodes bytes; `nil` when they break any rule.
    ///
    /// There is one form of each plan. Total, and bounded by the number of bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.largest, bytes.count > Self.signature.count, bytes.starts(with: Self.signature)
        else { return nil }
        let version = bytes[Self.signature.count]
        guard version == Self.plain || version == Self.withBlocks else { return nil }
        var reader = PlanReader(bytes: bytes, position: Self.signature.count + 1)
        guard let archive = Self.archive(&reader), let runs = Self.runs(&reader, in: archive),
            let requests = Self.requests(&reader, in: archive),
            let blocks = version == Self.plain ? [] : Self.blocks(&reader, in: archive), reader.isAtEnd
        else { return nil }
        self.init(archive: archive, runs: runs, requests: requests, blocks: blocks)
    }

    private static func archive(_ reader: inout PlanReader) -> Archive? {
        guard let length = reader.next(), let etag = reader.text(atMost: longestText),
            let lastModified = reader.text(atMost: longestText),
            let head = reader.part(atMost: Int(PMTilesHeader.rootEnd)), UInt64(head.count) <= length
        else { return nil }
        return Archive(length: length, etag: etag, lastModified: lastModified, head: head)
    }

    private static func runs(_ reader: inout PlanReader, in archive: Archive) -> [Run]? {
        // A run takes at least three bytes, which bounds the allocations.
        guard let count = reader.next(), count <= UInt64(reader.left / 3) else { return nil }
        var runs: [Run] = []
        runs.reserveCapacity(Int(count))
        for _ in 0..<count {
            guard let tile = reader.next() else { return nil }
            runs.append(Run(tile: tile, count: 0, length: 0, offset: 0))
        }
        var (end, tiles): (UInt64, UInt64) = (0, 0)
        for index in runs.indices {
            guard let number = reader.next().flatMap({ UInt32(exactly: $0) }), number > 0 else { return nil }
            let tile = end &+ unfolded(runs[index].tile)
            let (after, overflow) = tile.addingReportingOverflow(UInt64(number))
            guard !overflow, after <= idEnd else { return nil }
            (end, tiles) = (after, tiles + UInt64(number))
            guard tiles <= mostTiles else { return nil }
            (runs[index].tile, runs[index].count) = (tile, number)
        }
        for index in runs.indices {
            guard let length = reader.next().flatMap({ UInt32(exactly: $0) }) else { return nil }
            runs[index].length = length
        }
        // Those without a body are behind all others.
        let bodies = runs.firstIndex { $0.length == 0 } ?? runs.count
        guard runs[bodies...].allSatisfy({ $0.length == 0 }) else { return nil }
        var last = Run(tile: 0, count: 0, length: 0, offset: 0)
        for index in 0..<bodies {
            guard let code = reader.next() else { return nil }
            let step = code == 0 ? 0 : code == 1 ? UInt64(last.length) : code - 1
            // A step that has a shorter form.
            guard code == 0 || step > 0 && (code == 1 || step != UInt64(last.length)) else { return nil }
            let (offset, overflow) = last.offset.addingReportingOverflow(step)
            guard !overflow, offset <= archive.length, UInt64(runs[index].length) <= archive.length - offset else {
                return nil
            }
            runs[index].offset = offset
            last = runs[index]
        }
        return runs
    }

    private static func requests(_ reader: inout PlanReader, in archive: Archive) -> [Range<UInt64>]? {
        guard let count = reader.next(), count <= UInt64(reader.left / 2) else { return nil }
        var requests: [Range<UInt64>] = []
        requests.reserveCapacity(Int(count))
        var end: UInt64 = 0
        for _ in 0..<count {
            guard let gap = reader.next(), let length = reader.next(), length > 0 else { return nil }
            let (start, first) = end.addingReportingOverflow(gap)
            let (after, second) = start.addingReportingOverflow(length)
            guard !first, !second, after <= archive.length else { return nil }
            requests.append(start..<after)
            end = after
        }
        return requests
    }

    private static func blocks(_ reader: inout PlanReader, in archive: Archive) -> [Block]? {
        // A block takes at least ten bytes.
        guard let count = reader.next(), count > 0, count <= UInt64(reader.left / 10) else { return nil }
        var blocks: [Block] = []
        blocks.reserveCapacity(Int(count))
        var end: UInt64 = 0
        for _ in 0..<count {
            guard let gap = reader.next(), let length = reader.next(), length > 0, let hash = reader.word() else {
                return nil
            }
            let (start, first) = end.addingReportingOverflow(gap)
            let (after, second) = start.addingReportingOverflow(length)
            guard !first, !second, after <= archive.length else { return nil }
            blocks.append(Block(offset: start, length: length, hash: hash))
            end = after
        }
        return blocks
    }

    /// A signed step, as bits: small ones in both directions become small numbers.
    private static func folded(_ step: UInt64) -> UInt64 {
        step << 1 ^ UInt64(bitPattern: Int64(bitPattern: step) >> 63)
    }

    private static func unfolded(_ value: UInt64) -> UInt64 { value >> 1 ^ (0 &- (value & 1)) }
}

/// Reads numbers and texts; none of them has two forms.
private struct PlanReader {
    let bytes: [UInt8]
    var position: Int

    var left: Int { bytes.count - position }
    var isAtEnd: Bool { left == 0 }

    mutating func next() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            guard position < bytes.count else { return nil }
            let byte = bytes[position]
            position += 1
            if shift == 63, byte > 1 { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return byte == 0 && shift > 0 ? nil : value }
        }
        return nil
    }

    /// Eight bytes, the lowest first.
    mutating func word() -> UInt64? {
        guard left >= 8 else { return nil }
        defer { position += 8 }
        return (0..<8).reduce(0) { $0 | UInt64(bytes[position + $1]) << (8 * UInt64($1)) }
    }

    mutating func part(atMost most: Int) -> [UInt8]? {
        guard let count = next(), count <= UInt64(most), count <= UInt64(left) else { return nil }
        defer { position += Int(count) }
        return Array(bytes[position..<position + Int(count)])
    }

    mutating func text(atMost most: Int) -> String? {
        part(atMost: most).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
