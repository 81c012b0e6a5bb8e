/// The size of a picture, and whether its format keeps every colour; pixels are not decoded.
///
/// - Source: Portable Network Graphics (third edition), section 11.2.1; ITU-T T.81, B.2.2; RFC 9649, sections 2.5 to 2.7; RFC 6386, 9.1;
///   ISO/IEC 23008-12, 6.5.3.
package struct PictureHeader: Hashable, Sendable {
    /// Width and height in pixels, both above 0.
    package struct Size: Hashable, Sendable, CustomStringConvertible {
        package let width: Int
        package let height: Int

        /// `512 x 256`.
        package var description: String { "\(width) x \(height)" }
    }

    /// Of the whole picture.
    package let size: Size
    /// Whether colours may be others than those that were drawn; of AVIF this cannot be seen, so it counts as lossy.
    package let isLossy: Bool

    /// What the reader of a format finds; without a size when the header states none.
    typealias Found = (size: Size?, isLossy: Bool)
    /// Reads the header of one format, from the first byte of the picture.
    typealias Reading = @Sendable (inout ByteCursor) throws(ScanFault) -> Found

    /// Reads the header of a picture; `nil` for all other bytes, and where the header ends early or states no size.
    package init?(_ body: UnsafeRawBufferPointer) {
        guard let read = TileFormat(pictureBeginning: body)?.traits.header, var cursor = ByteCursor(body) else {
            return nil
        }
        let found: Found
        do throws(ScanFault) { found = try read(&cursor) } catch { return nil }
        guard let size = found.size, size.width > 0, size.height > 0 else { return nil }
        (self.size, isLossy) = (size, found.isLossy)
    }

    static func png(_ cursor: inout ByteCursor) throws(ScanFault) -> Found {
        // The signature, then length and name of the first chunk, which is IHDR.
        _ = try cursor.part(16)
        return (try big(&cursor), false)
    }

    static func jpeg(_ cursor: inout ByteCursor) throws(ScanFault) -> Found {
        _ = try cursor.part(2)
        while true {
            guard try cursor.byte() == 0xff else { return (nil, true) }
            var marker = try cursor.byte()
            while marker == 0xff { marker = try cursor.byte() }
            let length = try cursor.big16()
            guard length >= 2 else { return (nil, true) }
            var content = try cursor.part(length - 2)
            // A frame header; the other three of these numbers are tables and extensions.
            guard 0xc0...0xcf ~= marker, ![0xc4, 0xc8, 0xcc].contains(marker) else { continue }
            _ = try content.byte()
            let height = try content.big16()
            return (Size(width: try content.big16(), height: height), true)
        }
    }

    /// The size of the first chunk that has one: the canvas (VP8X), else the picture.
    ///
    /// A chunk "VP8 " is lossy, also one with others around it; frames of animations are not read and count as lossy.
    static func webp(_ cursor: inout ByteCursor) throws(ScanFault) -> Found {
        _ = try cursor.part(12)
        var size: Size?
        var isLossy = false
        while !cursor.isAtEnd {
            let kind = try cursor.big32()
            let length = Int(try cursor.little32())
            var content = try cursor.part(length)
            // Chunks begin at even places.
            if length % 2 == 1 { _ = try cursor.byte() }
            switch kind {
            case fourCC("VP8X"):
                // Flags, then width and height less one in 24 bits each.
                _ = try content.part(4)
                let width = try little24(&content) + 1
                size = Size(width: width, height: try little24(&content) + 1)
            case fourCC("VP8 "):
                isLossy = true
                guard size == nil else { continue }
                // A tag and a start code of three bytes each, then 14 bits a side.
                _ = try content.part(6)
                let width = Int(try content.byte()) | Int(try content.byte() & 0x3f) << 8
                size = Size(width: width, height: Int(try content.byte()) | Int(try content.byte() & 0x3f) << 8)
            case fourCC("VP8L"):
                guard size == nil else { continue }
                // A signature, then 14 bits a side, less one.
                _ = try content.byte()
                let header = try content.little32()
                size = Size(width: Int(header & 0x3fff) + 1, height: Int(header >> 14 & 0x3fff) + 1)
            case fourCC("ANMF"): isLossy = true
            default: break
            }
        }
        return (size, isLossy)
    }

    /// The largest property `ispe` within `meta`, `iprp` and `ipco`: smaller ones are of thumbnails and of parts of the picture.
    static func avif(_ cursor: inout ByteCursor) throws(ScanFault) -> Found {
        guard var metadata = try AVIFScanner.content(of: fourCC("meta"), in: &cursor) else { return (nil, true) }
        // Version and flags of a full box.
        _ = try metadata.part(4)
        guard var properties = try AVIFScanner.content(of: fourCC("iprp"), in: &metadata),
            var list = try AVIFScanner.content(of: fourCC("ipco"), in: &properties)
        else { return (nil, true) }
        var largest: Size?
        while var property = try AVIFScanner.content(of: fourCC("ispe"), in: &list) {
            _ = try property.part(4)
            let size = try big(&property)
            if area(size) > largest.map(area) ?? 0 { largest = size }
        }
        return (largest, true)
    }

    /// Sides have at most 32 bits.
    private static func area(_ size: Size) -> UInt64 { UInt64(size.width) * UInt64(size.height) }

    /// Width and height in 32 bits each, the highest byte first.
    private static func big(_ cursor: inout ByteCursor) throws(ScanFault) -> Size {
        let width = Int(try cursor.big32())
        return Size(width: width, height: Int(try cursor.big32()))
    }

    private static func little24(_ cursor: inout ByteCursor) throws(ScanFault) -> Int {
        let low = Int(try cursor.byte())
        let middle = Int(try cursor.byte())
        return low | middle << 8 | Int(try cursor.byte()) << 16
    }
}
