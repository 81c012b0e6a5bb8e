import GRDB
import Scheduling

/// Operators' limits for origins.
extension StateStore {
    static func put(_ limit: OperatorLimit?, origin: String, in db: Database) throws {
        guard let limit else {
            try db.cachedStatement(sql: "DELETE FROM origin_limit WHERE origin = ?").execute(arguments: [origin])
            return
        }
        try db.cachedStatement(
            sql:
                "INSERT OR REPLACE INTO origin_limit (origin, per_second, concurrency, bytes_per_second) VALUES (?, ?, ?, ?)"
        )
        .execute(arguments: [origin, limit.perSecond, limit.concurrency, limit.bytesPerSecond])
    }

    static func operatorLimits(_ db: Database) throws -> OperatorLimits {
        try Row.fetchAll(db, sql: "SELECT * FROM origin_limit").reduce(into: [:]) { all, row in
            all[try row.value("origin")] = OperatorLimit(
                perSecond: try row.optional("per_second"), concurrency: try row.optional("concurrency"),
                bytesPerSecond: try row.optional("bytes_per_second"))
        }
    }
}
