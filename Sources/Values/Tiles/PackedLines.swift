/// Lines in whole units of ``MercatorPoint``, in about four bytes a position of a recorded track.
///
/// Each position is the difference to the one before it, as two numbers of seven bits a byte. The bytes are in blocks, so that growing
/// never copies what is there.
package struct PackedLines: Sendable {
    /// The longest line that is kept as one: ``append(_:)`` cuts longer ones, and the parts share a position.
    package static let longest = 2_048
    private static let blockBytes = 1 << 18

    private var blocks: [[UInt8]] = []
    private var last = MercatorPoint(x: 0, y: 0)
    /// How many lines there are, cut ones counted by their parts.
    package private(set) var count = 0
    /// How many positions there are.
    package private(set) var positions = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    /// Adds a line; an empty one adds nothing.
    package mutating func append(_ line: [MercatorPoint]) {
        var start = 0
        while start < line.count {
            let end = min(line.count, start + Self.longest)
            add(line[start..<end])
            // A part of one position would add nothing to the part before it.
            start = end == line.count ? end : end - 1
        }
    }

    private mutating func add(_ line: ArraySlice<MercatorPoint>) {
        // A line needs at most 20 bytes a position, so a block may grow beyond its size by one line.
        if blocks.last.map({ $0.count >= Self.blockBytes }) ?? true {
            blocks.append([])
            blocks[blocks.count - 1].reserveCapacity(Self.blockBytes + 20 * Self.longest)
        }
        let block = blocks.count - 1
        Self.write(UInt64(line.count), to: &blocks[block])
        for point in line {
            Self.write(Self.zigzag(point.x &- last.x), to: &blocks[block])
            Self.write(Self.zigzag(point.y &- last.y), to: &blocks[block])
            last = point
        }
        count += 1
        positions += line.count
    }

    /// Calls a function with groups of lines, each of at least so many positions or the last one.
    package func forEachGroup(of size: Int, _ body: ([[MercatorPoint]]) -> Void) {
        var group: [[MercatorPoint]] = []
        var held = 0
        var last = MercatorPoint(x: 0, y: 0)
        for block in blocks {
            var position = 0
            while position < block.count {
                let length = Int(Self.read(block, &position))
                var line: [MercatorPoint] = []
                line.reserveCapacity(length)
                for _ in 0..<length {
                    last.x &+= Self.unzigzag(Self.read(block, &position))
                    last.y &+= Self.unzigzag(Self.read(block, &position))
                    line.append(last)
                }
                held += length
                group.append(line)
                if held >= size {
                    body(group)
                    group.removeAll(keepingCapacity: true)
                    held = 0
                }
            }
        }
        if !group.isEmpty { body(group) }
    }

    private static func zigzag(_ value: Int64) -> UInt64 { UInt64(bitPattern: value << 1 ^ value >> 63) }

    private static func unzigzag(_ value: UInt64) -> Int64 { Int64(bitPattern: value >> 1) ^ -Int64(value & 1) }

    private static func write(_ value: UInt64, to bytes: inout [UInt8]) {
        var value = value
        while value >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: value))
    }

    /// The bytes are always those of ``write(_:to:)``.
    private static func read(_ bytes: [UInt8], _ position: inout Int) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { break }
            shift += 7
        }
        return value
    }
}
