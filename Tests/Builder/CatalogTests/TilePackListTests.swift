import Errors
import Foundation
import Testing
import Tiles

@testable import CatalogFormat

/// The one reader and writer of `regions/<id>.json`.
struct TilePackListTests {
    private static let digest = String(repeating: "0123456789abcdef", count: 4)
    private static let pack = """
        {"index":"6/36/18","min_zoom":6,"max_zoom":10,"size":9,"sha256":"\(digest)",
         "url":"../packs/streets/6/36/18/0123456789abcdef.mbtiles"}
        """

    private static func list(_ pack: String = pack, _ members: String = #""tileset":"streets""#) -> String {
        #"{\#(members),"packs":[\#(pack)]}"#
    }

    private func read(_ text: String) throws(CatalogError) -> TilePackList {
        try TilePackList(decoding: Array(text.utf8), named: "de/regions/EE.json")
    }

    @Test func membersThatEarlierBuildsDidNotWriteHaveTheirDefaults() throws {
        let list = try read(Self.list())
        #expect(list.format == "mbtiles" && list.id == nil && list.bands == nil && list.package == nil)
        #expect(list.packsPerDevice == 750 && list.size == 9)
        let pack = try #require(list.packs.first)
        #expect(pack.path == "packs/streets/6/36/18/0123456789abcdef.mbtiles" && pack.url == "../" + pack.path)
        #expect(pack.index == TileID("6/36/18") && pack.zooms == ZoomRange(min: 6, max: 10))
        #expect(pack.tiles == 0 && !pack.isComplete)
    }

    /// The bytes of published lists must not change.
    @Test func aListIsWrittenAsItAlwaysWas() throws {
        let pack = TilePackList.Pack(
            index: .root, zooms: try #require(ZoomRange(min: 0, max: 5)), tiles: 3, size: 9, sha256: Self.digest,
            path: "packs/demo/0/0/0/0123456789abcdef.mbtiles", isComplete: true)
        let list = TilePackList(
            id: "EE", tileset: "demo", bands: "0-5@0", format: "mbtiles", package: Self.digest, packs: [pack])
        let text = """
            {
              "bands" : "0-5@0",
              "format" : "mbtiles",
              "id" : "EE",
              "package_sha256" : "\(Self.digest)",
              "packs" : [
                {
                  "complete" : true,
                  "index" : "0/0/0",
                  "max_zoom" : 5,
                  "min_zoom" : 0,
                  "sha256" : "\(Self.digest)",
                  "size" : 9,
                  "tiles" : 3,
                  "url" : "../packs/demo/0/0/0/0123456789abcdef.mbtiles"
                }
              ],
              "size" : 9,
              "tile_packs_per_device" : 750,
              "tileset" : "demo"
            }

            """
        #expect(String(decoding: try list.encoded(), as: UTF8.self) == text)
        #expect(try read(text) == list)
    }

    @Test(arguments: [
        "../../x", "/etc/passwd", "../regions/EE.json", "../packs/../x", "packs/x", "../packs", "../packs/",
        "../packs//x",
        "../packs/.x", "../packs/%2e%2e/x", "https://b.example/packs/x", "../packs/\u{0}", "../packs/x/\u{301}",
    ])
    func listsThatLeadElsewhereAreRefused(_ url: String) throws {
        let encoded = String(decoding: try JSONEncoder().encode([url]), as: UTF8.self).dropFirst().dropLast()
        let text = Self.list(
            Self.pack.replacing(#""../packs/streets/6/36/18/0123456789abcdef.mbtiles""#, with: encoded))
        let error = #expect(throws: CatalogError.self) { try read(text) }
        #expect(error?.code == .corrupt && error?.message.contains("leads out of the catalog's packs") == true)
    }

    @Test(arguments: [
        (#""size":9"#, #""size":0"#), (#""size":9"#, #""size":1099511627777"#),
        (#""6/36/18""#, #""6/99/18""#), (#""6/36/18""#, #""7/36/18""#), (#""6/36/18""#, #""x""#),
        (#""min_zoom":6"#, #""min_zoom":11"#), (#""max_zoom":10"#, #""max_zoom":23"#),
        (#""min_zoom":6"#, #""min_zoom":-9223372036854775808"#), (#""sha256":"0"#, #""sha256":"A"#),
        (#""sha256":"0"#, #""sha256":""#),
    ])
    func aWrongPackIsNamed(_ old: String, _ new: String) {
        let error = #expect(throws: CatalogError.self) { try read(Self.list(Self.pack.replacing(old, with: new))) }
        #expect(error?.message.contains("the pack 'packs/streets/6/36/18/0123456789abcdef.mbtiles'") == true)
    }

    @Test(arguments: [
        "", "[]", "{}", "{", #"{"tileset":"a"}"#, #"{"packs":[]}"#, #"{"tileset":"","packs":[]}"#,
        #"{"tileset":"a\u0007","packs":[]}"#, #"{"tileset":"a","packs":[],"format":"exe"}"#,
        #"{"tileset":"a","packs":[],"tile_packs_per_device":-1}"#, #"{"tileset":"a","packs":[{}]}"#,
        Self.list(Self.pack.replacing(#""size":9"#, with: #""size":-9"#)),
        Self.list(Self.pack.replacing(#""size":9"#, with: #""size":18446744073709551616"#)),
    ])
    func whatIsNoListIsRefused(_ text: String) {
        let error = #expect(throws: CatalogError.self) { try read(text) }
        #expect(
            error?.code == .corrupt
                && error?.message.contains("'de/regions/EE.json' is not a list of tile packs") == true)
    }

    @Test func aListBeyondItsLimitsIsRefused() {
        let many = Array(repeating: Self.pack, count: TilePackList.maxPacks + 1).joined(separator: ",")
        #expect(throws: CatalogError.self) { try read(Self.list(many)) }
        let long = [UInt8](repeating: 0x20, count: TilePackList.maxBytes + 1)
        #expect(throws: CatalogError.self) { try TilePackList(decoding: long, named: "regions/EE.json") }
    }
}
