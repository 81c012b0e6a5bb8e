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
        // Its own length, the number, and the BLOB: less than 128 bytes.
        var header: [UInt8] = [0, 0]
        header.reserveCapacity(12)
        append(UInt64(12 + 2 * count), to: &header)
        header[0] = UInt8(header.count)
        return header
    }

    /// The bytes of a row of four integers: the same as those of ``encode(_:)``, without its intermediate arrays.
    static func encode(_ values: (Int64, Int64, Int64, Int64)) -> [UInt8] {
        var row: [UInt8] = [5, 0, 0, 0, 0]
        row.reserveCapacity(5 + 4 * 8)
        row[1] = append(values.0, to: &row)
        row[2] = append(values.1, to: &row)
        row[3] = append(values.2, to: &row)
        row[4] = append(values.3, to: &row)
        return row
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
        let (type, size): (UInt8, Int) =
            switch number {
            case -0x80..<0x80: (1, 1)
            case -0x8000..<0x8000: (2, 2)
            case -0x80_0000..<0x80_0000: (3, 3)
            case -0x8000_0000..<0x8000_0000: (4, 4)
            case -0x8000_0000_0000..<0x8000_0000_0000: (5, 6)
            default: (6, 8)
            }
        for byte in (0..<size).reversed() { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * byte))) }
        return type
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
