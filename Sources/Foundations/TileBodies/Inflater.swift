internal import CDeflate
internal import Errors
internal import TextFormats

/// Unpacks gzip, zlib, bare deflate, brotli and zstd into an internal buffer that callers may read; never more than its
/// limit.
///
/// Not Sendable: one thread at a time. The buffer stays at the largest size used, up to ``keptCapacity``.
final class Inflater {
    /// A buffer larger than this is freed after use, so that one huge tile does not stay in memory.
    ///
    /// 4 MiB.
    static let keptCapacity = 4 << 20
    /// Deflate cannot compress better than 1032 to 1, so a trailer that claims more is ignored.
    private static let bestRatio = 1032

    private let decompressor: OpaquePointer
    private let limit: Int
    private var buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 0, alignment: 16)
    private var count = 0

    init(limit: Int) {
        guard let decompressor = libdeflate_alloc_decompressor() else {
            preconditionFailure("libdeflate could not allocate a decompressor: out of memory.")
        }
        self.decompressor = decompressor
        self.limit = limit
    }

    deinit {
        libdeflate_free_decompressor(decompressor)
        buffer.deallocate()
    }

    /// What the last call unpacked; valid until the next call.
    var output: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[0..<count]) }

    /// Clears the output, and its memory when that is large.
    func release() {
        count = 0
        if buffer.count > Self.keptCapacity {
            buffer.deallocate()
            buffer = .allocate(byteCount: 0, alignment: 16)
        }
    }

    /// Unpacks gzip members up to the end of `input`.
    ///
    /// Returns their number.
    ///
    /// - Throws: `.badCoding` when a member is damaged, truncated or followed by other bytes; `.tooLarge`.
    func gunzip(_ input: UnsafeRawBufferPointer) throws(TileBodiesError) -> Int {
        release()
        // 10 bytes of header, 2 of the shortest deflate stream, 8 of trailer.
        guard input.count >= 20 else {
            throw TileBodiesError(.badCoding, "a gzip stream of \(Units.count(input.count, of: "byte")) is truncated")
        }
        var position = 0
        var members = 0
        reserve(guess(for: input))
        while position < input.count {
            let rest = UnsafeRawBufferPointer(rebasing: input[position...])
            guard members == 0 || rest.starts(with: [0x1f, 0x8b]) else {
                throw TileBodiesError(.badCoding, "\(rest.count) extra bytes follow the gzip stream")
            }
            position += try member(rest, unpack: libdeflate_gzip_decompress_ex, called: "gzip")
            members += 1
        }
        return members
    }

    /// Clears the output, and reserves memory for the estimated unpacked size of `packed` bytes.
    func prepare(for packed: Int) {
        release()
        reserve(min(limit, max(4096, 4 * min(packed, limit))))
    }

    /// The free part of the buffer after the output.
    var spare: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(rebasing: buffer[count...]) }

    /// Adds `made` bytes of ``spare`` to the output.
    func advance(_ made: Int) { count += made }

    /// Doubles the buffer.
    ///
    /// - Throws: `.tooLarge` at the limit.
    func grow() throws(TileBodiesError) {
        guard buffer.count < limit else {
            throw TileBodiesError(.tooLarge, "the body unpacks to more than the limit of \(limit) bytes")
        }
        reserve(min(limit, max(4096, buffer.count * 2)))
    }

    /// Unpacks a zlib stream, or a bare deflate stream where it is not one, that fills `input` exactly.
    func inflate(_ input: UnsafeRawBufferPointer) throws(TileBodiesError) {
        prepare(for: input.count)
        var used: Int
        do {
            used = try member(input, unpack: libdeflate_zlib_decompress_ex, called: "zlib")
        } catch  where error.code == .badCoding {
            count = 0
            used = try member(input, unpack: libdeflate_deflate_decompress_ex, called: "deflate")
        }
        guard used == input.count else {
            throw TileBodiesError(.badCoding, "\(input.count - used) extra bytes follow the deflate stream")
        }
    }

    /// Unpacks a zlib stream that fills `input` exactly, and nothing else.
    func unzlib(_ input: UnsafeRawBufferPointer) throws(TileBodiesError) {
        prepare(for: input.count)
        let used = try member(input, unpack: libdeflate_zlib_decompress_ex, called: "zlib")
        guard used == input.count else {
            throw TileBodiesError(.badCoding, "\(input.count - used) extra bytes follow the zlib stream")
        }
    }

    /// Unpacks a bare deflate stream that fills `input` exactly.
    func undeflate(_ input: UnsafeRawBufferPointer) throws(TileBodiesError) {
        prepare(for: input.count)
        let used = try member(input, unpack: libdeflate_deflate_decompress_ex, called: "deflate")
        guard used == input.count else {
            throw TileBodiesError(.badCoding, "\(input.count - used) extra bytes follow the deflate stream")
        }
    }

    private typealias Unpack = (
        OpaquePointer?, UnsafeRawPointer?, Int, UnsafeMutableRawPointer?, Int, UnsafeMutablePointer<Int>?,
        UnsafeMutablePointer<Int>?
    ) -> libdeflate_result

    /// Appends one unpacked stream to the buffer, growing it up to the limit.
    ///
    /// Returns the packed bytes it used.
    private func member(
        _ input: UnsafeRawBufferPointer, unpack: Unpack, called name: String
    ) throws(TileBodiesError) -> Int {
        while true {
            var used = 0
            var made = 0
            let result = unpack(
                decompressor, input.baseAddress, input.count, spare.baseAddress, spare.count, &used, &made)
            switch result {
            case LIBDEFLATE_SUCCESS:
                advance(made)
                return used
            case LIBDEFLATE_INSUFFICIENT_SPACE:
                try grow()
            default:
                throw TileBodiesError(
                    .badCoding, "the \(name) stream of \(Units.count(input.count, of: "byte")) is truncated or damaged")
            }
        }
    }

    /// The first buffer size: the size in the trailer if that is possible, otherwise four times the input.
    private func guess(for input: UnsafeRawBufferPointer) -> Int {
        var claimed = 0
        for byte in input.suffix(4).reversed() { claimed = claimed << 8 | Int(byte) }
        let believable = claimed / Self.bestRatio <= input.count
        return min(limit, max(64, believable ? claimed : input.count * 4))
    }

    /// Grows the buffer to `capacity` bytes and keeps its content.
    private func reserve(_ capacity: Int) {
        guard capacity > buffer.count else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[0..<count]))
        buffer.deallocate()
        buffer = larger
    }
}
