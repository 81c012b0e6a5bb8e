/// Glyph ranges of the demo style's only font.
///
/// Boxes instead of letters: every visible ASCII character is a small box with the width of a letter, so that a client
/// has glyphs to draw. All other ranges are legal and empty.
/// - Source: mapbox/node-fontnik `proto/glyphs.proto`, as `TileBodies/GlyphScanner` reads it.
package enum WorldGlyphs {
    /// The font's name.
    package static let font = "Demo Regular"
    /// Pixels around a glyph for which the distance to its edge is stored.
    private static let border = 3
    /// Steps of the distance for one pixel: 255 over 8 pixels, the edge at 3/4 of the way.
    private static let step = 255.0 / 8

    /// The range that begins at a code point which is a multiple of 256.
    package static func range(_ start: Int) -> [UInt8] {
        var stack = ProtoWriter()
        stack.text(1, font)
        stack.text(2, "\(start)-\(start + 255)")
        for code in start..<(start + 256) where (0x20...0x7E).contains(code) { stack.data(3, glyph(code)) }
        var file = ProtoWriter()
        file.data(1, stack.bytes)
        return file.bytes
    }

    /// A space, or a box of the size of a letter at 24 pixels.
    private static func glyph(_ code: Int) -> [UInt8] {
        let isNarrow = "!'(),.:;I[]`fijlrt{|}".utf8.contains(UInt8(code))
        let isLow = "acegmnopqrsuvwxyz.,:;_-".utf8.contains(UInt8(code))
        let (width, height) = (isNarrow ? 4 : 9, isLow ? 12 : 17)
        var glyph = ProtoWriter()
        glyph.number(1, UInt64(code))
        if code != 0x20 { glyph.data(2, field(width, height)) }
        glyph.number(3, code == 0x20 ? 0 : UInt64(width))
        glyph.number(4, code == 0x20 ? 0 : UInt64(height))
        glyph.number(5, zigzag(1))
        glyph.number(6, zigzag(height - 26))
        glyph.number(7, UInt64(width + 2))
        return glyph.bytes
    }

    private static func zigzag(_ value: Int) -> UInt64 {
        UInt64(UInt32(truncatingIfNeeded: value << 1 ^ value >> 63))
    }

    /// The distance of each pixel to the edge of a box, 192 on the edge, more inside.
    private static func field(_ width: Int, _ height: Int) -> [UInt8] {
        var pixels: [UInt8] = []
        for y in -border..<(height + border) {
            for x in -border..<(width + border) {
                let (px, py) = (Double(x) + 0.5, Double(y) + 0.5)
                let dx = max(-px, px - Double(width))
                let dy = max(-py, py - Double(height))
                let outside = (max(dx, 0) * max(dx, 0) + max(dy, 0) * max(dy, 0)).squareRoot()
                let distance = outside + min(max(dx, dy), 0)
                pixels.append(UInt8(max(0, min(255, 192 - distance * step))))
            }
        }
        return pixels
    }
}
