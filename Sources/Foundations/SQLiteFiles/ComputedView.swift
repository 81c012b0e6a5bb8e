internal import GRDB

/// A view of a third-party MBTiles file that computes its rows: reading it need never end.
package struct ComputedView: Error {
    let path: String
    let view: String

    package var message: String {
        "'\(path)' is not an MBTiles file: its view '\(view)' computes its rows instead of taking them from a table."
    }

    /// The columns that are read from tables that can be views.
    private static let read = [
        "metadata": "name, value", "tiles": "zoom_level, tile_column, tile_row, tile_data",
    ]

    /// Refuses a file with such a view.
    ///
    /// Every dialect's `tiles` is a table or joins one to another; a recursion, or a second table that is read whole
    /// for each row of the first, is not such a join. Source: the steps of `EXPLAIN QUERY PLAN` (sqlite.org/eqp.html);
    /// those of one loop have one parent.
    ///
    /// - Throws: ``ComputedView``; `DatabaseError` when SQLite cannot read the schema, or the view lacks a column.
    static func check(_ database: Database, _ path: String) throws {
        let views = try String.fetchAll(
            database, sql: "SELECT lower(name) FROM sqlite_schema WHERE type = 'view' ORDER BY 1")
        for view in views {
            guard let columns = read[view] else { continue }
            var scans: [Int64: Int] = [:]
            for step in try Row.fetchAll(database, sql: "EXPLAIN QUERY PLAN SELECT \(columns) FROM \(view)") {
                let detail = String.fromDatabaseValue(step["detail"]) ?? ""
                let parent = Int64.fromDatabaseValue(step["parent"]) ?? 0
                if detail.hasPrefix("SCAN") { scans[parent, default: 0] += 1 }
                guard !detail.contains("RECURSIVE"), scans[parent, default: 0] < 2 else {
                    throw ComputedView(path: path, view: view)
                }
            }
        }
    }
}
