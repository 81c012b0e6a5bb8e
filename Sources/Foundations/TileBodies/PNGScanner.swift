internal import CDeflate
internal import Errors
internal import TextFormats

/// Walks the chunks of a PNG: signature, checksums, a sane header, image data, and IEND as the last byte.
///
/// - Source: Portable Network Graphics (PNG) Specification, third edition, sections 5.3–5.6 and 11.2.
enum PNGScanner {
    static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    /// Wider or higher than this is not a tile.
    ///
    /// Unit: pixels.
    static let largestSide: UInt32 = 16_384

    static func scan(_ bytes: UnsafeRawBufferPointer) throws(TileBodiesError) {
        do {
            guard var cursor = ByteCursor(bytes) else { throw ScanFault.truncated }
            guard bytes.starts(with: signature) else {
                throw TileBodiesError(.badImage, "the body does not begin with the PNG signature")
            }
            _ = try cursor.part(signature.count)
            var state = State()
            while !state.hasEnd { try chunk(&cursor, &state) }
            guard cursor.isAtEnd else {
                throw TileBodiesError(
                    .badImage,
                    "\(Units.count(cursor.remaining, of: "byte")) \(cursor.remaining == 1 ? "follows" : "follow") IEND")
            }
        } catch let error as TileBodiesError {
            throw error
        } catch {
            throw TileBodiesError(
                .truncated, "the PNG ends after \(Units.count(bytes.count, of: "byte")), before its IEND chunk")
        }
    }

    private struct State {
        var isFirst = true
        var needsPalette = false
        var hasPalette = false
        var dataBytes = 0
        var hasEnd = false
    }

    private static func chunk(_ cursor: inout ByteCursor, _ state: inout State) throws {
        let length = try cursor.big32()
        let body = cursor
        let type = try cursor.big32()
        let name = String(decoding: [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: type >> $0) }, as: UTF8.self)
        guard name.utf8.allSatisfy({ (65...90).contains($0) || (97...122).contains($0) }) else {
            throw TileBodiesError(.badImage, "a chunk has a type that is not four letters")
        }
        guard length < 1 << 31 else {
            throw TileBodiesError(.badImage, "chunk \(name) has an impossible length \(length)")
        }
        var content = try cursor.part(Int(length))
        let expected = try cursor.big32()
        let covered = UnsafeRawBufferPointer(rebasing: body.rest.prefix(4 + Int(length)))
        guard libdeflate_crc32(0, covered.baseAddress, covered.count) == expected else {
            throw TileBodiesError(.badImage, "the checksum of chunk \(name) does not match")
        }
        guard state.isFirst == (name == "IHDR") else {
            throw TileBodiesError(.badImage, "IHDR is not the first chunk, or is a duplicate")
        }
        switch name {
        case "IHDR":
            state.isFirst = false
            state.needsPalette = try header(&content) == 3
        case "PLTE":
            state.hasPalette = length > 0 && length % 3 == 0 && length <= 768
        case "IDAT":
            state.dataBytes += Int(length)
        case "IEND":
            guard length == 0, state.dataBytes > 0, state.hasPalette || !state.needsPalette else {
                throw TileBodiesError(.badImage, "IEND comes before the image data or the palette, or is not empty")
            }
            state.hasEnd = true
        default:
            guard name.utf8.first.map({ $0 & 0x20 != 0 }) == true else {
                throw TileBodiesError(.badImage, "the critical chunk \(name) is unknown")
            }
        }
    }

    /// Checks IHDR and returns the colour type.
    private static func header(_ content: inout ByteCursor) throws -> UInt8 {
        guard content.remaining == 13 else { throw TileBodiesError(.badImage, "IHDR does not have 13 bytes") }
        let width = try content.big32()
        let height = try content.big32()
        let depth = try content.byte()
        let colour = try content.byte()
        let compression = try content.byte()
        let filter = try content.byte()
        let interlace = try content.byte()
        let depths: [UInt8: [UInt8]] = [0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16]]
        guard (1...largestSide).contains(width), (1...largestSide).contains(height) else {
            throw TileBodiesError(.badImage, "IHDR says \(width) x \(height) pixels; expected 1...\(largestSide)")
        }
        guard depths[colour]?.contains(depth) == true, compression == 0, filter == 0, interlace <= 1 else {
            throw TileBodiesError(.badImage, "IHDR names a colour type, depth or method that does not exist")
        }
        return colour
    }
}
