import Testing

@testable import TileBodies

struct TileFormatTests {
    @Test(arguments: TileFormat.allCases)
    func everyWordOfARowNamesItsFormatAlone(format: TileFormat) {
        let traits = format.traits
        let words = traits.suffixes + traits.otherWords + [traits.mediaType] + traits.otherMediaTypes
        #expect(traits.suffixes.first == format.rawValue)
        #expect(words.allSatisfy { $0 == $0.lowercased() && TileFormat(word: $0.uppercased()) == format })
        #expect(Set(words).count == words.count)
        #expect(TileFormat(pmtilesType: traits.pmtilesType) == format)
        #expect(TileFormat(pmtilesType: 0) == nil)
        #expect(TileFormat(word: "gif") == nil)
    }

    @Test(arguments: Samples.rasters)
    func firstBytesNameAPicture(format: TileFormat, body: [UInt8]) {
        #expect(body.withUnsafeBytes { TileFormat(beginning: $0) } == format)
        #expect(body.withUnsafeBytes { TileFormat(pictureBeginning: $0) } == format)
        #expect(body.prefix(2).withUnsafeBytes { TileFormat(beginning: $0) } == nil)
    }

    /// Words of tilemaker, tippecanoe, QGIS, GDAL, MOBAC, Mapnik and others.
    @Test(arguments: [
        ("png8", TileFormat.png), ("png256", .png), ("png8:z=1", .png), (".png", .png), ("image/jpg", .jpeg),
        ("jpeg80", .jpeg), ("JPG", .jpeg), ("vector", .mvt), (" pbf\n", .mvt), ("image/png; mode=8bit", .png),
        ("application/x-protobuf", .mvt), ("\u{FEFF}pbf", .mvt), ("webp:quality=80", .webp),
        ("application/vnd.maplibre-vector-tile", .mlt), ("application/vnd.maplibre-tile", .mlt), ("MLT", .mlt),
        ("image/avif", .avif),
    ])
    func aWordOfAnotherProgramNamesItsFormat(word: String, format: TileFormat) {
        #expect(TileFormat(word: word) == format)
    }

    @Test(arguments: ["", ".", "8", "jxl", "p n g", ":png", "pngx", "heic"])
    func otherWordsNameNone(word: String) { #expect(TileFormat(word: word) == nil) }

    @Test func theContentOfABodyNamesItsFormat() {
        let tile = VectorSamples.plain
        for body in [tile, Gzip.compress(tile), Zlib.compress(tile), Gzip.compress([])] {
            #expect(TileFormat(content: body) == .mvt)
        }
        for (format, body) in Samples.rasters {
            #expect(TileFormat(content: body) == format && TileFormat(content: Gzip.compress(body)) == format)
        }
        for body in [[], [1, 2, 3], Array("<html></html>".utf8), Gzip.compress([9, 9]), Array("GIF89a".utf8)] {
            #expect(TileFormat(content: body) == nil)
        }
    }

    @Test func aStoredVectorTileIsNoPicture() {
        let body = Gzip.compress([1, 2, 3])
        #expect(body.withUnsafeBytes { TileFormat(beginning: $0) } == .mvt)
        #expect(body.withUnsafeBytes { TileFormat(pictureBeginning: $0) } == nil)
    }

    @Test func everyPictureHasASample() {
        #expect(Set(Samples.rasters.map(\.0)) == Set(TileFormat.allCases.filter { !$0.traits.isVector }))
    }

    @Test(arguments: [
        ("https://a.example/{z}/{x}/{y}.PNG?key=a.webp", TileFormat.png), ("14/1/2.jpeg", .jpeg), ("x.mvt#y", .mvt),
    ])
    func thePathOfAnAddressEndsInItsFormat(address: String, format: TileFormat) {
        #expect(TileFormat(ofAddress: address) == format)
    }

    @Test(arguments: ["https://a.example/{z}/{x}/{y}", "a.png/1", "", ".", "a.mbvt", "a.image/png"])
    func otherAddressesNameNone(address: String) { #expect(TileFormat(ofAddress: address) == nil) }
}
