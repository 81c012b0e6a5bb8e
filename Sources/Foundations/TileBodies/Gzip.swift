internal import CDeflate
public import Errors

/// Whole-buffer gzip, the same bytes for the same input on every machine.
///
/// Level 6 of libdeflate, no file name, modification time 0, operating system 255. The level and the library are part
/// of a package's format version: libdeflate promises that what it packs can be unpacked, not that two of its releases
/// choose the same packing (measured with 1.14; Debian 12).
public enum Gzip {
    /// The libdeflate level, 1...12.
    public static let level: Int32 = 6

    /// The most a body may unpack to unless the caller says otherwise.
    ///
    /// Unit: bytes. 64 MiB, sixty times the largest tile that a renderer accepts.
    public static let defaultLimit = 64 << 20

    /// Packs `bytes`; the result depends only on their value.
    ///
    /// Sets up 0.3 MB of working memory per call: use ``GzipPacker`` for many.
    public static func compress(_ bytes: [UInt8]) -> [UInt8] { GzipPacker().compress(bytes) }

    /// Unpacks one or more gzip members that fill `bytes` exactly.
    ///
    /// - Throws: ``TileBodiesError`` `.badCoding` or `.tooLarge` (more than `limit` bytes).
    public static func decompress(_ bytes: [UInt8], limit: Int = defaultLimit) throws(TileBodiesError) -> [UInt8] {
        let inflater = Inflater(limit: limit)
        var result: [UInt8] = []
        try bytes.borrow { (input) throws(TileBodiesError) in
            _ = try inflater.gunzip(input)
            result = [UInt8](inflater.output)
        }
        return result
    }

    /// Whether `bytes` begin as a gzip member with deflate does.
    @inlinable public static func isGzip(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count >= 3 && bytes[0] == 0x1f && bytes[1] == 0x8b && bytes[2] == 0x08
    }

    /// Whether `bytes` begin as a gzip member with deflate does.
    @inlinable public static func isGzip(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { isGzip($0) } }
}

/// Packs many buffers with one set of working memory.
///
/// Not Sendable: one thread at a time.
public final class GzipPacker {
    private let compressor: OpaquePointer

    /// Allocates the working memory (0.3 MB).
    public init() {
        guard let compressor = libdeflate_alloc_compressor(Gzip.level) else {
            preconditionFailure("libdeflate could not allocate a compressor of level \(Gzip.level): out of memory.")
        }
        self.compressor = compressor
    }

    deinit { libdeflate_free_compressor(compressor) }

    /// Packs `bytes` as ``Gzip/compress(_:)`` does.
    public func compress(_ bytes: [UInt8]) -> [UInt8] {
        bytes.withUnsafeBytes { compress($0) }
    }

    func compress(_ input: UnsafeRawBufferPointer) -> [UInt8] {
        let bound = libdeflate_gzip_compress_bound(compressor, input.count)
        return [UInt8](unsafeUninitializedCapacity: bound) { output, count in
            count = libdeflate_gzip_compress(compressor, input.baseAddress, input.count, output.baseAddress, bound)
            precondition(count > 0, "libdeflate needed more bytes than its own bound: a bug in libdeflate.")
        }
    }
}

extension [UInt8] {
    /// `withUnsafeBytes` that keeps the type of the error.
    func borrow<Result>(
        _ body: (UnsafeRawBufferPointer) throws(TileBodiesError) -> Result
    ) throws(TileBodiesError) -> Result {
        try withUnsafeBufferPointer { (buffer) throws(TileBodiesError) in
            try body(UnsafeRawBufferPointer(buffer))
        }
    }
}
