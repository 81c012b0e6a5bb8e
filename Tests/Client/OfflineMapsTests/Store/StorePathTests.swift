import Foundation
import StyleFormat
import Testing
import Tiles

@testable import OfflineMaps

/// Paths from unit files and style packs.
struct StorePathTests {
    @Test(arguments: ["../\u{301}x", "a/..", "a//b", "..", "./x", ""])
    func aPathThatLeavesItsFolderIsRefused(_ path: String) {
        #expect(StoreFolder(URL(filePath: "/store")).file(path) == nil)
        #expect(!PackPath.isInside(path))
    }

    @Test func aSlashWithACombiningMarkEndsAPart() throws {
        #expect("../\u{301}x//y".partsBetweenSlashes() == ["..", "\u{301}x", "", "y"])
        #expect("/a/\u{301}b/".partsBetweenSlashes(omittingEmpty: true) == ["a", "\u{301}b"])
        #expect("a/\u{301}b/c".partsBetweenSlashes(maxSplits: 1) == ["a", "\u{301}b/c"])
        let address = try #require(URL(string: "https://a.example.com/%CC%81x"))
        #expect(ServedAddress("https/a.example.com/%CC%81x") == .original(address))
        #expect(ServedAddress("tiles/\u{301}x/0/0/0") == .tile(tileset: "\u{301}x", .root))
        #expect(
            ResourceRequest.Kind(guessing: try #require(URL(string: "https://a.example.com/%CC%81x/1/2/3"))) == .tile)
        let reference = try URLReference.resolve("b/../\u{301}x", against: "https://a.example.com/s/style.json")
        #expect(reference == "https://a.example.com/s/\u{301}x")
    }

    /// The path of a file in the store's folder, as renderers get it.
    @Test func theAddressOfAFileHasEachSlashAsASlash() throws {
        let scratch = try StoreScratch()
        var map = InstalledFile(
            .package("EE"), path: "/\u{301}maps/EE.mbtiles", bytes: 0, mask: TileMask(full: 0), tileset: "demo")
        map.template = "https://t.example.com/{z}/{x}/{y}.pbf"
        let units = [try StyleScratch(scratch).unit, map]
        let resolver = try ResourceResolver(scratch.folder, units, tiles: TileReader(scratch.folder, []))
        let style = JSONReading(try resolver.style("streets", .files(of: .package("EE"))))
        #expect(map.isOutside && style["sources"]["map"]["url"].text == "mbtiles:///%CC%81maps/EE.mbtiles")
    }

    @Test func aPathInsideIsAccepted() {
        #expect(StoreFolder(URL(filePath: "/store")).file("units/a/EE.mbtiles")?.path == "/store/units/a/EE.mbtiles")
        #expect(PackPath.isInside("glyphs/a/0-255.pbf"))
    }
}
