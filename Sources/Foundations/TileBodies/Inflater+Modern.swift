internal import CBrotli
internal import CZstd
internal import Errors
internal import TextFormats

/// Brotli and zstd, which PMTiles archives may use; like gzip, they fill the input exactly and never unpack to more than the limit.
extension Inflater {
    /// Unpacks a brotli stream (RFC 7932).
    ///
    /// - Throws: ``TileBodiesError`` `.badCoding` when it is damaged, truncated or followed by other bytes;
    ///   `.tooLarge`.
    func unbrotli(_ input: UnsafeRawBufferPointer) throws(TileBodiesError) {
        guard PH_HAS_BROTLI == 1 else {
            throw TileBodiesError(.badCoding, "this build of the library cannot unpack brotli")
        }
        prepare(for: input.count)
        guard let decoder = BrotliDecoderCreateInstance(nil, nil, nil) else {
            preconditionFailure("brotli could not allocate a decoder: out of memory.")
        }
        defer { BrotliDecoderDestroyInstance(decoder) }
        var left = input.count
        var source = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        while true {
            var space = spare.count
            var target = spare.baseAddress?.assumingMemoryBound(to: UInt8.self)
            let before = space
            let result = BrotliDecoderDecompressStream(decoder, &left, &source, &space, &target, nil)
            advance(before - space)
            switch result {
            case BROTLI_DECODER_RESULT_SUCCESS:
                guard left == 0 else {
                    throw TileBodiesError(.badCoding, "\(left) extra bytes follow the brotli stream")
                }
                return
            case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: try grow()
            default:
                throw TileBodiesError(
                    .badCoding, "the brotli stream of \(Units.count(input.count, of: "byte")) is truncated or damaged")
            }
        }
    }

    /// Unpacks zstd frames (RFC 8878).
    ///
    /// - Throws: ``TileBodiesError`` `.badCoding` when one is damaged, truncated or followed by other bytes;
    ///   `.tooLarge`.
    func unzstd(_ input: UnsafeRawBufferPointer) throws(TileBodiesError) {
        guard PH_HAS_ZSTD == 1 else {
            throw TileBodiesError(.badCoding, "this build of the library cannot unpack zstd")
        }
        prepare(for: input.count)
        // zstd accepts an empty input as zero frames.
        guard !input.isEmpty else { throw TileBodiesError(.badCoding, "an empty body is not a zstd stream") }
        while true {
            let made = ZSTD_decompress(spare.baseAddress, spare.count, input.baseAddress, input.count)
            if ZSTD_isError(made) == 0 { return advance(made) }
            guard ZSTD_getErrorCode(made) == ZSTD_error_dstSize_tooSmall else {
                throw TileBodiesError(
                    .badCoding, "the zstd stream of \(Units.count(input.count, of: "byte")) is truncated or damaged")
            }
            try grow()
        }
    }
}
