/// CRC-32C (Castagnoli, as in iSCSI, RFC 3720).
///
/// It detects bugs and truncation; CURVE protects against manipulation.
///
/// Slicing-by-8 with tables that are computed once from the reversed polynomial 0x82F63B78.
public struct CRC32C: Sendable {
    private var state: UInt32 = 0xFFFF_FFFF

    /// The checksum of no bytes.
    public init() {}

    /// The checksum of all bytes so far.
    public var value: UInt32 { ~state }

    /// The checksum of `bytes` alone.
    public static func of(_ bytes: [UInt8]) -> UInt32 {
        var sum = CRC32C()
        sum.update(bytes[...])
        return sum.value
    }

    /// Adds `bytes` to the checksum.
    ///
    /// Cost: one pass, no allocation.
    public mutating func update(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { raw in
            Self.tables.withUnsafeBufferPointer { table in
                var crc = state
                var at = 0
                while raw.count - at >= 8 {
                    let low = raw.loadUnaligned(fromByteOffset: at, as: UInt32.self).littleEndian ^ crc
                    let high = raw.loadUnaligned(fromByteOffset: at + 4, as: UInt32.self).littleEndian
                    crc =
                        table[7 * 256 + Int(low & 0xFF)] ^ table[6 * 256 + Int(low >> 8 & 0xFF)]
                        ^ table[5 * 256 + Int(low >> 16 & 0xFF)] ^ table[4 * 256 + Int(low >> 24)]
                    crc ^=
                        table[3 * 256 + Int(high & 0xFF)] ^ table[2 * 256 + Int(high >> 8 & 0xFF)]
                        ^ table[1 * 256 + Int(high >> 16 & 0xFF)] ^ table[Int(high >> 24)]
                    at += 8
                }
                while at < raw.count {
                    crc = crc >> 8 ^ table[Int((crc ^ UInt32(raw[at])) & 0xFF)]
                    at += 1
                }
                state = crc
            }
        }
    }

    /// Entry `k * 256 + b` is the checksum of byte `b` followed by `k` zero bytes.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            var crc = UInt32(byte)
            for _ in 0..<8 { crc = crc >> 1 ^ (crc & 1 == 1 ? 0x82F6_3B78 : 0) }
            tables[byte] = crc
        }
        for slot in 256..<(8 * 256) {
            let previous = tables[slot - 256]
            tables[slot] = previous >> 8 ^ tables[Int(previous & 0xFF)]
        }
        return tables
    }()
}
