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
