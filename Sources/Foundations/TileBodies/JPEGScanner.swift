import Errors
internal import TextFormats

/// Walks the markers of a JPEG: SOI, a frame header with a size, a scan, and EOI as the last two bytes.
///
/// - Source: ITU-T T.81, annex B.
enum JPEGScanner {
    static func scan(_ bytes: UnsafeRawBufferPointer) throws(TileBodiesError) {
        do {
            guard var cursor = ByteCursor(bytes) else { throw ScanFault.truncated }
            guard try cursor.big16() == 0xffd8 else {
                throw TileBodiesError(.badImage, "the body does not begin with SOI")
            }
            var hasFrame = false
            var hasScan = false
            while true {
                let marker = try next(&cursor)
                if marker == 0xd9 { break }
                try readSegment(marker, at: &cursor, hasFrame: &hasFrame, hasScan: &hasScan)
            }
            guard hasFrame, hasScan else { throw TileBodiesError(.badImage, "EOI comes before a frame and a scan") }
            guard cursor.isAtEnd else { throw TileBodiesError(.badImage, "\(cursor.remaining) bytes follow EOI") }
        } catch let error as TileBodiesError {
            throw error
        } catch {
            throw TileBodiesError(
                .truncated, "the JPEG ends after \(Units.count(bytes.count, of: "byte")), before its EOI marker")
        }
    }

    private static func next(_ cursor: inout ByteCursor) throws -> UInt8 {
        guard try cursor.byte() == 0xff else {
            throw TileBodiesError(.badImage, "a marker was expected between segments")
        }
        while true {
            let marker = try cursor.byte()
            if marker != 0xff { return marker }
        }
    }

    private static func readSegment(
        _ marker: UInt8, at cursor: inout ByteCursor, hasFrame: inout Bool, hasScan: inout Bool
    ) throws {
        guard marker >= 0xc0, !(0xd0...0xd8).contains(marker) else {
            throw TileBodiesError(.badImage, "marker \(marker) has no place between segments")
        }
        let length = try cursor.big16()
        guard length >= 2 else { throw TileBodiesError(.badImage, "a segment has the impossible length \(length)") }
        var content = try cursor.part(length - 2)
        switch marker {
        case 0xc4, 0xc8, 0xcc:
            break
        case 0xc0...0xcf:
            guard length >= 8 else { throw TileBodiesError(.badImage, "the frame header is too short") }
            let precision = try content.byte()
            let height = try content.big16()
            let width = try content.big16()
            let components = try content.byte()
            guard precision >= 2, precision <= 16, height > 0, width > 0, content.remaining == Int(components) * 3,
                components > 0
            else {
                throw TileBodiesError(.badImage, "the frame header has an impossible size, depth or component count")
            }
            hasFrame = true
        case 0xda:
            guard hasFrame else { throw TileBodiesError(.badImage, "a scan comes before the frame header") }
            hasScan = true
            try entropyCoded(&cursor)
        default:
            break
        }
    }

    /// Steps over entropy-coded data, up to the first marker that is not a restart.
    private static func entropyCoded(_ cursor: inout ByteCursor) throws {
        let data = cursor.rest
        var position = 0
        while position + 1 < data.count {
            if data[position] != 0xff {
                position += 1
            } else if data[position + 1] == 0 || (0xd0...0xd7).contains(data[position + 1]) {
                position += 2
            } else if data[position + 1] == 0xff {
                position += 1
            } else {
                _ = try cursor.part(position)
                return
            }
        }
        throw ScanFault.truncated
    }
}
