import Digests
import Files
import Foundation
import GRDB
import PackageFiles
import Packages
import StyleFormat
import TestSupport
import Testing
import TileBodies
import Tiles

@testable import OfflineMaps

/// Files of the device, taken into a store: what they are, that they are read, and what is refused.
@Suite(.timeLimit(.minutes(15)))
struct AdoptTests {
    private let site: StoreSite
    private let map: TestMap
    private let home: URL

    init() throws {
        site = try StoreSite()
        map = try TestMap((7, 72, 37), depth: 2)
        home = site.scratch.url.appending(path: "device")
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    }

    private func store(_ edit: (inout StoreOptions) -> Void = { _ in }) async throws -> MapStore {
        try await site.store {
            $0.catalog = nil
            edit(&$0)
        }
    }

    private func package(_ name: String = "EE.mbtiles", text: String = "EE 1") throws -> URL {
        let file = home.appending(path: name)
        try map.write(to: file, text: text)
        return file
    }

    private func digest(_ file: URL) throws -> Digests.Digest { try Digests.Digest.ofFile(file).digest }

    // MARK: - Kinds and ways

    @Test(arguments: [Adoption.copy, .move, .link]) func aPackageIsAdopted(_ way: Adoption) async throws {
        let store = try await store()
        let file = try package()
        let before = try digest(file)
        #expect(try await store.adopt(file, by: way) == [.package("EE")])
        #expect(try store.shows("EE 1", map))
        #expect(try await store.installed().map(\.item) == [.package("EE")])
        #expect(FileManager.default.fileExists(atPath: file.path) == (way != .move))
        if way != .move { #expect(try digest(file) == before) }
        #expect(try await store.usage().adopted > 0 || way == .link)
        #expect(try FileManager.default.contentsOfDirectory(atPath: site.scratch.folder.parts.path).isEmpty)
        // It survives the process, and its removal leaves a file that stays where it is.
        await store.suspend()
        let again = try await self.store()
        #expect(try again.shows("EE 1", map))
        #expect(try await again.verify(deep: true).isEmpty)
        #expect(try await again.states { try await $0.remove([.package("EE")]) } == [.done])
        await again.stop()
        #expect(try !again.shows("EE 1", map))
        #expect(FileManager.default.fileExists(atPath: file.path) == (way != .move))
        #expect(try await again.usage().total == 0)
    }

    @Test func aNewerFileReplacesTheOlderAndTheSameFileChangesNothing() async throws {
        let store = try await store()
        let file = try package()
        try await store.adopt(file)
        #expect(try await store.adopt(file) == [.package("EE")])
        #expect(try await store.installed().map(\.version) == [1])
        let newer = try package("newer.mbtiles", text: "EE 2")
        let error = await #expect(throws: StoreError.self) {
            try await store.adopt(newer, as: .package("EE"), by: .move)
        }
        #expect(error?.code == .installed && FileManager.default.fileExists(atPath: newer.path))
        #expect(try store.shows("EE 1", map))
        #expect(try FileManager.default.contentsOfDirectory(atPath: site.scratch.folder.parts.path).isEmpty)
        try await store.adopt(newer, as: .package("EE"), by: .move, replacing: true)
        #expect(try store.shows("EE 2", map))
        #expect(try await store.installed().map(\.version) == [2])
        await store.stop()
        let usage = try await store.usage()
        #expect(usage.adopted == usage.total)
    }

    @Test func anArchiveOfTilesIsAdopted() async throws {
        let store = try await store()
        let file = home.appending(path: "EE.anything")
        _ = try PackageExport.write(from: try package(), format: .pmtiles, to: file)
        #expect(try await store.adopt(file, as: .package("LV")) == [.package("LV", Edition(), .pmtiles)])
        #expect(try store.shows("EE 1", map))
        let row = try #require(try await store.worker.view().rows.files.values.first)
        #expect(row.mask == map.mask && row.zooms == map.zooms)
    }

