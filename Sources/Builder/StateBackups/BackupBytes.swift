/// Reads numbers and bytes of a format in order; every read beyond the end gives `nil`.
struct BackupBytes {
    private let bytes: ArraySlice<UInt8>
    private var next: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        next = bytes.startIndex
    }

    /// How many bytes were not read yet.
    var left: Int { bytes.endIndex - next }

    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= left else { return nil }
        defer { next += count }
        return bytes[next..<next + count]
    }

    /// A big-endian number.
    mutating func number<Value: FixedWidthInteger & UnsignedInteger>(_ type: Value.Type) -> Value? {
        take(Value.bitWidth / 8)?.reduce(0) { $0 << 8 | Value($1) }
    }
}

extension [UInt8] {
    /// Adds a big-endian number.
    mutating func append<Value: FixedWidthInteger & UnsignedInteger>(number: Value) {
        for shift in stride(from: Value.bitWidth - 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: number >> Value(shift)))
        }
    }
}
