import Errors
import Foundation
import Testing
import TileBodies
import Tiles

@testable import Tilesets

/// Tile URLs as other programs write them.
struct TemplateSpellingTests {
    private static func file(_ url: String, more: String = "format: png") throws -> TilesetFile {
        try TilesetFile(
            text: "url: \"\(url)\"\n\(more)", name: "t", folder: URL(fileURLWithPath: "/"))
    }

    /// The URL, what tile 3/2/1 is asked as, and a part of the note; no note where the spelling is one of ours.
    @Test(arguments: [
        ("http://10.0.0.1/{z}/{x}/{y}{r}.png", "http://10.0.0.1/3/2/1.png", ""),
        ("http://10.0.0.1/{z}/{x}/{y}{ratio}.png", "http://10.0.0.1/3/2/1.png", ""),
        ("http://10.0.0.1/{quadkey}.png", "http://10.0.0.1/012.png", ""),
        ("http://10.0.0.1/{prefix}/{z}/{x}/{y}.png", "http://10.0.0.1/21/3/2/1.png", ""),
        ("http://10.0.0.1/{zoom}/{x}/{y}.png", "http://10.0.0.1/3/2/1.png", "{zoom} as {z}"),
        ("http://10.0.0.1/${z}/${x}/${y}.png", "http://10.0.0.1/3/2/1.png", "${z} as {z}"),
        ("http://10.0.0.1/{$z}/{$x}/{$y}.png", "http://10.0.0.1/3/2/1.png", "{$z} as {z}"),
        ("http://10.0.0.1/{0}/{1}/{2}.png", "http://10.0.0.1/3/2/1.png", "{0} as {z}"),
        ("http://10.0.0.1/{zoom}/{x}/{!y}.png", "http://10.0.0.1/3/2/6.png", "{!y} as {-y}"),
        ("http://{switch:a,b}.localhost/{z}/{x}/{y}.png", "http://b.localhost/3/2/1.png", "as {s}"),
        ("http://{a-c}.localhost/{z}/{x}/{y}.png", "http://a.localhost/3/2/1.png", "{a-c} as {s}"),
        ("http://t{0-3}.localhost/{z}/{x}/{y}.png", "http://t3.localhost/3/2/1.png", "{0-3} as {s}"),
        ("http://10.0.0.1/{TileMatrix}/{TileRow}/{TileCol}.png", "http://10.0.0.1/3/1/2.png", "{TileMatrix} as {z}"),
        (
            "http://10.0.0.1/MapServer/tile/{level}/{row}/{col}", "http://10.0.0.1/MapServer/tile/3/1/2",
            "{level} as {z}"
        ),
        ("http://10.0.0.1/MapServer/tile/{z}/{y}/{x}", "http://10.0.0.1/MapServer/tile/3/1/2", ""),
        ("http://10.0.0.1/%7Bzoom%7D/%7Bx%7D/%7by%7d.png", "http://10.0.0.1/3/2/1.png", "{zoom} as {z}"),
        ("tms[2,19]:http://10.0.0.1/{zoom}/{x}/{y}.png", "http://10.0.0.1/3/2/1.png", "without 'tms[2,19]:'"),
        ("http://10.0.0.1/{z:2=a,b,c}/{x}/{y}.png", "http://10.0.0.1/b/2/1.png", ""),
    ])
    func aSpellingIsUnderstood(url: String, asked: String, note: String) throws {
        let file = try Self.file(url)
        let tileset = try file.resolved()
        let tile = try #require(TileID(zoom: 3, x: 2, y: 1))
        #expect(try tileset.templates().map { $0.expand(tile) } == [asked])
        #expect(note.isEmpty ? file.notes.isEmpty : file.notes.contains { $0.contains(note) }, "\(file.notes)")
        // Workers read the same.
        #expect(try Tileset(canonicalJSON: tileset.canonicalJSON).templates().map { $0.expand(tile) } == [asked])
        #expect(tileset.originName != nil && tileset.originName?.contains("{") == false)
    }

