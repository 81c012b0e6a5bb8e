import Foundation
import GRDB
import SQLiteFiles
import Testing

/// Views of other programs: those that only rename or join tables are read, those that compute rows are refused.
struct ThirdPartyViewTests {
    private static let tables = """
        CREATE TABLE map (zoom_level, tile_column, tile_row, tile_id);
        CREATE TABLE images (tile_id PRIMARY KEY, tile_data);
        CREATE TABLE rows (name, value, zoom_level, tile_column, tile_row, tile_data);
        """

    @Test(arguments: [
        "CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, tile_data FROM rows",
        """
        CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, tile_data FROM map
            JOIN images ON images.tile_id = map.tile_id
        """,
        "CREATE VIEW metadata AS SELECT name, value FROM rows",
        // A view that is not read.
        "CREATE VIEW other AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
    ])
    func aViewOfTablesIsRead(sql: String) throws {
        let scratch = try Scratch()
        let url = try scratch.database("a.mbtiles", Self.tables + sql)
        #expect(try count(try AnySQLiteFile.open(url)) == 3)
    }

    @Test(arguments: [
        (
            "tiles",
            """
            CREATE VIEW tiles AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
                SELECT i AS zoom_level, i AS tile_column, i AS tile_row, 'x' AS tile_data FROM n
            """
        ),
        (
            "tiles",
            """
            CREATE VIEW Tiles AS SELECT a.zoom_level, b.tile_column, b.tile_row, a.tile_data FROM rows a, rows b
            """
        ),
        ("metadata", "CREATE VIEW metadata AS SELECT a.name, b.value FROM rows a, rows b, rows c"),
    ])
    func aViewThatComputesRowsIsRefused(name: String, sql: String) throws {
        let scratch = try Scratch()
        let url = try scratch.database("a.mbtiles", Self.tables + sql)
        let error = #expect(throws: ComputedView.self) { try AnySQLiteFile.open(url) }
        #expect(error?.message.contains("its view '\(name)' computes its rows") == true)
        #expect(error?.message.contains(url.path) == true)
    }

    @Test func aViewWithoutTheColumnsIsAnErrorOfSQLite() throws {
        let scratch = try Scratch()
        let url = try scratch.database("a.mbtiles", "CREATE VIEW tiles AS SELECT number FROM numbers")
        #expect(throws: DatabaseError.self) { try AnySQLiteFile.open(url) }
    }
}
