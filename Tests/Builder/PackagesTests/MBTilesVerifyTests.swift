import Errors
import Foundation
import GRDB
import PackageFiles
import Packages
import Shards
import TestSupport
import Testing
import TileBodies
import Tiles

struct MBTilesVerifyTests {
    let scratch: Scratch
    let world: World
    let url: URL
    let receipt: PackageReceipt

    init() throws {
        scratch = try Scratch()
        world = try World(zooms: "0-8")
        url = scratch.file("a.mbtiles")
        receipt = try MBTilesMerge.run(try world.spec, shards: try world.shards(2, in: scratch, seed: 1), into: url)
    }

    private func edited(_ sql: String) throws -> VerifyReport {
        let copy = scratch.file("\(UUID().uuidString).mbtiles")
        try FileManager.default.copyItem(at: url, to: copy)
        let queue = try DatabaseQueue(path: copy.path)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
        return try MBTilesVerify.run(copy, mask: world.mask, zooms: world.zooms)
    }

    @Test func aFileWithoutATileOfAKnownFormatIsUnusable() throws {
        let file = scratch.file("foo.mbtiles")
        let queue = try DatabaseQueue(path: file.path)
        try queue.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE metadata (name TEXT, value TEXT);
                    CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB);
                    INSERT INTO metadata VALUES ('name', 'a'), ('format', 'foo');
                    INSERT INTO tiles VALUES (0, 0, 0, CAST('hello 0' AS BLOB)), (1, 0, 0, CAST('hello 1' AS BLOB));
                    """)
        }
        try queue.close()
        let report = try MBTilesVerify.run(file, mask: nil)
        #expect(!report.isUsable && report.problems.contains { $0.code == "no-known-format" }, "\(report.problems)")
    }

    @Test func aWholePackageIsVerified() throws {
        let report = try MBTilesVerify.run(url, mask: world.mask, zooms: world.zooms, expecting: receipt.digest)
        #expect(report.isVerified, "\(report.problems)")
        #expect(report.dialect == "dedup-id" && report.tiles == receipt.tiles && report.tilesHash == receipt.tilesHash)
        #expect(report.absent == receipt.empty && report.format == "pbf" && report.size == receipt.size)
        #expect(report.tilesPerZoom.reduce(0) { $0 + $1.tiles } == receipt.tiles)
        #expect(try MBTilesVerify.run(url, mask: nil).isVerified)
    }

    @Test(arguments: [
        (
            "DELETE FROM tiles_shallow WHERE zoom_level = 8 AND tile_column = (SELECT max(tile_column) FROM tiles_shallow)",
            "hash-mismatch"
        ),
        ("UPDATE tiles_data SET tile_data = zeroblob(10) WHERE tile_data_id = 4", "bad-mvt"),
        ("UPDATE tiles_data SET tile_data = NULL WHERE tile_data_id = 4", "no-body"),
        ("UPDATE tiles_data SET tile_data = 5 WHERE tile_data_id = 4", "no-body"),
        ("UPDATE tiles_data SET tile_data = 'text' WHERE tile_data_id = 4", "wrong-type"),
        ("DELETE FROM tiles_data WHERE tile_data_id = 4", "lost-body"),
        ("INSERT INTO tiles_data VALUES (100000, x'00')", "unused-body"),
        ("INSERT INTO tiles_shallow VALUES (8, 0, 0, 1)", "outside-mask"),
        ("INSERT INTO tiles_shallow VALUES (9, 241, 350, 1)", "outside-zooms"),
        ("INSERT INTO tiles_shallow VALUES (3, 8, 0, 1)", "bad-tile"),
        ("INSERT INTO tiles_shallow VALUES (77, 8, 0, 1)", "bad-tile"),
        ("INSERT INTO tiles_shallow VALUES ('a', 8, 0, 1)", "bad-tile"),
        ("DELETE FROM metadata WHERE name = 'name'", "bad-metadata"),
        ("DELETE FROM metadata WHERE name = 'json'", "no-vector-layers"),
        ("UPDATE metadata SET value = 'tiff' WHERE name = 'format'", "unknown-format"),
        ("UPDATE metadata SET value = 'png' WHERE name = 'format'", "wrong-format"),
        ("UPDATE metadata SET value = '1,2,3' WHERE name = 'bounds'", "bad-metadata"),
        ("UPDATE metadata SET value = 'x' WHERE name = 'maxzoom'", "bad-metadata"),
        ("UPDATE metadata SET value = '7' WHERE name = 'maxzoom'", "outside-zooms"),
        ("UPDATE metadata SET value = '00' WHERE name = 'agg_tiles_hash'", "hash-mismatch"),
        ("DROP TABLE metadata", "no-metadata"), ("DROP VIEW tiles", "no-tiles"),
        ("DROP VIEW tiles; CREATE VIEW tiles AS SELECT 1 AS zoom_level", "sqlite"),
    ])
    func aChangeIsNamed(sql: String, code: String) throws {
        let report = try edited(sql)
        #expect(report.problems.contains { $0.code == code }, "\(report.problems)")
    }

    @Test func aVectorTileWithoutLayersIsNoProblem() throws {
        let hex = Gzip.compress([]).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        let report = try edited("UPDATE tiles_data SET tile_data = x'\(hex)' WHERE tile_data_id = 4")
        #expect(report.problems.map(\.code) == ["seal-broken", "hash-mismatch"], "\(report.problems)")
    }

    @Test func aFileCutAnywhereIsRefused() throws {
        let whole = try bytes(url)
        let cut = scratch.file("cut.mbtiles")
        for step in 0..<20 {
            try Data(whole[..<(whole.count * step / 20)]).write(to: cut)
            #expect(try !MBTilesVerify.run(cut, mask: world.mask).isVerified, "cut to \(step)/20")
        }
        try Data(whole.dropLast()).write(to: cut)
        #expect(try !MBTilesVerify.run(cut, mask: world.mask).isVerified)
    }

    private func rows(_ url: URL) throws -> [[DatabaseValue]] {
        let queue = try DatabaseQueue(path: url.path)
        defer { try? queue.close() }
        return try queue.read {
            try Row.fetchAll($0, sql: "SELECT * FROM tiles ORDER BY 1, 2, 3").map { Array($0.databaseValues) }
        }
    }

    @Test func filesThatAreNoDatabaseAreSaidToBeNone() throws {
        for content in [Data(), Data("hello".utf8), Data(repeating: 0, count: 5_000)] {
            let file = scratch.file("x")
            try content.write(to: file)
            #expect(try MBTilesVerify.run(file, mask: nil).problems.first?.code == "not-sqlite")
        }
        #expect(throws: PackagesError.self) { try MBTilesVerify.run(scratch.file("absent"), mask: nil) }
        #expect(throws: (any Error).self) { try MBTilesVerify.run(scratch.folder, mask: nil) }
    }

    @Test func aFileInWALModeIsRefused() throws {
        let file = scratch.file("wal.mbtiles")
        try FileManager.default.copyItem(at: url, to: file)
        let pool = try DatabasePool(path: file.path)
        try pool.close()
        #expect(try MBTilesVerify.run(file, mask: nil).problems.contains { $0.code == "wal-mode" })
    }

    @Test func otherDialectsAreReadThroughTheirView() throws {
        let flat = scratch.file("flat.mbtiles")
        let normal = scratch.file("normal.mbtiles")
        let source = try rows(url)
        let metadata = try DatabaseQueue(path: url.path).read {
            try Row.fetchAll($0, sql: "SELECT name, value FROM metadata WHERE name <> 'packhorse_seal'").map {
                [$0[0] as String, $0[1] as String]
            }
        }
        for (file, schema) in [
            (flat, "CREATE TABLE tiles (zoom_level, tile_column, tile_row, tile_data BLOB);"),
            (
                normal,
                """
                CREATE TABLE map (zoom_level, tile_column, tile_row, tile_id); CREATE TABLE images (tile_data BLOB, tile_id);
                CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, tile_data FROM map JOIN images USING (tile_id);
                """
            ),
        ] {
            let queue = try DatabaseQueue(path: file.path)
            try queue.write { database in
                try database.execute(sql: "CREATE TABLE metadata (name, value);" + schema)
                for row in metadata {
                    try database.execute(sql: "INSERT INTO metadata VALUES (?, ?)", arguments: [row[0], row[1]])
                }
                for (index, row) in source.enumerated() {
                    if file == flat {
                        try database.execute(
                            sql: "INSERT INTO tiles VALUES (?, ?, ?, ?)", arguments: StatementArguments(row))
                    } else {
                        try database.execute(sql: "INSERT INTO images VALUES (?, ?)", arguments: [row[3], index])
                        try database.execute(
                            sql: "INSERT INTO map VALUES (?, ?, ?, ?)", arguments: [row[0], row[1], row[2], index])
                    }
                }
            }
            try queue.close()
            let report = try MBTilesVerify.run(file, mask: nil)
            #expect(report.isVerified && report.tilesHash == receipt.tilesHash, "\(report.problems)")
            #expect(report.dialect == (file == flat ? "flat" : "normalized"))
        }
    }

    @Test(
        .enabled(if: RealData.absence == nil, "\(RealData.absence ?? "")"),
        arguments: ["monaco-2012", "monaco-2021", "liechtenstein-2013"])
    func realFilesCanBeRead(name: String) throws {
        let file = RealData.file("\(name).mbtiles")
        let report = try MBTilesVerify.run(file, mask: nil)
        #expect(report.tiles > 0 && report.tilesHash.utf8.count == 32)
        #expect(
            !report.problems.contains { $0.code.hasPrefix("sqlite") || $0.code == "bad-tile" },
            "\(report.problems.prefix(3))")
    }
}
