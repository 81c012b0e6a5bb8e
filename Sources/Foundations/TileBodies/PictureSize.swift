/// The size of a picture, by its header; pixels are not decoded.
///
/// - Source: Portable Network Graphics (third edition), section 11.2.1; ITU-T T.81, B.2.2; RFC 9649, sections 2.5 to 2.7.
package struct PictureSize: Hashable, Sendable, CustomStringConvertible {
    /// Pixels.
    package let width: Int
    /// Pixels.
    package let height: Int

    package var description: String { "\(width) x \(height)" }

    /// Reads the header of a PNG, a JPEG or a WebP picture; `nil` for all other bytes, and where the header ends early or states no size.
    package init?(of body: UnsafeRawBufferPointer) {
        guard let format = TileFormat(pictureBeginning: body), var cursor = ByteCursor(body) else { return nil }
        let size: (width: Int, height: Int)?
        do throws(ScanFault) {
            switch format {
            case .png: size = try Self.png(&cursor)
            case .jpeg: size = try Self.jpeg(&cursor)
            case .webp: size = try Self.webp(&cursor)
            default: size = nil
            }
        } catch { return nil }
        guard let size, size.width > 0, size.height > 0 else { return nil }
        (width, height) = size
    }

    private static func png(_ cursor: inout ByteCursor) throws(ScanFault) -> (Int, Int)? {
        // The signature, then length and name of the first chunk, which is IHDR.
        _ = try cursor.part(16)
        return (Int(try cursor.big32()), Int(try cursor.big32()))
    }

    private static func jpeg(_ cursor: inout ByteCursor) throws(ScanFault) -> (Int, Int)? {
        _ = try cursor.part(2)
        while true {
            guard try cursor.byte() == 0xff else { return nil }
            var marker = try cursor.byte()
            while marker == 0xff { marker = try cursor.byte() }
            let length = Int(try cursor.big16())
            guard length >= 2 else { return nil }
            var content = try cursor.part(length - 2)
            // A frame header; the other three of these numbers are tables and extensions.
            guard 0xc0...0xcf ~= marker, ![0xc4, 0xc8, 0xcc].contains(marker) else { continue }
            _ = try content.byte()
            let height = Int(try content.big16())
            return (Int(try content.big16()), height)
        }
    }

    private static func webp(_ cursor: inout ByteCursor) throws(ScanFault) -> (Int, Int)? {
        _ = try cursor.part(12)
        let kind = try cursor.big32()
        _ = try cursor.part(4)
        switch kind {
        case 0x5650_3858:  // VP8X: flags, then width and height less one in 24 bits each.
            _ = try cursor.part(4)
            var sides: [Int] = []
            for _ in 0..<2 {
                sides.append(Int(try cursor.byte()) | Int(try cursor.byte()) << 8 | Int(try cursor.byte()) << 16)
            }
            return (sides[0] + 1, sides[1] + 1)
        case 0x5650_3820:  // VP8: a tag and a start code of three bytes each, then 14 bits a side.
            _ = try cursor.part(6)
            var sides: [Int] = []
            for _ in 0..<2 { sides.append(Int(try cursor.byte()) | Int(try cursor.byte() & 0x3f) << 8) }
            return (sides[0], sides[1])
        case 0x5650_384C:  // VP8L: a signature, then 14 bits a side, less one.
            _ = try cursor.byte()
            let header = try cursor.little32()
            return (Int(header & 0x3fff) + 1, Int(header >> 14 & 0x3fff) + 1)
        default: return nil
        }
    }
}
