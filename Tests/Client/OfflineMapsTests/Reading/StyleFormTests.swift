import Foundation
import GRDB
import Testing
import TileBodies
import Tiles

@testable import OfflineMaps

/// Styles with the addresses of a server on the device, and with those of files.
struct StyleFormTests {
    private let scratch: StoreScratch
    private let style: StyleScratch
    private let map: InstalledFile
    private let resolver: ResourceResolver

    init() throws {
        scratch = try StoreScratch()
        style = try StyleScratch(scratch)
        var map = try scratch.unit("EE")
        map.template = "https://t.example.com/{z}/{x}/{y}.pbf"
        self.map = map
        resolver = try ResourceResolver(scratch.folder, [map, style.unit], tiles: TileReader(scratch.folder, [map]))
    }

    private func served(_ resolver: ResourceResolver, _ base: String = "http://127.0.0.1:8080/maps/") throws
        -> JSONReading
    {
        JSONReading(try resolver.style("streets", .served(at: try #require(URL(string: base)))))
    }

    @Test func everyAddressOfAServedStyleIsAnswered() throws {
        #expect(resolver.styles == ["streets"])
        let read = try served(resolver)
        let base = "http://127.0.0.1:8080/maps"
        let source = read["sources"]["map"]
        #expect(source["tiles"].texts == ["\(base)/tiles/demo/{z}/{x}/{y}"] && source["url"].value == nil)
        #expect(source["minzoom"].number == 0 && source["maxzoom"].number == 9 && source["attribution"].text == "A")
        #expect(read["sources"]["hills"]["tiles"].texts == ["\(base)/https/h.example.com/{z}/{x}/{y}.png"])
        #expect(read["sources"]["hills"]["tileSize"].number == 256)
        #expect(read["glyphs"].text == "\(base)/https/maps.example.com/fonts/{fontstack}/{range}.pbf")
        #expect(read["sprite"].text == "\(base)/https/maps.example.com/sprite?key=1")
        // As clients make addresses of them.
        let asked = [
            ("tiles/demo/7/72/37", nil), ("tiles/demo/7/72/37.pbf", nil),
            ("https/maps.example.com/fonts/Open%20Sans/0-255.pbf", "glyphs"),
            ("https/maps.example.com/sprite.json?key=1", "{}"), ("https/maps.example.com/sprite.png?key=1", "png"),
            ("https/maps.example.com/points.geojson", "{}"), ("https/t.example.com/7/72/37.pbf", nil),
        ]
        let tile = Data(TestMap.body("EE 1", try #require(TileID(zoom: 7, x: 72, y: 37))))
        for (path, text) in asked {
            let found = try #require(try resolver.resource(served: path), "\(path)")
            #expect(found.body == text.map { Data($0.utf8) } ?? tile)
        }
        for path in [
            "", "/", "tiles", "tiles/demo/7/72", "tiles/demo/7/72/999", "tiles/other/7/72/37", "tiles//7/72/37",
            "ftp/x/y", "https/", "https//x",
        ] {
            #expect(try resolver.resource(served: path) == nil)
        }
    }

    /// MapLibre tiles and heights are told to the renderer, in the style and in TileJSON.
    @Test func renderersAreToldHowTilesAreRead() throws {
        let tile: [UInt8] =
            [0x15, 1, 4] + Array("land".utf8) + [0x50, 1, 4, 2, 0x30, 2, 1, 1, 0, 0x13, 0x42, 2, 2, 0x1A, 0x54]
        let file = try #require(scratch.folder.file(map.path))
        try DatabaseQueue(path: file.path).write { database in
            try database.execute(sql: "UPDATE tiles_data SET tile_data = ?", arguments: [Data(Gzip.compress(tile))])
            try database.execute(sql: "UPDATE metadata SET value = 'mlt' WHERE name = 'format'")
        }
        var hills = try scratch.unit("DEM", cell: (7, 72, 37), tileset: "hills")
        hills.template = "https://h.example.com/{z}/{x}/{y}.png"
        let dem = try #require(scratch.folder.file(hills.path))
        try DatabaseQueue(path: dem.path).write { database in
            try database.execute(
                sql: "UPDATE tiles_data SET tile_data = x'89504E470D0A1A0A'; DELETE FROM metadata WHERE name = 'json'")
            try database.execute(sql: "UPDATE metadata SET value = 'png' WHERE name = 'format'")
            try database.execute(
                sql: "INSERT INTO metadata VALUES ('encoding', 'terrarium'), ('json', '{\"tileSize\":512}')")
        }
        let both = try ResourceResolver(
            scratch.folder, [map, hills, style.unit], tiles: TileReader(scratch.folder, [map, hills]))
        let read = try served(both)["sources"]
        #expect(read["map"]["encoding"].text == "mlt")
        #expect(read["hills"]["encoding"].text == "terrarium" && read["hills"]["tileSize"].number == 512)
        let template = "http://a/{z}/{x}/{y}"
        let vector = JSONReading(try #require(both.tileJSON(of: "demo", at: template)))
        #expect(vector["encoding"].text == "mlt" && vector["tilejson"].text == "3.0.0")
        let heights = JSONReading(try #require(both.tileJSON(of: "hills", at: template)))
        #expect(heights["encoding"].text == "terrarium" && heights["tileSize"].number == 512)
        let found = try #require(try both.resource(served: "tiles/demo/7/72/37"))
        #expect(found.mediaType == "application/vnd.maplibre-tile" && found.coding == .gzip)
    }

    @Test func tilesetsAreFoundByAddressNameOrBecauseThereIsOne() throws {
        func source(_ units: [InstalledFile]) throws -> String? {
            let resolver = try ResourceResolver(
                scratch.folder, units + [style.unit], tiles: TileReader(scratch.folder, units))
            return try served(resolver, "http://h")["sources"]["map"]["tiles"].texts?.first
        }
        var (named, other) = (map, map)
        (named.template, named.tileset, named.path) = (nil, "map", "a")
        (other.template, other.tileset, other.path) = (nil, "a b/ä", "b")
        #expect(try source([other]) == "http://h/tiles/a%20b%2F%C3%A4/{z}/{x}/{y}")
        #expect(try source([other, named]) == "http://h/tiles/map/{z}/{x}/{y}")
        #expect(try source([other, map]) == "http://h/tiles/demo/{z}/{x}/{y}")
        (named.tileset, named.path) = ("third", "c")
        #expect(try source([other, named]) == "http://h/https/t.example.com/{z}/{x}/{y}.pbf")
        #expect(try source([]) == "http://h/https/t.example.com/{z}/{x}/{y}.pbf")
        #expect(ServedAddress("tiles/a%20b%2F%C3%A4/0/0/0") == .tile(tileset: "a b/ä", .root))
    }

    @Test func aStyleOfFilesNamesTodaysPaths() throws {
        let read = JSONReading(try resolver.style("https://maps.example.com/style.json", .files(of: .package("EE"))))
        let file = try #require(scratch.folder.file(map.path)).path
        let source = read["sources"]["map"]
        let address = try #require(source["url"].text)
        #expect(address.hasPrefix("mbtiles:///") && source["tiles"].value == nil && source["maxzoom"].value == nil)
        #expect(String(address.dropFirst("mbtiles://".count)).removingPercentEncoding == file)
        #expect(read["sources"]["hills"]["tiles"].texts == ["https://h.example.com/{z}/{x}/{y}.png"])
        let sprite = try #require(read["sprite"].text.flatMap { URL(string: $0 + ".json") })
        #expect(sprite.isFileURL && FileManager.default.fileExists(atPath: sprite.path))
        let glyphs = try #require(read["glyphs"].text)
        let filled = glyphs.replacing("{fontstack}", with: "Open%20Sans").replacing("{range}", with: "0-255")
        #expect(FileManager.default.fileExists(atPath: try #require(URL(string: filled)).path))
    }

    @Test func whatCannotBeGivenIsNamed() throws {
        func code(_ id: String, _ item: Item) -> StoreError.Code? {
            #expect(throws: StoreError.self) { try resolver.style(id, .files(of: item)) }?.code
        }
        #expect(code("other", .package("EE")) == .notFound)
        #expect(code("streets", .package("LV")) == .notFound)
        #expect(code("streets", .packs("EE")) == .invalidArguments)
        try Data("{".utf8).write(to: style.folder.appending(path: "style.original.json"))
        #expect(code("streets", .package("EE")) == .damaged)
    }
}