    @Test func aDatabaseOfMapLibreBringsItsRegions() async throws {
        let file = home.appending(path: "cache.db")
        try mapLibre(file)
        let store = try await store()
        let items = try await store.adopt(file)
        let region = RegionID("cache/1")
        #expect(items == [.package("cache", Edition(), .maplibre), .region(region)])
        let info = try #require(try await store.region(region))
        #expect(info.state == .complete && info.context == Data("mine".utf8))
        #expect(info.definition.zooms == ZoomRange(min: 0, max: 5) && info.definition.pixelRatio == 2)
        let tile = try #require(URL(string: "https://t.example.com/1/0/0.png"))
        #expect(try store.resources.resource(tile)?.body == Data([0x89, 0x50, 0x4E, 0x47, 1]))
        // It is complete: a load sends no request.
        #expect(try await store.states { [try await $0.load(region)] } == [.done])
        // The region holds the file: it stays when the package is removed.
        #expect(try await store.states { try await $0.remove([items[0]]) } == [.done])
        #expect(try store.resources.resource(tile) != nil)
        #expect(try await store.states { try await $0.remove([.region(region)]) } == [.done])
        #expect(try store.resources.resource(tile) == nil)
    }

    @Test func anArchiveOfAStyleIsAdopted() async throws {
        let store = try await store()
        let zip = home.appending(path: "streets.zip")
        let pack = home.appending(path: "pack")
        try stylePack(pack)
        try StoredZip.write(try StylePack(pack).files, of: pack, to: zip)
        #expect(try await store.adopt(zip) == [.style("streets")])
        let installed = try #require(try await store.installed().first)
        #expect(installed.bytes > UInt64(try Data(contentsOf: zip).count))
        #expect(try await store.agreesWithTheDisk())
        #expect(try await store.verify(deep: true).isEmpty)
        // A row that counts the archive alone is corrected.
        var file = try #require(installed.files.first)
        file.bytes = 1
        let wrong = file
        try await store.worker.change { try $0.apply([.file(wrong)]) }
        await store.suspend()
        try await store.start()
        #expect(try await store.agreesWithTheDisk())
        let address = try #require(URL(string: "https://m.example.com/style.json"))
        #expect(try store.resources.resource(address)?.mediaType == "application/json")
    }

    // MARK: - Refusals

