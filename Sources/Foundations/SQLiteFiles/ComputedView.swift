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
    /// - Throws: ``ComputedView``; `DatabaseError` when the view lacks a column.
    package static func check(_ connection: OpaquePointer, views: [String], _ path: String) throws {
        for view in views {
            guard let columns = read[view.lowercased()] else { continue }
            var scans: [Int32: Int] = [:]
            for step in try QueryPlan(of: "SELECT \(columns) FROM \(view)", on: connection).steps {
                if step.detail.hasPrefix("SCAN") { scans[step.parent, default: 0] += 1 }
                guard !step.detail.contains("RECURSIVE"), scans[step.parent, default: 0] < 2 else {
                    throw ComputedView(path: path, view: view.lowercased())
                }
            }
        }
    }

    /// The names of a file's views.
    package static let viewsSQL = "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY lower(name)"

    static func check(_ database: Database, _ path: String) throws {
        guard let connection = database.sqliteConnection else { return }
        try check(connection, views: try String.fetchAll(database, sql: viewsSQL), path)
    }
}
