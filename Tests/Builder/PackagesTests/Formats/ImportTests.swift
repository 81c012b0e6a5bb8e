import Errors
import Foundation
import GRDB
import PMTiles
import PackageFiles
import Packages
import TestSupport
import Testing
import TileBodies
import Tiles

struct ImportTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private func rows(_ url: URL) throws -> [String: String] {
        try DatabaseQueue(path: url.path).read { database in
            try Row.fetchAll(database, sql: "SELECT name, value FROM metadata").reduce(into: [:]) {
                $0[$1[0] as String] = $1[1] as String
            }
        }
    }

    /// Raw, packed, doubly packed and empty bodies, a box of zeros, no layers, zooms that are not there, a wrong hash.
    @Test func aCarelessFileBecomesAVerifiedOne() throws {
        let tile = vectorTile("one")
        let raw = try Gzip.decompress(vectorTile("two"))
        let file = scratch.file("careless.mbtiles")
        try foreignFile(
            file,
            [
                ["format", "pbf"], ["bounds", "0.0,0.0,0.0,0.0"], ["minzoom", "0"], ["maxzoom", "14"],
                ["agg_tiles_hash", "00"], ["attribution", "somebody"], ["scheme", "tms"],
            ], [(3, 4, 2, tile), (3, 4, 3, raw), (2, 2, 1, Gzip.compress(tile)), (3, 5, 3, [])])
        for format in PackageFormat.fromTiles {
            let target = scratch.file("out" + format.fileExtension)
            let receipt = try PackageExport.write(from: file, format: format, to: target)
            let report = try PackageVerify.run(target)
            #expect(report.isVerified && receipt.tiles == 3, "\(format): \(report.problems)")
            #expect(report.tilesPerZoom.map(\.zoom) == [2, 3])
        }
        let found = try rows(scratch.file("out.mbtiles"))
        #expect(found["minzoom"] == "2" && found["maxzoom"] == "3" && found["attribution"] == "somebody")
        // Columns 4 of 8, rows 4 and 5 from the north: east of Greenwich, south of the equator.
        #expect(found["bounds"] == "0,-66.5132604,45,0" && found["scheme"] == nil && found["name"] == "careless")
        #expect(
            found["json"]
                == #"{"vector_layers":[{"fields":{"name":"String"},"id":"land","maxzoom":3,"minzoom":2}]}"#)
    }

    private func database(_ name: String, _ sql: String) throws -> URL {
        let file = scratch.file(name)
        try DatabaseQueue(path: file.path).write {
            try $0.execute(
                sql: "CREATE TABLE metadata (name TEXT, value TEXT); INSERT INTO metadata VALUES ('format', 'png');"
                    + sql)
        }
        return file
    }

    /// A join skips a tile whose image is missing; a NULL body counts as missing.
    ///
    /// Here no other tile is left.
    @Test func noTileIsLeftOutWithoutAWord() throws {
        let layout = """
            CREATE TABLE map (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_id TEXT);
            CREATE UNIQUE INDEX places ON map (zoom_level, tile_column, tile_row);
            CREATE TABLE images (tile_id TEXT PRIMARY KEY, tile_data BLOB);
            CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, tile_data FROM map JOIN images USING (tile_id);
            INSERT INTO map VALUES (1, 0, 0, 'a'), (1, 0, 1, 'b'), (1, 1, 1, NULL);
            INSERT INTO images VALUES ('a', x'89504e47');
            """
        let lost = try database("lost.mbtiles", layout)
        let null = try database(
            "null.mbtiles",
            "CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB); CREATE UNIQUE INDEX places ON tiles (zoom_level, tile_column, tile_row); INSERT INTO tiles VALUES (0, 0, 0, NULL)"
        )
        for (file, words) in [(lost, "1 tile refers to a body that does not exist"), (null, "no body")] {
            let error = #expect(throws: PackagesError.self) {
                try PackageExport.write(from: file, format: .pmtiles, to: scratch.file("out.pmtiles"))
            }
            #expect(error?.code == .badSource && error?.message.contains(words) == true, "\(error?.message ?? "")")
        }
        let report = try PackageVerify.run(lost)
        #expect(report.problems.contains { $0.code == "lost-body" && $0.message.hasPrefix("1 tile refers") })
    }

    /// Views that never end, with rows and without, and one that multiplies.
    @Test func tilesThatAreComputedAreRefusedAtOnce() throws {
        let endless = "WITH r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r)"
        let columns = "SELECT 22 AS zoom_level, n AS tile_column, 0 AS tile_row, x'1a00' AS tile_data"
        for (number, view) in [
            "\(endless) \(columns) FROM r", "\(endless) \(columns) FROM r WHERE n < 0",
            "SELECT 1 AS zoom_level, 0 AS tile_column, 0 AS tile_row, a.value AS tile_data FROM metadata a, metadata b, metadata c",
        ].enumerated() {
            let file = try database("view\(number).mbtiles", "CREATE VIEW tiles AS \(view)")
            let report = try PackageVerify.run(file)
            #expect(report.problems.contains { $0.code == "computed-view" }, "\(view): \(report.problems)")
            #expect(throws: PackagesError.self) { try MBTilesContents.read(file) }
            #expect(throws: PackagesError.self) { try Patch.compare(old: file, new: file) }
        }
        let file = scratch.file("metadata.mbtiles")
        let queue = try DatabaseQueue(path: file.path)
        try queue.write {
            try $0.execute(
                sql:
                    "CREATE TABLE tiles (zoom_level, tile_column, tile_row, tile_data); CREATE VIEW metadata AS \(endless) SELECT 'format' AS name, n AS value FROM r"
            )
        }
        try queue.close()
        #expect(try PackageVerify.run(file).problems.map(\.code) == ["computed-view"])
    }

    /// It was closed properly: reading it makes no files next to it, and says nothing of any.
    @Test func aFileInWALModeIsReadWithoutATrace() throws {
        let file = scratch.file("wal mode.mbtiles")
        try foreignFile(file, [["format", "pbf"]], [(0, 0, 0, vectorTile("one"))])
        let queue = try DatabaseQueue(path: file.path)
        try queue.writeWithoutTransaction { _ = try String.fetchOne($0, sql: "PRAGMA journal_mode = WAL") }
        try queue.close()
        let codes = try PackageVerify.run(file).problems.map(\.code)
        #expect(codes.contains("wal-mode") && !codes.contains("side-file"), "\(codes)")
        #expect(try PackageExport.write(from: file, format: .pmtiles, to: scratch.file("w.pmtiles")).tiles == 1)
        for suffix in ["-wal", "-shm"] { #expect(!FileManager.default.fileExists(atPath: file.path + suffix)) }
    }

    /// Bodies packed by zlib with a preset dictionary, as CARTO's packages may have them (made with Python's zlib).
    @Test func aPackageOfCARTOsWithADictionaryIsRead() throws {
        func bytes(_ hex: String) -> [UInt8] {
            stride(from: 0, to: hex.utf8.count, by: 2).compactMap {
                UInt8(hex.dropFirst($0).prefix(2), radix: 16)
            }
        }
        let file = scratch.file("carto.mbtiles")
        try foreignFile(
            file, [["format", "mbvt"], ["name", "EE"]],
            [
                (1, 0, 0, bytes("9352c5ad8d958bb9383511ac0c00")),
                (1, 1, 0, bytes("93d2c7ad8d9f8b172485aa0100")),
            ])
        let dictionary = bytes(
            "1a350a046c616e64120b12020000180122030932221a046e616d6522150a1364696374696f6e617279206f662074696c65732880207802"
        )
        let queue = try DatabaseQueue(path: file.path)
        try queue.write {
            try $0.execute(
                sql: "INSERT INTO metadata VALUES ('shared_zlib_dict', ?)", arguments: [Data(dictionary)])
        }
        try queue.close()
        let target = scratch.file("out.mbtiles")
        _ = try PackageExport.write(from: file, format: .mbtiles, to: target)
        let bodies = try DatabaseQueue(path: target.path).read {
            try Data.fetchAll($0, sql: "SELECT tile_data FROM tiles ORDER BY tile_column")
        }
        #expect(bodies.map { [UInt8]($0) } == [vectorTile("sea"), vectorTile("land of tiles")])
        let found = try rows(target)
        #expect(found["shared_zlib_dict"] == nil && found["format"] == "pbf")
    }

    @Test(arguments: [
        ("INSERT INTO metadata VALUES ('nutikeysha1', 'AA')", PackagesError.Code.unsupported),
        ("UPDATE tiles SET tile_data = x'00112233'", .badSource), ("DELETE FROM tiles", .badSource),
    ])
    func whatCannotBeUsedIsRefused(sql: String, code: PackagesError.Code) throws {
        let file = scratch.file("a.mbtiles")
        try foreignFile(file, [["format", "pbf"], ["name", "a"]], [(1, 0, 0, vectorTile("one"))])
        let queue = try DatabaseQueue(path: file.path)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
        let error = #expect(throws: PackagesError.self) {
            try PackageExport.write(from: file, format: .mbtiles, to: scratch.file("b.mbtiles"))
        }
        #expect(error?.code == code, "\(error?.description ?? "")")
    }

    @Test(
        .enabled(if: RealData.absence == nil, "\(RealData.absence ?? "")"),
        arguments: [
            "monaco-2012.mbtiles", "liechtenstein-2013.mbtiles", "stamen-toner-z0-3.pmtiles", "whitney-8-15.pmtiles",
        ])
    func realFilesBecomeEveryForm(name: String) throws {
        let file = RealData.file(name)
        let found = try PackageVerify.run(file)
        var hashes: Set<String> = []
        for format in PackageFormat.fromTiles {
            let target = scratch.file("out" + format.fileExtension)
            let receipt = try PackageExport.write(from: file, format: format, to: target)
            #expect(receipt.tiles == found.tiles)
            hashes.insert(try PackageVerify.run(target).tilesHash)
        }
        // Their bodies are canonical already, so even the hash is the source's.
        #expect(hashes == [found.tilesHash])
    }

    @Test(
        .enabled(if: RealData.absence == nil, "\(RealData.absence ?? "")"),
        arguments: ["stamen-toner-z0-3.pmtiles", "whitney-8-15.pmtiles"])
    func realPMTilesAreVerified(name: String) throws {
        let file = RealData.file(name)
        let report = try PackageVerify.run(file)
        #expect(report.isVerified && report.seal == .none && report.kind == "PMTiles", "\(report.problems)")
        #expect(name != "stamen-toner-z0-3.pmtiles" || report.tiles == 85)
    }
}
