/// Reads little-endian numbers in order; every read returns `nil` at the end instead of trapping.
struct ByteReader {
    private let bytes: ArraySlice<UInt8>
    private(set) var position: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    var remaining: Int { bytes.endIndex - position }

    mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= remaining else { return nil }
        defer { position += count }
        return bytes[position..<position + count]
    }

    mutating func uint8() -> UInt8? { integer() }
    mutating func uint16() -> UInt16? { integer() }
    mutating func uint32() -> UInt32? { integer() }
    mutating func uint64() -> UInt64? { integer() }

    /// A column of numbers; `nil` (and nothing allocated) when fewer bytes are left than it needs.
    mutating func column<Number: FixedWidthInteger>(_ count: Int, of type: Number.Type) -> [Number]? {
        let width = Number.bitWidth / 8
        let (length, overflow) = count.multipliedReportingOverflow(by: width)
        guard !overflow, let slice = bytes(length) else { return nil }
        return slice.withUnsafeBytes { raw in
            (0..<count).map { Number(littleEndian: raw.loadUnaligned(fromByteOffset: $0 * width, as: Number.self)) }
        }
    }

    private mutating func integer<Number: FixedWidthInteger>() -> Number? {
        guard let slice = bytes(Number.bitWidth / 8) else { return nil }
        return slice.reversed().reduce(Number(0)) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }
}

extension [UInt8] {
    /// Appends a number, little-endian.
    mutating func append(little number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
