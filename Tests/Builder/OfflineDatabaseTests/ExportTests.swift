import Errors
import Foundation
import GRDB
import PackageFiles
import Packages
import TestSupport
import Testing
import TileBodies
import Tiles

@testable import OfflineDatabase

/// What is in a database that was written.
@Suite(.timeLimit(.minutes(15)))
struct ExportTests {
    @Test func theFileIsWhatClientsOpen() async throws {
        let fixture = try await Fixture()
        let (url, receipt) = try fixture.export([try fixture.package("a.mbtiles", Fixture.square)])
        #expect(receipt.format == .maplibre && receipt.tiles == UInt64(Fixture.square.count))
        let head = [UInt8](try Data(contentsOf: url).prefix(100))
        #expect(head[18] == 1 && head[19] == 1)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: fixture.scratch.folder.path).sorted() == [
                "a.mbtiles", "out.maplibre.db", "style",
            ])
        try query(url) { (database) throws in
            #expect(try Int.fetchOne(database, sql: "PRAGMA user_version") == 6)
            #expect(try Int.fetchOne(database, sql: "PRAGMA auto_vacuum") == 2)
            #expect(try Int.fetchOne(database, sql: "PRAGMA freelist_count") == 0)
            #expect(try String.fetchOne(database, sql: "PRAGMA journal_mode") == "delete")
            let kinds = try Row.fetchAll(
                database, sql: "SELECT kind, count(*) FROM resources GROUP BY kind ORDER BY kind")
            #expect(kinds.map { [$0[0] as Int, $0[1] as Int] } == [[1, 1], [2, 1], [4, 131], [5, 2], [6, 2]])
            #expect(
                try Int.fetchOne(
                    database, sql: "SELECT count(*) FROM resources WHERE must_revalidate OR expires <> 4000000000") == 0
            )
        }
        let report = try OfflineDatabaseVerify.run(url)
        #expect(report.problems.isEmpty && report.seal == .valid, "\(report.problems)")
        #expect(report.tilesPerZoom.map(\.tiles) == [1, 1, 1, 1, 1, 4, 9])
    }

    @Test func theSameInputMakesTheSameBytes() async throws {
        let fixture = try await Fixture()
        let package = try fixture.package("a.mbtiles", Fixture.square)
        let (first, receipt) = try fixture.export([package], to: "1.db")
        let (second, again) = try fixture.export([package], to: "2.db")
        #expect(try Data(contentsOf: first) == Data(contentsOf: second) && receipt == again)
        #expect { try fixture.export([package], to: "1.db") } throws: { ($0 as? PackagesError)?.code == .exists }
    }

    /// Rows are counted from the north, unless the source itself counts from the south.
    @Test(arguments: [false, true])
    func tilesAreWhereClientsLookForThem(isTMS: Bool) async throws {
        let fixture = try await Fixture(tileJSON: #""maxzoom": 6"# + (isTMS ? #", "scheme": "tms""# : ""))
        let (url, _) = try fixture.export([try fixture.package("a.mbtiles", Fixture.square)])
        try query(url) { (database) throws in
            let rows = try Row.fetchAll(
                database, sql: "SELECT url_template, pixel_ratio, z, x, y, data, compressed FROM tiles")
            #expect(rows.count == Fixture.square.count)
            for row in rows {
                #expect(row[0] == "\(fixture.address)/t/{z}/{x}/{y}.pbf" && row[1] == 1)
                let (zoom, x, y): (Int, Int, Int) = (row[2], row[3], row[4])
                let tile = try #require(isTMS ? TileID(zoom: zoom, x: x, tmsY: y) : TileID(zoom: zoom, x: x, y: y))
                let data = [UInt8](row[5] as Data)
                let body = row[6] == 1 ? try Zlib.decompress(data) : data
                #expect(body == vectorTile("tile \(tile)"))
            }
        }
    }

    @Test func bodiesArePackedOnlyWhereThatIsSmaller() async throws {
        let fixture = try await Fixture()
        let long = String(repeating: "word ", count: 24)
        let (url, _) = try fixture.export([
            try fixture.package("a.mbtiles", Fixture.square) {
                // Raw and gzip tiles are both found in MBTiles files.
                $0.zoom == 6 ? vectorTile(long) : Gzip.compress(vectorTile("x"))
            }
        ])
        try query(url) { (database) throws in
            #expect(
                try Int.fetchOne(database, sql: "SELECT count(*) FROM tiles WHERE compressed = (z = 6)")
                    == Fixture.square.count)
            let packed = try #require(try Data.fetchOne(database, sql: "SELECT data FROM tiles WHERE z = 6"))
            #expect(packed.starts(with: [0x78, 0x9C]))
        }
    }

    @Test func resourcesHaveTheClientsKeys() async throws {
        let fixture = try await Fixture()
        let (url, _) = try fixture.export([try fixture.package("a.mbtiles", Fixture.square)])
        try query(url) { (database) throws in
            func body(_ path: String) throws -> [UInt8]? {
                guard
                    let row = try Row.fetchOne(
                        database, sql: "SELECT data, compressed FROM resources WHERE url = ?",
                        arguments: [fixture.address + path])
                else { throw TileIsMissing() }
                guard let data = Data.fromDatabaseValue(row[0]) else { return nil }
                return row[1] == 1 ? try Zlib.decompress([UInt8](data)) : [UInt8](data)
            }
            // References that the style writes relatively are absolute here: clients take them as they are.
            let style = try #require(try body("/style.json"))
            #expect(String(decoding: style, as: UTF8.self).contains("\"\(fixture.address)/f/{fontstack}/{range}.pbf\""))
            #expect(
                String(decoding: try #require(try body("/map.json")), as: UTF8.self).contains(
                    "\"\(fixture.address)/t/{z}"))
            #expect(try body("/f/A%20B%2cC/0-255.pbf") == Fixture.glyphs)
            #expect(try body("/f/A%20B%2cC/512-767.pbf") == nil)
            // No sheet for dense screens: the plain one is enlarged.
            #expect(try body("/sprite@2x.json") == Array(#"{"dot": {"x": 0}}"#.utf8))
            #expect(try body("/sprite@2x.png") == pixel)
            let row = try #require(try Row.fetchOne(database, sql: "SELECT etag FROM resources WHERE kind = 1"))
            #expect(row[0] == "\"style\"")
            let changed = try Int.fetchAll(database, sql: "SELECT DISTINCT modified FROM resources ORDER BY 1")
            #expect(changed == [1_577_836_800, 1_704_067_200])
        }
    }

    private struct TileIsMissing: Error {}

    @Test func datesAndExpiryAreAsAskedFor() async throws {
        let fixture = try await Fixture()
        let (url, _) = try fixture.export([try fixture.package("a.mbtiles", Fixture.square)]) {
            $0.modified = 1_800_000_000
            $0.expiresAfter = 86_400
            $0.description = Array("mine".utf8)
            $0.styleURL = "app://style"
        }
        try query(url) { (database) throws in
            for table in ["tiles", "resources"] {
                #expect(
                    try Int.fetchOne(
                        database,
                        sql: "SELECT count(*) FROM \(table) WHERE modified <> 1800000000 OR expires <> 1800086400") == 0
                )
            }
            #expect(try Data.fetchOne(database, sql: "SELECT description FROM regions") == Data("mine".utf8))
            #expect(try String.fetchOne(database, sql: "SELECT url FROM resources WHERE kind = 1") == "app://style")
        }
        #expect(try OfflineDatabaseVerify.run(url).isVerified)
        #expect {
            try fixture.export([fixture.scratch.url("a.mbtiles")], to: "b.db") { $0.modified = 0 }
        } throws: { ($0 as? PackagesError)?.code == .badSpec }
    }

    /// Rasters of 256 pixels lie one zoom deeper than the map's.
    @Test func severalSourcesShareARegion() async throws {
        let fixture = try await Fixture(
            tileJSON: #""maxzoom": 6"#,
            sources:
                #", "hill": {"type": "raster", "tiles": ["http://h/{z}/{x}/{y}.png"], "tileSize": 256, "maxzoom": 7}"#,
            layers: #", {"id": "h", "type": "raster", "source": "hill"}"#)
        let vector = try fixture.package("a.mbtiles", Fixture.square)
        let hills = Fixture.tiles(7, (64...69).flatMap { x in (40...45).map { (x, $0) } }, from: 1)
        let raster = try fixture.package("b.mbtiles", hills, format: .png)
        let (url, receipt) = try fixture.export([vector, raster])
        #expect(receipt.tiles == UInt64(Fixture.square.count + hills.count))
        let text = try #require(try query(url) { try String.fetchOne($0, sql: "SELECT definition FROM regions") })
        #expect(text.contains(#""min_zoom":0.0,"max_zoom":6.0,"#))

        #expect { try fixture.export([vector], to: "b.db") } throws: {
            let error = $0 as? PackagesError
            return error?.code == .badSource && error?.message.contains("--without hill") == true
        }
        let (alone, _) = try fixture.export([vector], to: "c.db") { $0.without = ["hill"] }
        #expect(try OfflineDatabaseVerify.run(alone).isVerified)
        let style = try query(alone) { try Data.fetchOne($0, sql: "SELECT data FROM resources WHERE kind = 1") }
        #expect(!String(decoding: try Zlib.decompress([UInt8](try #require(style))), as: UTF8.self).contains("hill"))
        #expect { try fixture.export([raster, raster], to: "d.db") } throws: {
            ($0 as? PackagesError)?.code == .badSource
        }
    }

    @Test func damagedSourcesAreRefused() async throws {
        let fixture = try await Fixture()
        let broken = try fixture.package("a.mbtiles", Fixture.square) { _ in
            Array(Gzip.compress(vectorTile("x")).dropLast(3))
        }
        let wrong = try fixture.package("b.mbtiles", Fixture.square) { _ in Array("<html>".utf8) }
        for (file, code) in [(broken, PackagesError.Code.badSource), (wrong, .verificationFailed)] {
            #expect { try fixture.export([file]) } throws: { ($0 as? PackagesError)?.code == code }
        }
        try Data("x".utf8).write(to: fixture.scratch.url("style/sources/map.json"))
        let good = try fixture.package("c.mbtiles", Fixture.square)
        #expect(throws: (any Error).self) { try fixture.export([good]) }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: fixture.scratch.folder.path).sorted()
                == ["a.mbtiles", "b.mbtiles", "c.mbtiles", "style"])
    }
}
