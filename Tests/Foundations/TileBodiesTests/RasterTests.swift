import Testing

@testable import TileBodies

struct RasterTests {
    @Test(arguments: Samples.rasters.indices)
    func aWholeRasterIsTakenAsItIs(_ index: Int) throws {
        let (format, body) = Samples.rasters[index]
        #expect(body.count > 50)
        #expect(try BodyChecker().check(body, coding: .identity, declared: format) == body)
        #expect(try BodyChecker().check(Gzip.compress(body), coding: .gzip, declared: format) == body)
    }

    @Test(arguments: Samples.rasters.indices)
    func everyTruncationOfARasterIsRefused(_ index: Int) {
        let (format, body) = Samples.rasters[index]
        for count in 1..<body.count {
            #expect(refusal(Array(body.prefix(count)), format) != nil, "\(format) cut to \(count) bytes")
        }
        #expect(refusal(Array(body.dropLast()), format) == "truncated")
    }

    @Test(arguments: Samples.rasters.indices)
    func bytesAfterTheEndOfARasterAreRefused(_ index: Int) {
        let (format, body) = Samples.rasters[index]
        #expect(refusal(body + [0], format) != nil)
        #expect(refusal(body + body, format) != nil)
    }

    @Test(arguments: Samples.rasters.indices)
    func aRasterOfAnotherTypeIsNamed(_ index: Int) {
        let (format, body) = Samples.rasters[index]
        for declared in TileFormat.allCases where declared != format {
            #expect(refusal(body, declared) == "wrong-type", "\(format) as \(declared)")
        }
    }

    @Test func everyFlippedBitOfAPNGIsRefused() {
        for index in Samples.pngRGB.indices {
            for bit in 0..<8 {
                var body = Samples.pngRGB
                body[index] ^= 1 << UInt8(bit)
                #expect(refusal(body, .png) != nil, "byte \(index) bit \(bit)")
            }
        }
    }

    @Test func aPNGWithoutPaletteItNeedsIsRefused() {
        // The palette chunk of the sample: 12 bytes of content at offset 33.
        var body = Samples.pngPalette
        body.removeSubrange(33..<33 + 24)
        #expect(refusal(body, .png) == "bad-image")
    }

    @Test func aJPEGWithoutFrameIsRefused() {
        #expect(refusal([0xff, 0xd8, 0xff, 0xd9], .jpeg) == "bad-image")
        #expect(refusal([0xff, 0xd8, 0xff, 0xda, 0, 2, 1, 2, 0xff, 0xd9], .jpeg) == "bad-image")
    }
}
