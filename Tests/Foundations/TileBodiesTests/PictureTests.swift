import Errors
import Testing

@testable import TileBodies

/// AVIF by its boxes, and what pictures of terrain must be.
struct PictureTests {
    static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        let size = content.count + 8
        return [0, 0, UInt8(size >> 8), UInt8(size & 255)] + Array(type.utf8) + content
    }

    /// An AVIF of a size without its pixels: the boxes are those of one item.
    static func avif(_ side: UInt8, brands: String = "avif", more: String = "mif1", data: [UInt8] = [1, 2, 3])
        -> [UInt8]
    {
        let size = box("ispe", [0, 0, 0, 0, 0, 0, 0, side, 0, 0, 0, side])
        let meta = box("meta", [0, 0, 0, 0] + box("iloc", [0]) + box("iprp", box("ipco", size)))
        return box("ftyp", Array(brands.utf8) + [0, 0, 0, 0] + Array(more.utf8)) + meta + box("mdat", data)
    }

    @Test(arguments: [("avif", "mif1"), ("avis", "msf1"), ("mif1", "miafavif"), ("miaf", "mif1avis")])
    func aBrandOfAVIFIsRecognised(_ brands: (String, String)) throws {
        let body = Self.avif(16, brands: brands.0, more: brands.1)
        #expect(TileFormat(content: body) == .avif)
        #expect(try BodyChecker().check(body, coding: .identity, declared: .avif) == body)
        #expect(try BodyChecker().check(Gzip.compress(body), coding: .gzip, declared: .avif) == body)
    }

    @Test func otherISOMediaAreNamed() throws {
        for (brand, more) in [("heic", "mif1"), ("mp42", "isom"), ("mif1", "heic")] {
            let body = Self.avif(16, brands: brand, more: more)
            #expect(TileFormat(content: body) == nil)
            let error = #expect(throws: TileBodiesError.self) {
                try BodyChecker().check(body, coding: .identity, declared: .avif)
            }
            #expect(error?.code == .wrongType && error?.message.contains("HEIC") == true)
        }
        for jxl: [UInt8] in [[0xFF, 0x0A, 1, 2], [0, 0, 0, 12] + Array("JXL ".utf8) + [13, 10, 0x87, 10]] {
            let error = #expect(throws: TileBodiesError.self) {
                try BodyChecker().check(jxl, coding: .identity, declared: .png)
            }
            #expect(error?.message.contains("JPEG XL") == true)
        }
    }

    @Test func anAVIFIsRefusedWhereverItIsCut() {
        let body = Self.avif(16)
        for count in 1..<body.count { #expect(refusal(Array(body[..<count]), .avif) != nil, "\(count)") }
        #expect(refusal(Array(body.dropLast()), .avif) == "truncated")
        #expect(refusal(Self.avif(16, data: []), .avif) == "bad-image")
        var huge = body
        // The size of the second box: more than the file, and the wide form with more than an Int has.
        let start = Int(body[3])
        huge.replaceSubrange(start..<start + 4, with: [0x7F, 0xFF, 0xFF, 0xFF])
        #expect(refusal(huge, .avif) == "truncated")
        huge.replaceSubrange(start..<start + 4, with: [0, 0, 0, 1])
        huge.replaceSubrange(start + 8..<start + 16, with: [UInt8](repeating: 0xFF, count: 8))
        #expect(refusal(huge, .avif) == "truncated")
    }

    @Test(arguments: Samples.rasters) func theSizeOfEveryPictureIsRead(format: TileFormat, body: [UInt8]) throws {
        let header = try #require(body.withUnsafeBytes { PictureHeader($0) })
        #expect(header.size.width == header.size.height && [4, 16].contains(header.size.width), "\(header)")
        let isLossy = format == .jpeg || format == .avif || body == Samples.webpLossy || body == Samples.webpExtended
        #expect(header.isLossy == isLossy, "\(format)")
        for count in 0..<min(60, body.count) {
            _ = Array(body[..<count]).withUnsafeBytes { PictureHeader($0) }
        }
    }

    @Test func heightsNeedTheSizeThatIsSaidAndNoLoss() throws {
        let rule = try #require(PictureRule(side: 16, isLossless: true))
        let checker = BodyChecker(takesAnyPicture: true, pictures: rule)
        for body in [Samples.pngRGB, Samples.webpLossless] {
            #expect(try checker.check(body, coding: .identity, declared: .png) == body)
        }
        for (body, words) in [(Samples.webpLossy, "lossy WebP"), (Samples.jpegProgressive, "lossy JPEG")] {
            let error = #expect(throws: TileBodiesError.self) {
                try checker.check(body, coding: .identity, declared: .png)
            }
            #expect(error?.code == .wrongType && error?.message.contains(words) == true)
        }
        let other = BodyChecker(pictures: PictureRule(side: 512, isLossless: false))
        let error = #expect(throws: TileBodiesError.self) {
            try other.check(Samples.pngRGB, coding: .identity, declared: .png)
        }
        #expect(error?.message.contains("16 x 16") == true && error?.message.contains("512") == true)
        #expect(PictureRule(side: nil, isLossless: false) == nil)
    }
}
