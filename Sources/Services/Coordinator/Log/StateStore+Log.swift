import Foundation
import GRDB
import Notifications
import Scheduling
import Wire

/// The event log: every change of the state is a line, written in the same transaction as the change.
///
/// Append-only while a job exists. When its blobs are released, its lines about batches are removed together with the
/// rows of the batches. After it is forgotten, all its lines are removed except the one that records it, which is
/// removed together with the job's summary in the history. So the log is bounded by the size of the state, and
/// replaying it always gives that state.
extension StateStore {
    /// - Parameter notification: The kind of notification that the line is; `nil` = none.
    static func log(
        _ write: StoreWrite, notification: NotificationKind?, _ db: Database, wall: Int64
    ) throws {
        let job = ChangeCodec.job(of: write).key
        let kind = ChangeCodec.kind(of: write)
        try db.cachedStatement(sql: "INSERT INTO event (wall, job, kind, data, notification) VALUES (?, ?, ?, ?, ?)")
            .execute(
                arguments: [wall, job, kind.rawValue, Data(try ChangeCodec.encode(write)), notification?.rawValue])
        if kind == .jobForgotten { try trimHistory(db) }
    }

    /// The kinds of lines that are removed together with the rows of batches.
    static let batchLines = [EventKind.batch, .orphan, .batchesAdded, .batchesReset].map { "\($0.rawValue)" }
        .joined(separator: ", ")

    /// Removes the plan from the line of a job whose batch rows were removed.
    static func removePlanLine(_ job: JobID, _ db: Database) throws {
        let key = job.key
        let inserted = try Row.fetchOne(
            db, sql: "SELECT seq, data FROM event WHERE job = ? AND kind = ?",
            arguments: [key, EventKind.jobInserted.rawValue])
        guard let inserted else { return }
        let data: Data = try inserted.value("data")
        var change = try PBLoggedChange(decoding: Array(data))
        change.jobInserted.plan = PBLoggedPlan.make { _ in }
        try db.execute(
            sql: "UPDATE event SET data = ? WHERE seq = ?",
            arguments: [Data(try change.encoded()), try inserted.value("seq") as Int64])
    }

    /// Lines after `after`, oldest first, and the numbers of the first and the last existing line.
    ///
    /// - Parameters:
    ///   - newest: Begin with the line at this place counted from the end, 1 = the last line; `after` is
    ///     ignored then. `nil` = begin after `after`. The numbers of lines have gaps, because lines are removed with
    ///     their jobs, so the difference of two numbers does not count lines.
    ///   - areNotifications: Whether only notifications are wanted; they are found without reading the lines between.
    ///   - catalogs: The catalogs of jobs, for notifications.
    func events(
        after: UInt64, newest: Int? = nil, limit: Int, job: JobID?, areNotifications: Bool = false,
        catalogs: CatalogPlaces
    ) async throws -> PBEvents {
        try await perform { db in
            let after = try newest.map { try StateStore.number(beforeNewest: $0, job, db) } ?? after
            let lines = areNotifications ? "\(StateNotifications.lines) AND" : "event WHERE"
            var sql = "SELECT seq, wall, job, kind, data, notification FROM \(lines) seq > ?"
            var arguments: StatementArguments = [Int64(clamping: after)]
            if let job {
                sql += " AND job = ?"
                arguments += [job.key]
            }
            arguments += [limit]
            let rows = try Row.fetchAll(db, sql: sql + " ORDER BY seq LIMIT ?", arguments: arguments)
            // One aggregate each: SQLite finds it at the end of the table. With both it would read every line.
            let ends = try Row.fetchOne(db, sql: "SELECT (SELECT min(seq) FROM event), (SELECT max(seq) FROM event)")
            return try PBEvents.make {
                $0.first = UInt64(clamping: (ends?[0] as Int64?) ?? 0)
                $0.last = UInt64(clamping: (ends?[1] as Int64?) ?? 0)
                $0.events = try rows.map { try StateStore.record($0, catalogs) }
            }
        }
    }

    /// The number before that of the `place`-th line from the end; 0 when there are fewer lines.
    private static func number(beforeNewest place: Int, _ job: JobID?, _ db: Database) throws -> UInt64 {
        let first = try Int64.fetchOne(
            db,
            sql: "SELECT seq FROM event \(job == nil ? "" : "WHERE job = ?") ORDER BY seq DESC LIMIT 1 OFFSET ?",
            arguments: StatementArguments(job.map { [$0.key] } ?? []) + [max(place, 1) - 1])
        return UInt64(clamping: (first ?? 1) - 1)
    }

    private static func record(_ row: Row, _ catalogs: CatalogPlaces) throws -> PBEventRecord {
        let data: Data = try row.value("data")
        let job = JobID(key: try row.value("job"))
        let change = try PBLoggedChange(decoding: Array(data))
        return try PBEventRecord.make {
            $0.seq = UInt64(clamping: try row.value("seq") as Int64)
            $0.wallMs = try row.value("wall")
            $0.job = job.rawValue
            $0.kind = EventKind(rawValue: try row.value("kind"))?.name ?? "unknown"
            $0.data = data
            $0.text = try EventText.line(change, job: job)
            if let notification = try StateNotifications.notification(row, catalogs) {
                $0.notification = Data(try notification.content.json())
            }
        }
    }

    /// The state that results from the log alone.
    func replay() async throws -> StoredState {
        try await perform { db in
            var state = StoredState()
            var decoder = ChangeDecoder()
            let rows = try Row.fetchCursor(db, sql: "SELECT job, data FROM event ORDER BY seq")
            while let row = try rows.next() {
                let data: Data = try row.value("data")
                state.apply(try decoder.decode(Array(data), job: JobID(key: try row.value("job"))))
            }
            return state
        }
    }
}
