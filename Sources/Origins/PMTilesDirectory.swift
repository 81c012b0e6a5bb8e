/// A decoded directory of a PMTiles file: entries that ascend by tile.
struct PMTilesDirectory: Sendable {
    /// A run of tiles with one body, or (run 0) a pointer to a leaf directory.
    struct Entry: Sendable {
        let tile: UInt64
        let run: UInt64
        let length: UInt64
        let offset: UInt64
    }

    let entries: [Entry]

    /// Decodes the unpacked bytes; `nil` when they break any rule.
    ///
    /// Total, and bounded by the number of bytes.
    init?(_ bytes: [UInt8]) {
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

    /// The entry that covers or points towards a tile.
    func entry(for tile: UInt64) -> Entry? {
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