    @Test func wrongFilesAreNamedAndChangeNothing() async throws {
        let store = try await store()
        let other = home.appending(path: "other.db")
        try await DatabaseQueue(path: other.path).write { try $0.execute(sql: "CREATE TABLE x (y)") }
        let old = home.appending(path: "old.db")
        try mapLibre(old, version: 5)
        let slow = home.appending(path: "slow.mbtiles")
        try await DatabaseQueue(path: slow.path).write { database in
            try database.execute(
                sql: """
                    CREATE TABLE metadata (name TEXT, value TEXT);
                    CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB);
                    INSERT INTO tiles VALUES (0, 0, 0, x'1f8b')
                    """)
        }
        let good = try Data(contentsOf: try package())
        for (name, bytes, words) in [
            ("a.png", Data([0x89, 0x50, 0x4E, 0x47, 13, 10]), "a PNG image"), ("empty", Data(), "an empty file"),
            ("page", Data("<html>".utf8), "a web page"), ("a.json", Data("{\"type\":1}".utf8), "a JSON document"),
            ("a.pmtiles", Data("PMTiles".utf8 + [2, 0, 0]), "of another version than 3"),
            ("b.pmtiles", Data("PMTiles".utf8 + [3, 0, 0]), "is truncated: it has 10 bytes"),
            ("a.gz", Data([0x1F, 0x8B, 8, 0]), "a gzip file"),
            ("a.zip", Data([0x50, 0x4B, 3, 4, 0]), "no archive of a style"),
            ("cut.mbtiles", good.prefix(good.count / 2), "cut.mbtiles"),
            ("noise", Data([1, 2, 3, 4]), "of an unknown kind"),
        ] as [(String, Data, String)] {
            let file = home.appending(path: name)
            try bytes.write(to: file)
            let error = await #expect(throws: StoreError.self, "\(name)") { try await store.adopt(file) }
            #expect(error?.code == .badFile && error?.message.contains(words) == true, "\(name): \(error as Any)")
        }
        for (file, words) in [
            (other, "that has no tiles"), (old, "the schema version 5"), (slow, "read"),
            (home, "is a folder."), (home.appending(path: "missing"), "does not exist"),
        ] {
            let error = await #expect(throws: StoreError.self) { try await store.adopt(file) }
            #expect(error?.code == .badFile && error?.message.contains(words) == true, "\(error as Any)")
        }
        for item in [Item.style("x"), .packs("x"), .region("x"), .package("x", Edition(), .pmtiles)] {
            let error = await #expect(throws: StoreError.self) {
                try await store.adopt(home.appending(path: "EE.mbtiles"), as: item)
            }
            #expect(error?.code == .invalidArguments)
        }
        #expect(try await store.installed().isEmpty)
        #expect(try await store.usage().total == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: site.scratch.folder.parts.path).isEmpty)
    }

    @Test func aFileBeyondTheQuotaIsRefusedAndStaysWhereItIs() async throws {
        let store = try await store { $0.quota.bytes = 1_000 }
        let file = try package()
        let error = await #expect(throws: StoreError.self) { try await store.adopt(file, by: .move) }
        #expect(error?.code == .limit)
        #expect(FileManager.default.fileExists(atPath: file.path))
        #expect(try await store.installed().isEmpty)
        await store.stop()
        #expect(try await store.usage().total == 0)
        // A file that stays where it is does not count.
        try await store.adopt(file, by: .link)
        #expect(try store.shows("EE 1", map))
    }

    // MARK: - Files

    private func mapLibre(_ file: URL, version: Int = 6) throws {
        let definition = """
            {"style_url":"https://m.example.com/style.json","bounds":[-10.0,-20.0,10.0,20.0],"min_zoom":0.0,
            "max_zoom":5.5,"pixel_ratio":2.0,"include_ideographs":false}
            """
        let queue = try DatabaseQueue(path: file.path)
        try queue.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE resources (id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, kind INTEGER NOT NULL,
                    expires INTEGER, modified INTEGER, etag TEXT, data BLOB, compressed INTEGER NOT NULL DEFAULT 0,
                    accessed INTEGER NOT NULL, must_revalidate INTEGER NOT NULL DEFAULT 0);
                    CREATE TABLE tiles (id INTEGER PRIMARY KEY, url_template TEXT NOT NULL, pixel_ratio INTEGER NOT NULL,
                    z INTEGER NOT NULL, x INTEGER NOT NULL, y INTEGER NOT NULL, expires INTEGER, modified INTEGER,
                    etag TEXT, data BLOB, compressed INTEGER NOT NULL DEFAULT 0, accessed INTEGER NOT NULL,
                    must_revalidate INTEGER NOT NULL DEFAULT 0, UNIQUE (url_template, pixel_ratio, z, x, y));
                    CREATE TABLE regions (id INTEGER PRIMARY KEY, definition TEXT NOT NULL, description BLOB);
                    CREATE TABLE region_tiles (region_id INTEGER, tile_id INTEGER);
                    CREATE TABLE region_resources (region_id INTEGER, resource_id INTEGER);
                    PRAGMA user_version = \(version)
                    """)
            try database.execute(
                sql: """
                    INSERT INTO tiles (url_template, pixel_ratio, z, x, y, data, accessed)
                    VALUES ('https://t.example.com/{z}/{x}/{y}.png', 1, 1, 0, 0, x'89504e4701', 0)
                    """)
            try database.execute(
                sql: "INSERT INTO regions (definition, description) VALUES (?, ?), ('no JSON', NULL)",
                arguments: [definition, Data("mine".utf8)])
        }
        try queue.close()
    }

    private func stylePack(_ folder: URL) throws {
        let style = Array(#"{"version":8,"sources":{},"layers":[]}"#.utf8)
        let entry = StylePackIndex.Entry(
            url: "https://m.example.com/style.json", kind: .style, path: "style.original.json",
            size: UInt64(style.count), sha256: Digest(of: style).hex, etag: nil, modified: nil)
        let index = StylePackIndex(
            name: "S", style: entry.url, choice: StyleChoice(), rewritten: Digest(of: style), entries: [entry])
        try PackFile.write(style, to: folder.appending(path: "style.original.json"))
        try PackFile.write(style, to: folder.appending(path: "style.json"))
        try PackFile.write(try index.encoded(), to: folder.appending(path: "style-pack.json"))
    }
}
