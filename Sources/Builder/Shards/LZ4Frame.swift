internal import CLZ4
internal import Errors
internal import Files
internal import Foundation

/// One LZ4 frame in the only form that a shard uses: independent 64 KiB blocks, a checksum per block, a checksum of the
/// content, and the content's size in the frame header.
enum LZ4Frame {
    /// FLG: version 01, independent blocks, block checksums, content size, content checksum, no dictionary.
    static let flags: UInt8 = 0b0111_1100
    /// BD: blocks of at most 64 KiB.
    static let blockDescriptor: UInt8 = 0x40
    static let magic: UInt32 = 0x184D_2204
    /// LZ4 cannot shrink more than this (format: one byte of length stands for at most 255 bytes), plus the fixed parts.
    static func maxContent(in frame: Int) -> Int { frame * 255 + 64 }

    /// - Parameter isPacked: Whether the content is compressed already: then LZ4 uses its fastest setting.
    static func compress(_ content: [UInt8], isPacked: Bool = false) throws(StorageError) -> [UInt8] {
        var preferences = LZ4F_preferences_t()
        preferences.compressionLevel = isPacked ? -100 : 0
        preferences.frameInfo.blockSizeID = LZ4F_max64KB
        preferences.frameInfo.blockMode = LZ4F_blockIndependent
        preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled
        preferences.frameInfo.blockChecksumFlag = LZ4F_blockChecksumEnabled
        preferences.frameInfo.contentSize = UInt64(content.count)
        let bound = LZ4F_compressFrameBound(content.count, &preferences)
        var outcome = 0
        let frame = [UInt8](unsafeUninitializedCapacity: bound) { target, count in
            outcome = content.withUnsafeBytes { source in
                LZ4F_compressFrame(target.baseAddress, bound, source.baseAddress, source.count, &preferences)
            }
            count = LZ4F_isError(outcome) == 0 ? outcome : 0
        }
        guard LZ4F_isError(outcome) == 0 else {
            throw StorageError(.io, "LZ4 could not compress \(content.count) bytes: \(name(of: outcome)).")
        }
        return frame
    }

    /// Returns the content, which must have exactly `size` bytes and use the frame up to its last byte.
    ///
    /// Memory is allocated only if the frame can contain `size` bytes.
    /// - Parameter isCheckedElsewhere: Whether the content has a digest that will be compared: then LZ4's own checksums
    ///   are skipped.
    static func decompress(
        _ frame: [UInt8], size: Int, of what: String, isCheckedElsewhere: Bool = false
    ) throws(StorageError) -> [UInt8] {
        func corrupt(_ why: String) -> StorageError {
            StorageError(.corrupt, "\(what) is damaged: \(why). Fetch this batch again.")
        }
        var fields = ByteReader(frame[...])
        guard fields.uint32() == magic, fields.uint8() == flags, fields.uint8() == blockDescriptor,
            let stated = fields.uint64()
        else { throw corrupt("its frame header is not that of a shard") }
        guard size >= 0, size <= maxContent(in: frame.count), stated == UInt64(size) else {
            throw corrupt("its frame states \(stated) bytes, the index \(size)")
        }
        var context: OpaquePointer?
        let made = LZ4F_createDecompressionContext(&context, UInt32(LZ4F_VERSION))
        guard LZ4F_isError(made) == 0, let context else {
            throw StorageError(.io, "LZ4 could not start: \(name(of: made)).")
        }
        defer { LZ4F_freeDecompressionContext(context) }
        var options = LZ4F_decompressOptions_t()
        options.skipChecksums = isCheckedElsewhere ? 1 : 0
        var consumed = 0
        var hint = 1
        let content = [UInt8](unsafeUninitializedCapacity: size) { target, filled in
            frame.withUnsafeBytes { source in
                while consumed < source.count && hint != 0 {
                    guard let from = source.baseAddress else { return }
                    var room = size - filled
                    var taken = source.count - consumed
                    hint = LZ4F_decompress(
                        context, target.baseAddress.map { $0 + filled }, &room, from + consumed, &taken, &options)
                    guard LZ4F_isError(hint) == 0, taken > 0 || room > 0 else { return }
                    filled += room
                    consumed += taken
                }
            }
        }
        if LZ4F_isError(hint) != 0 { throw corrupt(name(of: hint)) }
        guard hint == 0, consumed == frame.count, content.count == size else {
            throw corrupt("its frame ends at byte \(consumed) of \(frame.count) with \(content.count) of \(size) bytes")
        }
        return content
    }

    private static func name(of code: Int) -> String { String(cString: LZ4F_getErrorName(code)) }
}
