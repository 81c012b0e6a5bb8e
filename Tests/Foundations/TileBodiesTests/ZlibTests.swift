import Errors
import Testing

@testable import TileBodies

struct ZlibTests {
    @Test func whatIsPackedUnpacks() throws {
        for bytes in [
            [], [1], Array(repeating: UInt8(7), count: 100_000),
            (0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* 37) },
        ] {
            let packed = Zlib.compress(bytes)
            #expect(packed.starts(with: [0x78, 0x9C]))
            #expect(try Zlib.decompress(packed) == bytes)
            #expect(throws: TileBodiesError.self) { try Zlib.decompress(Array(packed.dropLast())) }
            #expect(throws: TileBodiesError.self) { try Zlib.decompress(packed + [0]) }
        }
        #expect(throws: TileBodiesError.self) { try Zlib.decompress(Gzip.compress([1, 2, 3])) }
        #expect { try Zlib.decompress(Zlib.compress(Array(repeating: 0, count: 10_000)), limit: 9_999) } throws: {
            ($0 as? TileBodiesError)?.code == .tooLarge
        }
    }

    /// The check value of CRC-32 in every catalogue of checksums.
    @Test func theChecksumIsTheKnownOne() {
        #expect(Zlib.crc32(Array("123456789".utf8)) == 0xCBF4_3926)
    }

    @Test func glyphRangesAreScanned() throws {
        // One stack with a name, a range and one glyph "A" of 1 x 1 pixels with its border of 3.
        let bitmap = [UInt8](repeating: 9, count: 49)
        let glyph: [UInt8] = [8, 65, 0x12, 49] + bitmap + [0x18, 1, 0x20, 1, 0x28, 0, 0x30, 0, 0x38, 2]
        let stack: [UInt8] = [0x0A, 1, 70, 0x1A, UInt8(glyph.count)] + glyph
        let range: [UInt8] = [0x0A, UInt8(stack.count)] + stack
        #expect(try GlyphScanner.scan(range) == 1)
        #expect(try GlyphScanner.scan([]) == 0)
        for cut in 1..<range.count {
            #expect(throws: TileBodiesError.self) { try GlyphScanner.scan(Array(range[..<cut])) }
        }
        var wide = range
        wide[range.count - 9] = 2  // a width that does not fit the bitmap
        #expect { try GlyphScanner.scan(wide) } throws: { ($0 as? TileBodiesError)?.code == .badGlyphs }
        for _ in 0..<20_000 {
            var other = range
            other[Int.random(in: 0..<other.count)] = UInt8.random(in: 0...255)
            _ = try? GlyphScanner.scan(other)
        }
    }
}
