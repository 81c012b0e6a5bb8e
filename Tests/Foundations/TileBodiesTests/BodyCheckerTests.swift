import Errors
import Testing

@testable import TileBodies

struct BodyCheckerTests {
    private let tile = VectorSamples.plain

    @Test func gzipIsKeptByteForByteHoweverItWasAnnounced() throws {
        let served = Gzip.compress(tile)
        let checker = BodyChecker()
        #expect(try checker.check(served, coding: .gzip, declared: .mvt) == served)
        #expect(try checker.check(served, coding: .identity, declared: .mvt) == served)
    }

    @Test func oneSuperfluousLayerOfGzipIsTakenOff() throws {
        let inner = Gzip.compress(tile)
        #expect(try BodyChecker().check(Gzip.compress(inner), coding: .gzip, declared: .mvt) == inner)
        #expect(refusal(Gzip.compress(Gzip.compress(inner)), .mvt, .gzip) == "wrong-type")
    }

    @Test func whateverIsNotOneGzipMemberIsPackedTheSameWay() throws {
        let checker = BodyChecker()
        let canonical = Gzip.compress(tile)
        #expect(try checker.check(tile, coding: .identity, declared: .mvt) == canonical)
        let halves = Gzip.compress(Array(tile.prefix(9))) + Gzip.compress(Array(tile.dropFirst(9)))
        #expect(try checker.check(halves, coding: .gzip, declared: .mvt) == canonical)
        #expect(
            try checker.check(Array(canonical.dropFirst(10).dropLast(8)), coding: .deflate, declared: .mvt)
                == canonical)
        #expect(try checker.check(canonical, coding: .identity, declared: .mvt) == canonical)
    }

    /// Servers and archives have zlib streams that nothing announces.
    @Test func aZlibStreamWithoutALabelIsPackedAsGzip() throws {
        let checker = BodyChecker()
        let packed = Zlib.compress(tile)
        #expect(try checker.check(packed, coding: .identity, declared: .mvt) == Gzip.compress(tile))
        // What was unpacked by a Content-Encoding may be one too.
        #expect(try checker.check(Zlib.compress(packed), coding: .deflate, declared: .mvt) == Gzip.compress(tile))
        for damaged in [Array(packed.dropLast()), packed + [7]] {
            #expect(refusal(damaged, .mvt, .identity) == "bad-coding")
        }
        // Two bytes that look like one by chance: a field of another number, then the layers.
        let chance = [0x78, 0x01] + tile
        #expect(try checker.check(chance, coding: .identity, declared: .mvt) == Gzip.compress(chance))
    }

    @Test func aPictureOfAnotherFormatIsATileOfAnArchiveOnly() throws {
        for (format, body) in Samples.rasters {
            for declared in TileFormat.allCases where declared != format {
                #expect(refusal(body, declared, .identity) != nil)
                let checker = BodyChecker(takesAnyPicture: true)
                let taken = try? checker.check(body, coding: .identity, declared: declared)
                #expect(taken == (declared.traits.isVector ? nil : body), "\(format) as \(declared)")
            }
            let broken = BodyChecker(takesAnyPicture: true)
            #expect(throws: TileBodiesError.self) {
                try broken.check(Array(body.dropLast(3)), coding: .identity, declared: .png)
            }
        }
    }

    /// 400 bytes, packed by zstd 1.5.4 -19 and by brotli 1.0.9 at level 11.
    private static let foreign: [(BodyCoding, [UInt8])] = [
        (
            .zstd,
            [
                40, 181, 47, 253, 100, 144, 0, 141, 0, 0, 80, 112, 97, 99, 107, 104, 111, 114, 115, 101, 32, 1, 0, 131,
                85,
                11, 18, 152, 35, 219, 99,
            ]
        ),
        (.brotli, [27, 143, 1, 248, 165, 195, 198, 214, 224, 212, 40, 132, 149, 2, 217, 24, 123, 7, 2]),
    ]

    @Test(arguments: foreign.indices)
    func brotliAndZstdAreUnpackedWithinTheLimit(_ number: Int) throws {
        let (coding, packed) = Self.foreign[number]
        let raw = Array(String(repeating: "packhorse ", count: 40).utf8)
        #expect(try coding.unpack(packed, limit: 400) == raw)
        let large = #expect(throws: TileBodiesError.self) { try coding.unpack(packed, limit: 399) }
        #expect(large?.code == .tooLarge)
        for damaged in packed.indices.map({ Array(packed.prefix($0)) }) + [packed + [7]] {
            let error = #expect(throws: TileBodiesError.self) { try coding.unpack(damaged, limit: 1 << 20) }
            #expect(error?.code == .badCoding, "\(damaged.count) bytes")
        }
        for offset in packed.indices {
            for bit in 0..<8 {
                var changed = packed
                changed[offset] ^= 1 << bit
                // The result may be anything, but it must not trap and not exceed the limit.
                if let made = try? coding.unpack(changed, limit: 1 << 20) { #expect(made.count <= 1 << 20) }
            }
        }
    }

    @Test func noBytesAreNoTileAndPackedNothingIsATileWithoutLayers() throws {
        #expect(refusal([], .mvt) == "empty-body")
        #expect(refusal([], .png, .gzip) == "empty-body")
        #expect(refusal(Gzip.compress([]), .png, .gzip) == "empty-body")
        let packed = Gzip.compress([])
        #expect(try BodyChecker().check(packed, coding: .gzip, declared: .mvt) == packed)
        #expect(refusal(Proto().number(20, 1).bytes, .mvt) == "bad-mvt")
    }

    @Test(arguments: [
        ("<!DOCTYPE html>\n<html><body>Too many requests</body></html>", "html-page"),
        ("\u{feff}  \r\n<HTML><head>", "html-page"),
        ("<?xml version=\"1.0\"?><Error><Code>NoSuchKey</Code></Error>", "wrong-type"),
        ("{\"message\":\"Forbidden\"}", "wrong-type"),
        ("[1, 2]", "wrong-type"),
        ("rate limit exceeded", "wrong-type"),
        ("<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "wrong-type"),
    ])
    func documentsInPlaceOfATileAreNamed(_ text: String, _ code: String) {
        let body = Array(text.utf8)
        for format in TileFormat.allCases {
            #expect(refusal(body, format) == code, "\(format) \(text)")
            #expect(refusal(Gzip.compress(body), format, .gzip) == code, "packed, \(format) \(text)")
            #expect(refusal(Gzip.compress(body), format) == code, "packed and not announced, \(format) \(text)")
            #expect(refusal(body, format, .gzip) == code, "announced and not packed, \(format) \(text)")
        }
    }

    @Test func everyTruncationAndEveryFlippedBitOfGzipIsRefused() throws {
        let served = Gzip.compress(tile)
        let checker = BodyChecker()
        for count in 0..<served.count {
            #expect(refusal(Array(served.prefix(count)), .mvt, .gzip) != nil, "cut to \(count) bytes")
        }
        var taken = 0
        for index in 18..<served.count {
            for bit in 0..<8 {
                var body = served
                body[index] ^= 1 << UInt8(bit)
                // Deflate leaves the last bits of its last byte unused: such a flip changes no byte of the tile.
                let settled = try? checker.check(body, coding: .gzip, declared: .mvt)
                #expect(try settled.map { try Gzip.decompress($0) } ?? tile == tile, "byte \(index) bit \(bit)")
                taken += settled == nil ? 0 : 1
            }
        }
        #expect(taken < 8)
        #expect(refusal(served + [0], .mvt, .gzip) == "bad-coding")
    }

    @Test func sizesAreBounded() {
        let zeros = [UInt8](repeating: 0, count: 1 << 20)
        #expect(refusal(Gzip.compress(zeros), .mvt, .gzip, limit: 1 << 20) == "bad-mvt")
        #expect(refusal(Gzip.compress(zeros), .mvt, .gzip, limit: (1 << 20) - 1) == "too-large")
        #expect(refusal(zeros, .png, limit: 1000) == "too-large")
        // A trailer that claims 4 GB for a small stream must not be believed, nor allocated.
        var liar = Gzip.compress(tile)
        liar.replaceSubrange(liar.count - 4..<liar.count, with: [0xff, 0xff, 0xff, 0xff])
        #expect(refusal(liar, .mvt, .gzip) == "bad-coding")
    }

    @Test func gzipSaysNothingOfTimeOrMachine() throws {
        let packed = Gzip.compress(tile)
        #expect(Array(packed.prefix(10)) == [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])
        #expect(packed == Gzip.compress(tile))
        #expect(try Gzip.decompress(packed) == tile)
        #expect(try Gzip.decompress(Gzip.compress([])) == [])
    }

    @Test func messagesSayWhatWasFound() throws {
        let error = #expect(throws: TileBodiesError.self) {
            try BodyChecker().check(Array("<html>Sorry".utf8), coding: .identity, declared: .png)
        }
        #expect(
            error?.description
                == "expected a png tile, found an HTML page that begins with \"<html>Sorry\" [html-page]")
    }

    /// One of a thing is no plural.
    @Test func aSingleByteIsOneByte() throws {
        let checker = BodyChecker()
        let bodies: [([UInt8], TileFormat, String)] = [
            (Samples.pngRGB + [0], .png, "1 byte follows IEND"),
            (Samples.pngRGB + [0, 0], .png, "2 bytes follow IEND"),
            ([0x07], .mvt, "the vector tile of 1 byte is broken"),
        ]
        for (body, format, words) in bodies {
            let error = #expect(throws: TileBodiesError.self) {
                try checker.check(body, coding: .identity, declared: format)
            }
            #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        }
    }
}
