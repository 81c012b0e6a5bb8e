/// Streams of brotli and zstd with uncompressed bytes, so that tests need no compressor of these formats.
public enum StoredStreams {
    /// A brotli stream (RFC 7932) of one uncompressed block.
    ///
    /// - Parameter bytes: 1 to 65,536.
    public static func brotli(_ bytes: [UInt8]) -> [UInt8] {
        // One bit: a window of 16 bits. One: not the last block. Two: four digits. Sixteen: the length less one. One: uncompressed.
        let head = (bytes.count - 1) << 4 | 1 << 20
        // The last block is empty.
        return (0..<3).map { UInt8(truncatingIfNeeded: head >> (8 * $0)) } + bytes + [0x03]
    }

    /// A zstd frame (RFC 8878) of one raw block.
    ///
    /// - Parameter bytes: At most 131,072.
    public static func zstd(_ bytes: [UInt8]) -> [UInt8] {
        let block = bytes.count << 3 | 1
        return [0x28, 0xB5, 0x2F, 0xFD, 0xA0]
            + (0..<4).map { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) }
            + (0..<3).map { UInt8(truncatingIfNeeded: block >> (8 * $0)) } + bytes
    }
}
