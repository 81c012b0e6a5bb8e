package import GRDB
internal import GRDBSQLite

/// How SQLite would run a query: the steps of `EXPLAIN QUERY PLAN` (sqlite.org/eqp.html).
package struct QueryPlan {
    /// One step.
    package struct Step {
        /// Steps of one loop have one parent.
        package let parent: Int32
        /// The text.
        package let detail: String
    }

    /// The steps in SQLite's order.
    package let steps: [Step]

    /// Asks for the plan of a query; it is not run.
    ///
    /// - Parameter connection: An open connection; the caller's thread has it alone.
    /// - Throws: `DatabaseError` for a query that SQLite cannot prepare.
    package init(of sql: String, on connection: OpaquePointer) throws(DatabaseError) {
        func failure() -> DatabaseError {
            DatabaseError(
                resultCode: ResultCode(rawValue: sqlite3_extended_errcode(connection)),
                message: String(cString: sqlite3_errmsg(connection)))
        }
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(connection, "EXPLAIN QUERY PLAN " + sql, -1, &statement, nil) == SQLITE_OK else {
            throw failure()
        }
        defer { sqlite3_finalize(statement) }
        var steps: [Step] = []
        var code = sqlite3_step(statement)
        while code == SQLITE_ROW {
            let detail = sqlite3_column_text(statement, 3).map { String(cString: $0) } ?? ""
            steps.append(Step(parent: sqlite3_column_int(statement, 1), detail: detail))
            code = sqlite3_step(statement)
        }
        guard code == SQLITE_DONE else { throw failure() }
        self.steps = steps
    }

    /// The first step that reads more than a path of an index: a view that computes its rows, or a table without an index.
    package var slowStep: String? {
        steps.first { step in
            ["SCAN", "AUTOMATIC", "RECURSIVE", "MATERIALIZE", "CO-ROUTINE"].contains { step.detail.contains($0) }
        }?.detail
    }
}
