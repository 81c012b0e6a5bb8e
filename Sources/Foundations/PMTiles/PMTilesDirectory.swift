/// A directory of a PMTiles file: entries that ascend by tile.
public struct PMTilesDirectory: Sendable, Hashable {
    /// A run of tiles with one body, or (run 0) a pointer to a leaf directory.
    public struct Entry: Sendable, Hashable, BitwiseCopyable {
        /// The id of the first tile.
        public let tile: UInt64
        /// How many tiles in a row share the body; 0 for a pointer.
        public var run: UInt64
        /// Bytes of the body or leaf, above 0.
        public let length: UInt64
        /// Its first byte, counted from the section's.
        public let offset: UInt64
        /// Makes an entry from its parts.
        public init(tile: UInt64, run: UInt64, length: UInt64, offset: UInt64) {
            self.tile = tile
            self.run = run
            self.length = length
            self.offset = offset
        }
    }

    /// The entries, ascending by tile.
    public let entries: [Entry]

    /// Makes a directory of entries that ascend by tile, with lengths above 0.
    public init(entries: [Entry]) { self.entries = entries }

    /// Decodes the unpacked bytes; `nil` when they break any rule.
    ///
    /// Total, and bounded by the number of bytes.
    public init?(_ bytes: [UInt8]) {
        var reader = Varints(bytes: bytes)
        // An entry takes at least four bytes, which bounds the allocation.
        guard let count = reader.next(), count <= UInt64(bytes.count / 4) else { return nil }
        var columns: [[UInt64]] = []
        for _ in 0..<4 {
            var column: [UInt64] = []
            column.reserveCapacity(Int(count))
            for _ in 0..<count {
                guard let value = reader.next() else { return nil }
                column.append(value)
            }
            columns.append(column)
        }
        var entries: [Entry] = []
        entries.reserveCapacity(Int(count))
        var tile: UInt64 = 0
        var end: UInt64 = 0
        for index in 0..<Int(count) {
            let (next, overflow) = tile.addingReportingOverflow(columns[0][index])
            guard !overflow, index == 0 || next > tile, columns[2][index] > 0 else { return nil }
            tile = next
            var offset = columns[3][index]
            if offset > 0 { offset -= 1 } else if index > 0 { offset = end } else { return nil }
            let (after, isTooFar) = offset.addingReportingOverflow(columns[2][index])
            guard !isTooFar, !tile.addingReportingOverflow(columns[1][index]).overflow else { return nil }
            end = after
            entries.append(Entry(tile: tile, run: columns[1][index], length: columns[2][index], offset: offset))
        }
        self.entries = entries
    }

    /// The bytes, not packed: four columns of varints.
    public var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(8 + entries.count * 8)
        func add(_ value: UInt64) {
            var rest = value
            while rest >= 0x80 {
                bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            bytes.append(UInt8(rest))
        }
        add(UInt64(entries.count))
        var last: UInt64 = 0
        for entry in entries {
            add(entry.tile - last)
            last = entry.tile
        }
        for entry in entries { add(entry.run) }
        for entry in entries { add(entry.length) }
        var end: UInt64?
        for entry in entries {
            add(entry.offset == end ? 0 : entry.offset + 1)
            end = entry.offset + entry.length
        }
        return bytes
    }

    /// The entry that covers or points towards a tile.
    public func entry(for tile: UInt64) -> Entry? {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].tile <= tile { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return nil }
        let entry = entries[low - 1]
        return entry.run == 0 || tile - entry.tile < entry.run ? entry : nil
    }

    private struct Varints {
        let bytes: [UInt8]
        var position = 0

        mutating func next() -> UInt64? {
            var value: UInt64 = 0
            for shift in stride(from: UInt64(0), through: 63, by: 7) {
                guard position < bytes.count else { return nil }
                let byte = bytes[position]
                position += 1
                if shift == 63, byte > 1 { return nil }
                value |= UInt64(byte & 0x7F) << shift
                if byte < 0x80 { return value }
            }
            return nil
        }
    }
}
