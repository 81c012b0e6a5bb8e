/// A row in the form it has inside a SQLite file.
///
/// Source: sqlite.org/fileformat2.html, sections 1.6 (varint) and 2.1 (record format).
enum SQLiteRecord {
    enum Value {
        case integer(Int64)
        case text(String)
        /// A column that is the row's own number.
        case rowNumber
    }

    /// The bytes of a row of small values.
    static func encode(_ values: [Value]) -> [UInt8] {
        var types: [UInt8] = []
        var content: [UInt8] = []
        for value in values {
            switch value {
            case .rowNumber: types.append(0)
            case .text(let text):
                append(UInt64(13 + 2 * text.utf8.count), to: &types)
                content += text.utf8
            case .integer(let number): types.append(append(number, to: &content))
            }
        }
        return header(types) + content
    }

    /// What comes before a BLOB in a row of its number and the BLOB.
    static func headerOfBlob(_ count: Int) -> [UInt8] {
        var types: [UInt8] = [0]
        append(UInt64(12 + 2 * count), to: &types)
        return header(types)
    }

    private static func header(_ types: [UInt8]) -> [UInt8] {
        // The length counts itself; one byte does up to 127.
        var length: [UInt8] = []
        append(UInt64(types.count + 1), to: &length)
        if length.count > 1 {
            length = []
            append(UInt64(types.count + 2), to: &length)
        }
        return length + types
    }

    /// Appends a number in as few bytes as it needs, and returns its type.
    private static func append(_ number: Int64, to bytes: inout [UInt8]) -> UInt8 {
        if number == 0 || number == 1 { return number == 0 ? 8 : 9 }
        let sizes: [(type: UInt8, bytes: Int)] = [(1, 1), (2, 2), (3, 3), (4, 4), (5, 6), (6, 8)]
        for size in sizes {
            let spare = 64 - 8 * size.bytes
            guard (number << spare) >> spare == number else { continue }
            for byte in (0..<size.bytes).reversed() { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * byte))) }
            return size.type
        }
        return 6
    }

    /// Appends a number as a varint: seven bits a byte, the highest first; below 2^56, as all numbers here are.
    static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        var shift = 49
        while shift > 0, number >> UInt64(shift) == 0 { shift -= 7 }
        while shift > 0 {
            bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)) | 0x80)
            shift -= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: number) & 0x7f)
    }
}
