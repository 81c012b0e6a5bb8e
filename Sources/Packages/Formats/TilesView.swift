internal import Foundation
internal import GRDB

/// What a look at the layout of anybody's MBTiles file tells before its tiles are read.
enum TilesView {
    /// Refuses a `tiles` that computes its rows: reading it need never end.
    ///
    /// Every dialect's `tiles` is a table or joins one to another; a recursion, or a second table that is read whole for each row of the
    /// first, is none of them. Source: the steps of `EXPLAIN QUERY PLAN` (sqlite.org/eqp.html); those of one loop have one parent.
    ///
    /// - Throws: `bad-source`; `DatabaseError` when SQLite cannot read the view.
    static func check(_ database: Database, _ path: String) throws {
        let steps = try Row.fetchAll(
            database, sql: "EXPLAIN QUERY PLAN SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles")
        var scans: [Int64: Int] = [:]
        for step in steps {
            let detail = String.fromDatabaseValue(step["detail"]) ?? ""
            let parent = Int64.fromDatabaseValue(step["parent"]) ?? 0
            if detail.hasPrefix("SCAN") { scans[parent, default: 0] += 1 }
            guard !detail.contains("RECURSIVE"), scans[parent, default: 0] < 2 else {
                throw PackagesError(
                    .badSource, "'\(path)' is no MBTiles file: its view 'tiles' computes tiles instead of holding them."
                )
            }
        }
    }

    /// Tiles whose body is in no row, which a join passes over; `nil` in a layout that keeps both in one row.
    static func lostBodies(_ database: Database) throws -> Int? {
        let tables = try String.fetchSet(database, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'")
        if tables.isSuperset(of: ["tiles_shallow", "tiles_data"]) {
            return try count(database, of: "tiles_shallow", by: "tile_data_id", in: "tiles_data", orNull: true)
        }
        guard tables.isSuperset(of: ["map", "images"]) else { return nil }
        // A row without a tile may be there for its grid.
        return try count(database, of: "map", by: "tile_id", in: "images", orNull: false)
    }

    private static func count(
        _ database: Database, of table: String, by id: String, in bodies: String, orNull: Bool
    ) throws -> Int {
        let columns = try [table, bodies].map { try database.columns(in: $0).map(\.name) }
        guard columns.allSatisfy({ $0.contains(id) }) else { return 0 }
        let null = orNull ? "\(id) IS NULL OR " : ""
        return try Int.fetchOne(
            database,
            sql: """
                SELECT count(*) FROM \(table)
                WHERE \(null)\(id) IS NOT NULL AND \(id) NOT IN (SELECT \(id) FROM \(bodies) WHERE \(id) IS NOT NULL)
                """) ?? 0
    }
}
