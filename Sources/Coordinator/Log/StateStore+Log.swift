import Foundation
import GRDB
import Scheduling
import Wire

/// The event log: every change of the state as a line, written in the change's own transaction.
///
/// Append-only while a job lives. When its blobs are released its lines about batches go with the batches' rows, when it is forgotten all
/// of them go: the log is bounded by what the state holds, and replaying it gives that state at any time.
extension StateStore {
    static func log(_ write: StoreWrite, _ db: Database, wall: Int64) throws {
        let job = Int64(bitPattern: ChangeCodec.job(of: write))
        let kind = ChangeCodec.kind(of: write)
        if kind == .jobForgotten {
            try db.cachedStatement(sql: "DELETE FROM event WHERE job = ?").execute(arguments: [job])
        }
        try db.cachedStatement(sql: "INSERT INTO event (wall, job, kind, data) VALUES (?, ?, ?, ?)")
            .execute(arguments: [wall, job, kind.rawValue, Data(try ChangeCodec.encode(write))])
    }

    /// Drops what the log says of the batches of a job whose rows of batches go.
    static func rollUp(_ job: JobID, _ db: Database) throws {
        let key = Int64(bitPattern: job)
        try db.execute(
            sql: "DELETE FROM event WHERE job = ? AND kind IN (?, ?, ?)",
            arguments: [
                key, EventKind.batch.rawValue, EventKind.orphan.rawValue, EventKind.batchesAdded.rawValue,
            ])
        let inserted = try Row.fetchOne(
            db, sql: "SELECT seq, data FROM event WHERE job = ? AND kind = ?",
            arguments: [key, EventKind.jobInserted.rawValue])
        guard let inserted else { return }
        let data: Data = inserted["data"]
        var change = try PBLoggedChange(decoding: Array(data))
        change.jobInserted.plan = PBLoggedPlan.make { _ in }
        try db.execute(
            sql: "UPDATE event SET data = ? WHERE seq = ?",
            arguments: [Data(try change.encoded()), inserted["seq"] as Int64])
    }

    /// Lines after `after`, oldest first, and the numbers of the first and the last line there are.
    func events(after: UInt64, limit: Int, job: JobID?) async throws -> PBEvents {
        try await perform { db in
            var sql = "SELECT seq, wall, job, kind, data FROM event WHERE seq > ?"
            var arguments: StatementArguments = [Int64(clamping: after)]
            if let job {
                sql += " AND job = ?"
                arguments += [Int64(bitPattern: job)]
            }
            arguments += [limit]
            let rows = try Row.fetchAll(db, sql: sql + " ORDER BY seq LIMIT ?", arguments: arguments)
            let ends = try Row.fetchOne(db, sql: "SELECT min(seq), max(seq) FROM event")
            return try PBEvents.make {
                $0.first = UInt64(clamping: (ends?[0] as Int64?) ?? 0)
                $0.last = UInt64(clamping: (ends?[1] as Int64?) ?? 0)
                $0.events = try rows.map(StateStore.record)
            }
        }
    }

    private static func record(_ row: Row) throws -> PBEventRecord {
        let data: Data = row["data"]
        let job = UInt64(bitPattern: row["job"] as Int64)
        let change = try PBLoggedChange(decoding: Array(data))
        return PBEventRecord.make {
            $0.seq = UInt64(clamping: row["seq"] as Int64)
            $0.wallMs = row["wall"]
            $0.job = job
            $0.kind = EventKind(rawValue: row["kind"])?.name ?? "unknown"
            $0.data = data
            $0.text = EventText.line(change, job: job)
        }
    }

    /// The state as the log alone tells it.
    func replay() async throws -> StoredState {
        try await perform { db in
            var state = StoredState()
            var decoder = ChangeDecoder()
            let rows = try Row.fetchCursor(db, sql: "SELECT job, data FROM event ORDER BY seq")
            while let row = try rows.next() {
                let data: Data = row["data"]
                state.apply(try decoder.decode(Array(data), job: UInt64(bitPattern: row["job"] as Int64)))
            }
            return state
        }
    }
}
