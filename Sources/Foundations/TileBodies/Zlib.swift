internal import CDeflate
public import Errors

/// Whole-buffer zlib (RFC 1950), the same bytes for the same input on every machine; see ``Gzip`` for the reason.
///
/// Level 6 of libdeflate. MapLibre's offline databases and PNG images hold such streams.
public enum Zlib {
    /// Packs `bytes`; for many, use ``ZlibPacker``.
    public static func compress(_ bytes: [UInt8]) -> [UInt8] { ZlibPacker().compress(bytes) }

    /// Unpacks one zlib stream that fills `bytes` exactly; bare deflate and gzip are refused.
    ///
    /// - Throws: ``TileBodiesError`` `.badCoding` or `.tooLarge` (more than `limit` bytes).
    public static func decompress(
        _ bytes: [UInt8], limit: Int = Gzip.defaultLimit
    ) throws(TileBodiesError) -> [UInt8] {
        let inflater = Inflater(limit: limit)
        var result: [UInt8] = []
        try bytes.borrow { (input) throws(TileBodiesError) in
            try inflater.unzlib(input)
            result = [UInt8](inflater.output)
        }
        return result
    }

    /// Whether `bytes` begin as a zlib stream without a preset dictionary does; other bytes can do so by chance.
    ///
    /// Source: RFC 1950, section 2.2: method 8, a window of at most 32 KiB, and a check that makes the two bytes a multiple of 31.
    package static func begins(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count >= 6 && bytes[0] & 0x0F == 8 && bytes[0] >> 4 <= 7 && bytes[1] & 0x20 == 0
            && (Int(bytes[0]) << 8 | Int(bytes[1])).isMultiple(of: 31)
    }

    /// The checksum of PNG, gzip and ZIP: CRC-32 with the polynomial of IEEE 802.3.
    public static func crc32(_ bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBytes { crc32($0) }
    }

    /// The same of borrowed bytes.
    public static func crc32(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        libdeflate_crc32(0, bytes.baseAddress, bytes.count)
    }
}

/// Whole-buffer bare deflate (RFC 1951), as ZIP archives store it.
package enum Deflate {
    /// Unpacks one stream that fills `bytes` exactly.
    ///
    /// - Throws: ``TileBodiesError`` `.badCoding` or `.tooLarge` (more than `limit` bytes).
    package static func decompress(_ bytes: [UInt8], limit: Int) throws(TileBodiesError) -> [UInt8] {
        let inflater = Inflater(limit: limit)
        var result: [UInt8] = []
        try bytes.borrow { (input) throws(TileBodiesError) in
            try inflater.undeflate(input)
            result = [UInt8](inflater.output)
        }
        return result
    }
}

/// Packs many buffers with one set of working memory.
///
/// Not Sendable: one thread at a time.
public final class ZlibPacker {
    private let compressor: OpaquePointer

    /// Allocates the working memory (0.3 MB).
    public init() {
        guard let compressor = libdeflate_alloc_compressor(Gzip.level) else {
            preconditionFailure("libdeflate could not allocate a compressor of level \(Gzip.level): out of memory.")
        }
        self.compressor = compressor
    }

    deinit { libdeflate_free_compressor(compressor) }

    /// Packs `bytes` as ``Zlib/compress(_:)`` does.
    public func compress(_ bytes: [UInt8]) -> [UInt8] {
        bytes.withUnsafeBytes { input in
            let bound = libdeflate_zlib_compress_bound(compressor, input.count)
            return [UInt8](unsafeUninitializedCapacity: bound) { output, count in
                count = libdeflate_zlib_compress(compressor, input.baseAddress, input.count, output.baseAddress, bound)
                precondition(count > 0, "libdeflate needed more bytes than its own bound: a bug in libdeflate.")
            }
        }
    }
}
