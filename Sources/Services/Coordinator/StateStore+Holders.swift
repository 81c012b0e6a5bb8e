import GRDB
import Scheduling

/// The sessions that may hold shares of origins' budgets. They are not state of a job, so they are in no event, and
/// only the next run uses them.
extension StateStore {
    /// Replaces the stored sessions, for one run of the coordinator.
    static func replaceHolders(_ holders: ShareHolders, epoch: UInt32, _ db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM holder").execute()
        for (origin, sessions) in holders {
            for session in sessions {
                try db.cachedStatement(sql: "INSERT INTO holder VALUES (?, ?)")
                    .execute(arguments: [origin, session.key])
            }
        }
        try db.cachedStatement(sql: "UPDATE meta SET value = ? WHERE key = 'holders'").execute(arguments: [Int64(epoch)]
        )
    }

    /// The sessions that the run just before `epoch` stored; `nil` when it stored none: an older build ran, or the file
    /// comes from a backup.
    static func holders(before epoch: UInt32, _ db: Database) throws -> ShareHolders? {
        let keeper = try Int64.fetchOne(db, sql: "SELECT value FROM meta WHERE key = 'holders'")
        guard keeper == Int64(epoch) - 1, epoch > 1 else { return nil }
        var all: ShareHolders = [:]
        for row in try Row.fetchAll(db, sql: "SELECT origin, session FROM holder ORDER BY origin, session") {
            all[try row.value("origin"), default: []].append(SessionID(key: try row.value("session")))
        }
        return all.mapValues { $0.sorted() }
    }
}