    @Test func anAddressOfJOSMIsAnAddress() throws {
        #expect(SourceScheme.isAddress("tms:https://tiles.example.org/{zoom}/{x}/{y}.png"))
        #expect(!SourceScheme.isAddress("maps:http") && !SourceScheme.isAddress("tms"))
        #expect(
            try TilesetFile(
                source: "wms:http://localhost/w?request=GetMap&layers=a&format=image/png&srs={proj}&bbox={bbox}",
                folder: URL(fileURLWithPath: "/")
            ).resolved().source.address.contains("srs=EPSG:3857&bbox={bbox-epsg-3857}"))
    }

    @Test func picturesOf512PixelsAreAskedSo() throws {
        let tile = try #require(TileID(zoom: 3, x: 2, y: 1))
        let large = try Self.file("http://10.0.0.1/{z}/{x}/{y}{r}.png?{width}x{height}", more: "tile_size: 512")
            .resolved()
        #expect(try large.templates()[0].expand(tile) == "http://10.0.0.1/3/2/1@2x.png?512x512")
        let error = #expect(throws: TilesetsError.self) {
            try Self.file("http://10.0.0.1/{z}/{x}/{y}.png", more: "tile_size: 300").resolved()
        }
        #expect(error?.message.contains("256 or 512") == true)
    }

    /// One template for each of a million servers would take terabytes.
    @Test func aTileJSONWithAHugeListOfServersIsRefused() {
        let servers = Array(repeating: "a", count: 1_000_000).joined(separator: ",")
        let text = #"{"tiles":["http://{switch:\#(servers)}.localhost/{z}/{x}/{y}.png"]}"#
        let error = #expect(throws: TilesetsError.self) {
            try SourceMetadata(tileJSON: Array(text.utf8), from: "http://localhost/t.json")
        }
        #expect(error?.code == .badTemplate && error?.message.contains("too long") == true)
    }

    @Test func serversThatAreListedTwiceAreRefused() throws {
        for (url, more) in [
            ("http://{switch:a,b}.localhost/{z}/{x}/{y}.png", "subdomains: [x, y]"),
            ("http://{switch:a,b}.localhost/{switch:c,d}/{z}/{x}/{y}.png", ""),
        ] {
            let error = #expect(throws: TilesetsError.self) { try Self.file(url, more: more) }
            #expect(error?.message.contains("subdomains") == true, "\(error?.message ?? "")")
        }
        #expect(
            try Self.file("http://{switch:a,b}.localhost/{z}/{x}/{y}.png", more: "subdomains: [a, b]").resolved().source
                .subdomains == ["a", "b"])
    }

    /// Worked by hand: at zoom 3 a tile is 5,009,377.09 m wide.
    @Test func aMapServiceIsAskedForTheBox() throws {
        let short = "http://10.0.0.1/wms?request=GetMap&layers=a&format=image/png&bbox={bbox-epsg-3857}"
        let file = try Self.file(short, more: "")
        let tile = try #require(TileID(zoom: 3, x: 2, y: 1))
        let asked = try file.resolved().templates()[0].expand(tile)
        #expect(try file.resolved().format == .png)
        let query = Set(asked.drop { $0 != "?" }.dropFirst().split(separator: "&").map(String.init))
        let numbers = try #require(query.first { $0.hasPrefix("bbox=") }?.dropFirst(5)).split(separator: ",")
        let expected = [-10_018_754.171394622, 10_018_754.171394622, -5_009_377.085697311, 15_028_131.257091934]
        #expect(
            zip(numbers.compactMap { Double($0) }, expected).allSatisfy { abs($0 - $1) < 1e-6 } && numbers.count == 4)
        let added: Set = [
            "service=WMS", "version=1.1.1", "srs=EPSG:3857", "styles=", "width=256", "height=256",
            "exceptions=application/vnd.ogc.se_xml",
        ]
        #expect(query.isSuperset(of: added), "\(query)")
        #expect(file.notes.contains { $0.contains("styles=") }, "\(file.notes)")
        let root = try file.resolved().templates()[0].expand(.root)
        let world = "bbox=-20037508.342789244,-20037508.342789244,20037508.342789244,20037508.342789244"
        #expect(root.contains(world), "\(root)")
        let east = try file.resolved().templates()[0].expand(try #require(TileID(zoom: 1, x: 1, y: 0)))
        #expect(east.contains("bbox=0,0,20037508.342789244,20037508.342789244"), "\(east)")
    }

    @Test(arguments: [
        ("service=WMS&version=1.3.0&request=GetMap&layers=a&styles=&crs=EPSG:4326&format=image/png", "crs=EPSG:3857"),
        ("service=WMS&version=1.1.1&request=GetMap&layers=a&styles=&srs=EPSG%3A2056&format=image/png", "srs=EPSG:3857"),
        ("request=GetMap&format=image/png", "layers="), ("request=GetMap&layers=a", "format=image/png"),
        ("request=GetMap&layers=a&format=image/png&width=256&height=512", "squares"),
        ("bboxSR=4326&f=image&format=png", "bboxsr=3857"),
    ])
    func aMapServiceThatWouldDrawSomethingElseIsRefused(query: String, hint: String) throws {
        let error = #expect(throws: TilesetsError.self) {
            try Self.file("http://10.0.0.1/wms?\(query)&bbox={bbox-epsg-3857}", more: "")
        }
        #expect(error?.code == .badTemplate && error?.message.contains(hint) == true, "\(error?.message ?? "")")
    }

    @Test func messagesInPicturesAreTurnedOff() throws {
        let file = try Self.file(
            "http://10.0.0.1/wms?service=WMS&version=1.3.0&request=GetMap&layers=a&styles=&crs=EPSG:3857&format=image/png&width={width}&height={height}&exceptions=INIMAGE&bbox={bbox-epsg-3857}",
            more: "")
        let url = try file.resolved().templates()[0].expand(.root)
        #expect(url.contains("exceptions=XML") && !url.contains("INIMAGE"))
        #expect(file.notes.count == 1 && file.notes[0].contains("exceptions=XML"), "\(file.notes)")
    }

    @Test(arguments: ["{q}", "?b={bbox-epsg-3857}"])
    func rowsFromTheSouthNeedRows(text: String) throws {
        let error = #expect(throws: TilesetsError.self) {
            try Self.file("http://10.0.0.1/\(text)", more: "format: png\nscheme: tms").resolved()
        }
        #expect(error?.message.contains("remove scheme") == true, "\(error?.message ?? "")")
    }

    @Test func aTileJSONDocumentMayListServers() throws {
        let document = #"{"tiles":["http://{switch:a,b}.localhost/{zoom}/{x}/{y}{ratio}.png"],"maxzoom":3}"#
        let metadata = try SourceMetadata(tileJSON: Array(document.utf8), from: "http://localhost/t.json")
        #expect(
            metadata.templates == [
                "http://a.localhost/{z}/{x}/{y}{ratio}.png", "http://b.localhost/{z}/{x}/{y}{ratio}.png",
            ])
    }
}
