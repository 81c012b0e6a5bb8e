import Errors
internal import TextFormats

/// Walks the chunks of a WebP: the RIFF size is the body's, and one image chunk has a sane header.
///
/// WebP has no checksums: a flipped bit inside the image data is not detected here; a missing byte is always detected.
/// - Source: RFC 9649, sections 2.3–2.7 and 3.4; RFC 6386, section 9.1.
enum WebPScanner {
    static func scan(_ bytes: UnsafeRawBufferPointer) throws(TileBodiesError) {
        do {
            guard var cursor = ByteCursor(bytes) else { throw ScanFault.truncated }
            guard try cursor.big32() == fourCC("RIFF") else {
                throw TileBodiesError(.badImage, "the body does not begin with RIFF")
            }
            let size = Int(try cursor.little32())
            guard size % 2 == 0, size >= 4 else {
                throw TileBodiesError(.badImage, "the RIFF size \(size) is impossible")
            }
            var content = try cursor.part(size)
            guard cursor.isAtEnd else {
                throw TileBodiesError(.badImage, "\(cursor.remaining) bytes follow the RIFF chunk")
            }
            guard try content.big32() == fourCC("WEBP") else {
                throw TileBodiesError(.badImage, "the RIFF file is not WebP")
            }
            try chunks(&content)
        } catch let error as TileBodiesError {
            throw error
        } catch {
            throw TileBodiesError(
                .truncated, "the WebP ends after \(Units.count(bytes.count, of: "byte")), before the size it states")
        }
    }

    private static func chunks(_ content: inout ByteCursor) throws {
        var isFirst = true
        var isExtended = false
        var hasImage = false
        while !content.isAtEnd {
            let type = try content.big32()
            let size = Int(try content.little32())
            var body = try content.part(size)
            if size % 2 == 1 { _ = try content.byte() }
            switch type {
            case fourCC("VP8X"):
                guard isFirst, size == 10 else {
                    throw TileBodiesError(.badImage, "VP8X is misplaced or not 10 bytes long")
                }
                isExtended = true
            case fourCC("VP8 "):
                try lossy(&body)
                hasImage = true
            case fourCC("VP8L"):
                try lossless(&body)
                hasImage = true
            case fourCC("ANMF"):
                guard isExtended, size >= 24 else { throw TileBodiesError(.badImage, "ANMF is misplaced or too short") }
                hasImage = true
            default:
                guard isExtended || hasImage else {
                    throw TileBodiesError(.badImage, "the first chunk is not an image")
                }
            }
            isFirst = false
        }
        guard hasImage else { throw TileBodiesError(.badImage, "there is no image chunk") }
    }

    private static func lossy(_ body: inout ByteCursor) throws {
        guard body.remaining >= 10 else { throw TileBodiesError(.badImage, "the VP8 chunk is too short") }
        let tag = Int(try body.byte()) | Int(try body.byte()) << 8 | Int(try body.byte()) << 16
        let startCode = (try body.big16(), try body.byte())
        let width = Int(try body.byte()) | Int(try body.byte() & 0x3f) << 8
        let height = Int(try body.byte()) | Int(try body.byte() & 0x3f) << 8
        guard tag & 1 == 0, startCode == (0x9d01, 0x2a), width > 0, height > 0, tag >> 5 <= body.remaining else {
            throw TileBodiesError(.badImage, "the VP8 chunk is not a key frame with a size")
        }
    }

    private static func lossless(_ body: inout ByteCursor) throws {
        guard body.remaining > 5 else { throw TileBodiesError(.badImage, "the VP8L chunk is too short") }
        let signature = try body.byte()
        let header = try body.little32()
        // 14 bits of width - 1, 14 of height - 1, 1 alpha hint, 3 of version.
        guard signature == 0x2f, header >> 29 == 0 else {
            throw TileBodiesError(.badImage, "the VP8L chunk has a wrong signature or version")
        }
    }
}
