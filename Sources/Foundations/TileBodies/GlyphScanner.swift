public import Errors
internal import TextFormats

/// Walks a range of glyphs as map clients fetch them: Protocol Buffers with signed distance fields.
///
/// - Source: mapbox/node-fontnik `proto/glyphs.proto`: glyphs { fontstack = 1 }, fontstack { name = 1, range = 2, glyphs = 3 },
///   glyph { id = 1, bitmap = 2, width = 3, height = 4, left = 5, top = 6, advance = 7 }; a bitmap has a border of 3 pixels.
public enum GlyphScanner {
    /// The border of a glyph's bitmap.
    ///
    /// Unit: pixels.
    private static let border: UInt64 = 3
    /// The largest width or height of a glyph; clients put glyphs into a texture.
    private static let largestSide: UInt64 = 512

    /// Counts the glyphs of all font stacks; none is a legal range.
    ///
    /// - Throws: ``TileBodiesError`` `.badGlyphs` or `.truncated`.
    public static func scan(_ bytes: [UInt8]) throws(TileBodiesError) -> Int {
        try bytes.borrow { (input) throws(TileBodiesError) in
            do throws(ScanFault) {
                return try stacks(input)
            } catch {
                let code: TileBodiesError.Code = error == .truncated ? .truncated : .badGlyphs
                throw DocumentSniffer.refusal(of: input, declared: .mvt)
                    ?? TileBodiesError(
                        code, "the glyph range of \(Units.count(input.count, of: "byte")) is broken: \(error.words)")
            }
        }
    }

    private static func stacks(_ bytes: UnsafeRawBufferPointer) throws(ScanFault) -> Int {
        guard var cursor = ByteCursor(bytes) else { return 0 }
        var glyphs = 0
        while !cursor.isAtEnd {
            let key = try cursor.varint()
            guard key == 1 << 3 | 2 else { throw .field }
            var stack = try cursor.delimited()
            while !stack.isAtEnd {
                let key = try stack.varint()
                if key == 3 << 3 | 2 {
                    try glyph(try stack.delimited())
                    glyphs += 1
                } else {
                    try stack.skipField(key)
                }
            }
        }
        return glyphs
    }

    private static func glyph(_ whole: ByteCursor) throws(ScanFault) {
        var cursor = whole
        var (width, height): (UInt64, UInt64) = (0, 0)
        var bitmap: Int?
        while !cursor.isAtEnd {
            let key = try cursor.varint()
            switch key {
            case 2 << 3 | 2: bitmap = try cursor.delimited().remaining
            case 3 << 3: width = try cursor.varint()
            case 4 << 3: height = try cursor.varint()
            default: try cursor.skipField(key)
            }
        }
        guard width <= largestSide, height <= largestSide else { throw .field }
        if let bitmap, bitmap > 0, UInt64(bitmap) != (width + 2 * border) * (height + 2 * border) { throw .field }
    }
}
