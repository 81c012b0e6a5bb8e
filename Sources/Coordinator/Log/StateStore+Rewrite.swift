import Foundation
import GRDB
import Scheduling
import Tiles

extension StateStore {
    /// Replaces all lines of the event log by lines that give the present state.
    ///
    /// For migrations that change the form of the lines. Clients see new numbers of lines; the earlier changes are gone.
    static func rewriteLog(_ db: Database) throws {
        try db.execute(sql: "DELETE FROM event")
        for row in try Row.fetchAll(db, sql: "SELECT id, created FROM history ORDER BY id") {
            try log(.forget(number(row["id"])), db, wall: row["created"])
        }
        for row in try Row.fetchAll(db, sql: "SELECT * FROM job ORDER BY id") {
            try logAgain(row, db)
        }
        let wall = try Int64.fetchOne(db, sql: "SELECT max(wall) FROM event") ?? 0
        for schedule in try schedules(db) { try log(.schedule(schedule, payload: nil), db, wall: wall) }
        for (origin, limit) in try operatorLimits(db).sorted(by: { $0.key < $1.key }) {
            try log(.originLimit(origin, limit), db, wall: wall)
        }
    }

    private static func logAgain(_ row: Row, _ db: Database) throws {
        let summary = try summary(row)
        let (wall, key): (Int64, Int64) = (times(row).created, summary.key)
        var job = StoredJob(summary: summary, batches: [], packages: try packages(of: key, db))
        // When the blobs of a job are released, the log loses its lines about batches.
        if row["released"] as Bool { return try log(.insertJob(job), db, wall: wall) }
        job.batches = try Row.fetchAll(db, sql: "SELECT * FROM batch WHERE job = ? ORDER BY idx", arguments: [key])
            .map(batch)
        try log(.insertJob(job), db, wall: wall)
        // The line of a new job has the plan only; that of a resumed job has the states of all batches.
        try log(.reopen(job), db, wall: wall)
        for index in try Int.fetchAll(
            db, sql: "SELECT DISTINCT batch FROM failure WHERE job = ? ORDER BY batch", arguments: [key])
        {
            let tiles = try failures(summary.id, index, limit: -1, db)
            try log(.failures(summary.id, batch: index, tiles), db, wall: wall)
        }
        for bytes in try Data.fetchAll(db, sql: "SELECT digest FROM orphan WHERE job = ?", arguments: [key]) {
            guard let digest = ContentDigest(bytes) else { throw unreadable("job \(summary.id) has an invalid orphan") }
            try log(.orphan(summary.id, digest), db, wall: wall)
        }
    }
}
