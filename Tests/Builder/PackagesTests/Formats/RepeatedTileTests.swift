import Errors
import Foundation
import GRDB
import PackageFiles
import Packages
import TestSupport
import Testing
import TileBodies
import Tiles

/// Rows that repeat a place: the one body that is a tile counts, for every reader (docs/decisions/0077).
struct RepeatedTileTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    /// The layouts of `tiles`: a table with row numbers, a view over one, and one that is told by a key of its own.
    private static let layouts = [
        "",
        """
        ALTER TABLE tiles RENAME TO rows; CREATE VIEW tiles AS SELECT * FROM rows;
        CREATE INDEX places ON rows (zoom_level, tile_column, tile_row);
        """,
        """
        ALTER TABLE tiles RENAME TO old;
        CREATE TABLE tiles (n INTEGER, zoom_level, tile_column, tile_row, tile_data BLOB,
        PRIMARY KEY (zoom_level, tile_column, tile_row, n)) WITHOUT ROWID;
        INSERT INTO tiles SELECT rowid, * FROM old; DROP TABLE old;
        """,
    ]

    private func file(_ bodies: [[UInt8]], layout: String) throws -> URL {
        let file = scratch.file("\(UUID().uuidString).mbtiles")
        // Another tile, so that the file has a tile whatever is done with the first one.
        let tiles = bodies.map { (3, 4, 2, $0) } + [(3, 5, 2, SamplePictures.pngPalette)]
        try foreignFile(file, [["format", "png"], ["name", "x"]], tiles)
        let queue = try DatabaseQueue(path: file.path)
        try queue.write {
            try $0.execute(
                sql: layout.isEmpty ? "CREATE INDEX places ON tiles (zoom_level, tile_column, tile_row)" : layout)
        }
        try queue.close()
        return file
    }

    private func body(_ file: URL) throws -> [UInt8]? {
        try DatabaseQueue(path: file.path).read {
            try Data.fetchOne($0, sql: "SELECT tile_data FROM tiles WHERE tile_column = 4").map { [UInt8]($0) }
        }
    }

    @Test(arguments: layouts) func theWholeBodyOfTwoIsTaken(layout: String) throws {
        let good = SamplePictures.pngRGB
        var broken = good
        broken[40] ^= 1
        let tile = try #require(TileID(zoom: 3, x: 4, tmsY: 2))
        for bodies in [[broken, good], [good, broken], [Array("<html>".utf8), broken, good, good]] {
            let file = try file(bodies, layout: layout)
            var passedOver: [TileID] = []
            let report = try PackageVerify.run(file) { passedOver.append($0) }
            #expect(report.isUsable && passedOver.isEmpty, "\(report.problems)")
            #expect(report.unusable == UInt64(bodies.count { $0 != good }))
            let target = scratch.file("\(UUID().uuidString).mbtiles")
            #expect(try PackageExport.write(from: file, format: .mbtiles, to: target).tiles == 2)
            #expect(try body(target) == good && PackageVerify.run(target).isVerified)
            for access in [ArchiveAccess.batch(file.path), ArchiveAccess(), ArchiveAccess(isProbed: true)] {
                #expect(try MBTilesArchive(path: file.path, access).find(tile).body?.bytes == good)
            }
        }
    }

    @Test(arguments: layouts) func onlyBrokenBodiesArePassedOver(layout: String) throws {
        var broken = SamplePictures.pngRGB
        broken[40] ^= 1
        let file = try file([broken, [7, 7, 7]], layout: layout)
        var passedOver: [TileID] = []
        let report = try PackageVerify.run(file) { passedOver.append($0) }
        #expect(report.isUsable && report.unusable == 2)
        #expect(passedOver == [try #require(TileID(zoom: 3, x: 4, tmsY: 2))])
        let target = scratch.file("\(UUID().uuidString).mbtiles")
        #expect(try PackageExport.write(from: file, format: .mbtiles, to: target).tiles == 1)
    }

    @Test(arguments: layouts) func differentWholeBodiesAreRefused(layout: String) throws {
        let file = try file([[1, 2], SamplePictures.pngRGB, SamplePictures.pngPalette], layout: layout)
        #expect(try PackageVerify.run(file).damage?.code == "conflicting-tiles")
        let error = #expect(throws: PackagesError.self) {
            try PackageExport.write(from: file, format: .mbtiles, to: scratch.file("\(UUID().uuidString).mbtiles"))
        }
        #expect(error?.message.contains("3/4/5 several times") == true, "\(error as Any)")
        for access in [ArchiveAccess.batch(file.path), ArchiveAccess()] {
            let error = #expect(throws: ArchiveError.self) {
                try MBTilesArchive(path: file.path, access).find(try #require(TileID(zoom: 3, x: 4, tmsY: 2)))
            }
            #expect(error?.code == .conflictingTiles)
        }
    }

    /// Some writers leave bodies as text.
    @Test func aBodyThatIsTextIsATile() throws {
        let file = scratch.file("text.mbtiles")
        let plain: [UInt8] = [0x1A, 0x07, 0x0A, 0x01, 0x61, 0x78, 0x02, 0x28, 0x40]
        try foreignFile(file, [["format", "pbf"], ["name", "x"]], [(0, 0, 0, plain)])
        let queue = try DatabaseQueue(path: file.path)
        try queue.write {
            try $0.execute(sql: "UPDATE tiles SET tile_data = CAST(tile_data AS TEXT)")
            try $0.execute(sql: "INSERT INTO tiles VALUES (1, 0, 0, 5)")
        }
        try queue.close()
        let report = try PackageVerify.run(file)
        #expect(report.isUsable && report.unusable == 1, "\(report.problems)")
        let archive = try MBTilesArchive(path: file.path, .batch(file.path))
        #expect(try archive.find(.root).body?.bytes == plain)
        #expect(try archive.find(try #require(TileID(zoom: 1, x: 0, tmsY: 0))).body == nil, "a number is no body")
    }
}
