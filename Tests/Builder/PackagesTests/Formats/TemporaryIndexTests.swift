import Errors
import Foundation
import GRDB
import PackageFiles
import Packages
import Testing
import TileBodies
import Tiles

/// Files without an index on their tiles: jobs read them, a renderer names the command that makes the index.
struct TemporaryIndexTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private static let layouts = [
        // A table of rows alone, a view over one, and the two dialects with a table of bodies.
        "",
        "ALTER TABLE tiles RENAME TO rows; CREATE VIEW tiles AS SELECT * FROM rows;",
        """
        ALTER TABLE tiles RENAME TO old;
        CREATE TABLE map (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_id TEXT);
        CREATE TABLE images (tile_id TEXT, tile_data BLOB);
        INSERT INTO map SELECT zoom_level, tile_column, tile_row, 'i' || rowid FROM old;
        INSERT INTO images SELECT 'i' || rowid, tile_data FROM old; DROP TABLE old;
        INSERT INTO map VALUES (3, 7, 7, 'gone');
        CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, tile_data FROM map
        JOIN images ON images.tile_id = map.tile_id;
        """,
        """
        ALTER TABLE tiles RENAME TO old;
        CREATE TABLE tiles_shallow (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data_id INTEGER);
        CREATE TABLE tiles_data (tile_data_id INTEGER, tile_data BLOB);
        INSERT INTO tiles_shallow SELECT zoom_level, tile_column, tile_row, rowid FROM old;
        INSERT INTO tiles_data SELECT rowid, tile_data FROM old; DROP TABLE old;
        INSERT INTO tiles_shallow VALUES (3, 7, 7, 99);
        CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles_shallow
        JOIN tiles_data USING (tile_data_id);
        """,
    ]

    private func file(_ layout: String) throws -> URL {
        let file = scratch.file("\(UUID().uuidString).mbtiles")
        let tiles = (0..<6).map { (3, $0, 7 - $0, vectorTile("tile \($0)")) }
        try foreignFile(file, [["format", "pbf"], ["name", "x"]], tiles)
        let queue = try DatabaseQueue(path: file.path)
        try queue.write { try $0.execute(sql: layout) }
        try queue.close()
        return file
    }

    @Test(arguments: layouts) func jobsReadThem(layout: String) throws {
        let file = try file(layout)
        #expect(try PackageVerify.run(file).isUsable)
        let before = try Data(contentsOf: file)
        for format in [PackageFormat.mbtiles, .pmtiles] {
            let target = scratch.file("\(UUID().uuidString)\(format.fileExtension)")
            #expect(try PackageExport.write(from: file, format: format, to: target).tiles == 6)
            #expect(try PackageVerify.run(target).isVerified)
        }
        let archive = try MBTilesArchive(path: file.path, .batch(file.path))
        for number in 0..<8 {
            let tile = try #require(TileID(zoom: 3, x: number, tmsY: 7 - number))
            #expect(try archive.find(tile).body?.bytes == (number < 6 ? vectorTile("tile \(number)") : nil))
        }
        let lost = try #require(TileID(zoom: 3, x: 7, tmsY: 7))
        if layout.contains("gone") || layout.contains("99") {
            let error = #expect(throws: ArchiveError.self) { try archive.find(lost) }
            #expect(error?.code == .badTile && error?.message.contains("has no body for it") == true)
        } else {
            #expect(try archive.find(lost).body == nil)
        }
        #expect(try Data(contentsOf: file) == before)
    }

    /// The command of the refusal is enough.
    @Test(arguments: layouts) func aRendererNamesTheCommand(layout: String) throws {
        let file = try file(layout)
        let error = #expect(throws: ArchiveError.self) { try MBTilesArchive(path: file.path, ArchiveAccess()) }
        #expect(error?.code == .unsupported)
        let command = try #require(error?.message.components(separatedBy: "sqlite3 '\(file.path)' '").last)
        #expect(command.hasSuffix("'"))
        let queue = try DatabaseQueue(path: file.path)
        try queue.write { try $0.execute(sql: String(command.dropLast())) }
        try queue.close()
        let tile = try #require(TileID(zoom: 3, x: 2, tmsY: 5))
        let found = try MBTilesArchive(path: file.path, ArchiveAccess()).find(tile)
        #expect(found.body?.bytes == vectorTile("tile 2"))
    }
}
