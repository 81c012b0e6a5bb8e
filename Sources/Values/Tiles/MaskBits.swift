/// Writes bits, the most significant first.
struct MaskBitWriter {
    private(set) var bytes: [UInt8] = []
    private var pending: UInt64 = 0
    private var count: UInt64 = 0

    init(_ bytes: [UInt8] = []) {
        self.bytes = bytes
    }

    @inline(__always)
    mutating func write(_ value: UInt64, bits: UInt64) {
        pending = pending << bits | value
        count += bits
        while count >= 8 {
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: pending >> count))
        }
    }

    /// The bytes so far, the last filled up with zero bits.
    var padded: [UInt8] { count == 0 ? bytes : bytes + [UInt8(truncatingIfNeeded: pending << (8 - count))] }
}

/// Reads bits, the most significant first; `nil` past the end.
struct MaskBitReader {
    let bytes: ArraySlice<UInt8>
    /// Bits read so far.
    private(set) var position = 0

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    var remaining: Int { bytes.count * 8 - position }

    @inline(__always)
    mutating func read(_ count: Int) -> UInt32? {
        guard count <= remaining else { return nil }
        var value: UInt32 = 0
        for _ in 0..<count {
            let byte = bytes[bytes.startIndex + position >> 3]
            value = value << 1 | UInt32(byte >> UInt8(7 - position & 7) & 1)
            position += 1
        }
        return value
    }
}
