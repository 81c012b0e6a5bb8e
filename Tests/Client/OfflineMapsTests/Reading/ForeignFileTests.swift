import Foundation
import GRDB
import PackageFiles
import Testing
import TileBodies
import Tiles

@testable import OfflineMaps

/// Packs that are filled tile by tile, and databases of MapLibre Native.
struct ForeignFileTests {
    private let scratch: StoreScratch
    private static let template = "https://t.example.com/{z}/{x}/{y}{ratio}.png?key=1"
    private static let png = Data([0x89, 0x50, 0x4E, 0x47, 1, 2, 3])

    init() throws { scratch = try StoreScratch() }

    private func name(_ answer: TileAnswer) -> String {
        switch answer {
        case .found(let tile): "\(tile.body.count) \(tile.coding) \(tile.mediaType) \(tile.isStale ? "stale" : "fresh")"
        case .empty: "empty"
        case .absent: "absent"
        }
    }

    private func tile(_ zoom: Int, _ column: Int, _ row: Int) throws -> TileID {
        try #require(TileID(zoom: zoom, x: column, y: row))
    }

    // MARK: - Filled packs

    @Test func aFilledPackKnowsWhatTheServerSaid() throws {
        var unit = try scratch.unit("EE")
        let file = scratch.url.appending(path: "filled.mbtiles")
        let (late, early) = (Int64(4_000_000_000), Int64(1_000))
        try FilledPack.put(
            .root, FilledPack.Known(status: 200, etag: "a", expires: late), body: Self.png, into: file)
        try FilledPack.put(
            try tile(1, 1, 0), FilledPack.Known(status: 200, expires: early), body: Self.png, into: file)
        try FilledPack.put(try tile(2, 2, 1), FilledPack.Known(status: 204, expires: late), body: nil, into: file)
        try FilledPack.finish(
            file, keeping: try #require(unit.mask), name: "demo", format: "png", attribution: nil)
        (unit.path, unit.format) = ("filled.mbtiles", .mbtiles)
        let reader = TileReader(scratch.folder, [unit])
        #expect(name(try reader.tile(.root)) == "7 plain image/png fresh")
        #expect(name(try reader.tile(try tile(1, 1, 0))) == "7 plain image/png stale")
        #expect(name(try reader.tile(try tile(2, 2, 1))) == "empty")
        // The mask has it, and the server was not asked or failed.
        #expect(name(try reader.tile(try tile(7, 72, 37))) == "absent")
        #expect(reader.status(try tile(7, 72, 37)) == .full)
        // A package that is complete answers in its place.
        let whole = try scratch.unit("LV", cell: (6, 36, 18), depth: 3)
        reader.replace([unit, whole])
        #expect(name(try reader.tile(try tile(7, 72, 37))).contains("vector-tile"))
    }

    // MARK: - Databases of MapLibre

    private func database(_ more: String = "") throws -> InstalledFile {
        let file = scratch.url.appending(path: "cache.db")
        let queue = try DatabaseQueue(path: file.path)
        let packed = Data(Zlib.compress(Array("{\"version\":8}".utf8)))
        try queue.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE resources (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, url TEXT NOT NULL UNIQUE,
                    kind INTEGER NOT NULL, expires INTEGER, modified INTEGER, etag TEXT, data BLOB,
                    compressed INTEGER NOT NULL DEFAULT 0, accessed INTEGER NOT NULL,
                    must_revalidate INTEGER NOT NULL DEFAULT 0);
                    CREATE TABLE tiles (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, url_template TEXT NOT NULL,
                    pixel_ratio INTEGER NOT NULL, z INTEGER NOT NULL, x INTEGER NOT NULL, y INTEGER NOT NULL,
                    expires INTEGER, modified INTEGER, etag TEXT, data BLOB, compressed INTEGER NOT NULL DEFAULT 0,
                    accessed INTEGER NOT NULL, must_revalidate INTEGER NOT NULL DEFAULT 0,
                    UNIQUE (url_template, pixel_ratio, z, x, y));
                    PRAGMA user_version = 6
                    """)
            for row in [
                (Self.template, 1, 0, 0, 0, 4_000_000_000, Self.png, 0),
                (Self.template, 2, 1, 0, 0, 1_000, Self.png, 0),
                (Self.template, 1, 1, 1, 0, 4_000_000_000, nil, 0),
                ("https://v.example.com/{z}/{x}/{y}.pbf", 1, 2, 0, 0, 4_000_000_000, packed, 1),
            ] as [(String, Int, Int, Int, Int, Int, Data?, Int)] {
                try database.execute(
                    sql: """
                        INSERT INTO tiles (url_template, pixel_ratio, z, x, y, expires, data, compressed, accessed)
                        VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)
                        """, arguments: [row.0, row.1, row.2, row.3, row.4, row.5, row.6, row.7])
            }
            for row in [
                ("https://m.example.com/style.json", 1, packed, 1), ("https://m.example.com/f/0-255.pbf", 4, nil, 0),
            ] as [(String, Int, Data?, Int)] {
                try database.execute(
                    sql: """
                        INSERT INTO resources (url, kind, etag, data, compressed, accessed) VALUES (?, ?, 'e', ?, ?, 0)
                        """, arguments: [row.0, row.1, row.2, row.3])
            }
            try database.execute(sql: more)
        }
        try queue.close()
        return InstalledFile(
            .package("adopted"), path: "cache.db", format: .maplibre, mask: TileMask(full: 2))
    }

    @Test func tilesOfADatabaseAreReadAsTheyAre() throws {
        var unit = try database()
        let reader = TileReader(scratch.folder, [unit])
        #expect(name(try reader.tile(.root)) == "7 plain image/png fresh")
        #expect(name(try reader.tile(try tile(1, 0, 0))) == "7 plain image/png stale")
        #expect(name(try reader.tile(try tile(1, 1, 0))) == "empty")
        #expect(name(try reader.tile(try tile(2, 3, 3))) == "absent")
        guard case .found(let vector) = try reader.tile(try tile(2, 0, 0)) else {
            Issue.record("the vector tile is not found")
            return
        }
        #expect(vector.coding == .zlib && vector.mediaType == "application/vnd.mapbox-vector-tile")
        #expect(try BodyCoding.deflate.unpack([UInt8](vector.body), limit: 100) == Array("{\"version\":8}".utf8))
        // The unit may name the only address to read.
        unit.template = Self.template
        reader.replace([unit])
        #expect(name(try reader.tile(try tile(2, 0, 0))) == "absent")
        #expect(reader.status(try tile(2, 0, 0)) == .full && reader.status(.root) == .full)
    }

    @Test func resourcesOfADatabaseAreFoundByTheirAddresses() throws {
        let unit = try database()
        let resolver = try ResourceResolver(scratch.folder, [unit], tiles: TileReader(scratch.folder, [unit]))
        func get(_ address: String) throws -> Resource? { try resolver.resource(try #require(URL(string: address))) }
        let style = try #require(try get("https://m.example.com/style.json"))
        #expect(style.body == Data("{\"version\":8}".utf8) && style.coding == .plain && style.etag == "e")
        #expect(style.mediaType == "application/json" && !style.isEmpty)
        #expect(try get("https://m.example.com/f/0-255.pbf")?.isEmpty == true)
        #expect(try get("https://m.example.com/f/256-511.pbf") == nil)
        #expect(try get("https://t.example.com/0/0/0.png?key=1")?.body == Self.png)
        #expect(try get("https://t.example.com/1/0/0@2x.png?key=1")?.isStale == true)
        #expect(try get("https://t.example.com/1/0/0.png?key=1") == nil)
        #expect(try get("https://t.example.com/1/1/0.png?key=1")?.isEmpty == true)
    }

    @Test(arguments: [
        "DROP TABLE resources",
        "DROP TABLE tiles; CREATE TABLE tiles (url_template, pixel_ratio, z, x, y, data, compressed, expires)",
    ])
    func otherDatabasesAreRefused(_ change: String) throws {
        let unit = try database(change)
        let reader = TileReader(scratch.folder, [unit])
        let error = #expect(throws: StoreError.self) { try reader.tile(.root) }
        #expect(error?.code == .damaged)
        if case .absent = reader.resource("https://m.example.com/style.json") {} else { Issue.record("found") }
    }

    @Test func aLinkedFileMayBeWrittenByAnotherProgram() throws {
        var unit = try database()
        unit.path = scratch.url.appending(path: "cache.db").path
        let reader = TileReader(scratch.folder, [unit])
        #expect(name(try reader.tile(try tile(2, 3, 3))) == "absent")
        let queue = try DatabaseQueue(path: unit.path)
        try queue.write { database in
            try database.execute(
                sql:
                    "INSERT INTO tiles (url_template, pixel_ratio, z, x, y, data, accessed) VALUES (?, 1, 2, 3, 3, ?, 0)",
                arguments: [Self.template, Self.png])
        }
        #expect(name(try reader.tile(try tile(2, 3, 3))) == "7 plain image/png fresh")
    }
}
