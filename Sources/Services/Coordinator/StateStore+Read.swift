import Errors
import Foundation
import GRDB
import Scheduling
import Tiles

/// When a job was submitted, started and ended.
///
/// Wall time, for display only.
///
/// Unit: milliseconds since 1970.
struct JobTimes: Hashable, Sendable {
    var created: Int64
    /// The time of the first lease.
    var started: Int64?
    var ended: Int64?
}

/// The state that a coordinator starts with.
struct Inheritance: Sendable {
    var jobs: [StoredJob] = []
    var times: [JobID: JobTimes] = [:]
    /// The highest job number that was ever used.
    var lastJob: JobID = 0
    /// The number of the last line that the event log ever had.
    var lastEvent: Int64 = 0
    var schedules: [Schedule] = []
    var operatorLimits: OperatorLimits = [:]
    /// The steps of jobs that have begun, by job and number.
    var steps: [JobStep] = []
    /// The sessions that may hold shares granted by the last run; `nil` = not stored.
    var holders: ShareHolders?
}

extension StateStore {
    /// The whole state, read once per start.
    ///
    /// Ended jobs come without batches unless requested.
    func load(withEnded: Bool = false) async throws -> Inheritance {
        let epoch = epoch
        return try await perform { db in
            var all = Inheritance()
            let last = try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'job'")
            all.lastJob = last.map { JobID(key: $0) } ?? 0
            all.lastEvent = try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'event'") ?? 0
            let rows = try Row.fetchAll(
                db, sql: "SELECT * FROM job WHERE state <> ? ORDER BY id", arguments: [StateStore.forgotten])
            for row in rows {
                let summary = try StateStore.summary(row)
                let packages = try StateStore.packages(of: summary.key, db)
                let batches =
                    summary.state.isFinal && !withEnded
                    ? []
                    : try StateStore.batches(of: summary, db)
                let payload: Data = try row.value("spec")
                all.jobs.append(
                    StoredJob(summary: summary, batches: batches, packages: packages, payload: Array(payload)))
                all.times[summary.id] = try StateStore.times(row)
            }
            all.schedules = try StateStore.schedules(db)
            all.steps = try StateStore.steps(db)
            all.operatorLimits = try StateStore.operatorLimits(db)
            all.holders = try StateStore.holders(before: epoch, db)
            return all
        }
    }

    /// The batches of an ended job that have a shard.
    func shards(of job: JobID) async throws -> [Batch] {
        try await perform { db in
            try Row.fetchAll(
                db,
                sql: "SELECT * FROM batch WHERE job = ? AND (digest IS NOT NULL OR partial IS NOT NULL) ORDER BY idx",
                arguments: [job.key]
            ).map(StateStore.batch)
        }
    }

    /// A job's failures, at most `limit`: first dead batches, ordered by cell, then single tiles.
    func failures(of job: JobID, limit: Int) async throws -> [FailedTile] {
        try await perform { db in
            let key = job.key
            let dead = try Row.fetchAll(
                db,
                sql: "SELECT cell, tiles, cause, detail FROM batch WHERE job = ? AND state = ? ORDER BY idx LIMIT ?",
                arguments: [key, Int64(BatchState.dead.rawValue), limit]
            ).compactMap { row -> FailedTile? in
                guard let tile = TileID(hilbertID: StateStore.number(try row.optional("cell"))) else { return nil }
                let detail =
                    "\(StateStore.number(try row.optional("tiles"))) tiles in and below this one: \(try row.optional("detail") ?? "")"
                return FailedTile(
                    tile: tile, trouble: Trouble(cause: try row.optional("cause") ?? "unknown", detail: detail))
            }
            let single = try Row.fetchAll(
                db, sql: "SELECT tile, cause, detail FROM failure WHERE job = ? ORDER BY tile LIMIT ?",
                arguments: [key, max(limit - dead.count, 0)]
            ).compactMap { row -> FailedTile? in
                guard let tile = TileID(hilbertID: StateStore.number(try row.optional("tile"))) else { return nil }
                return FailedTile(
                    tile: tile, trouble: Trouble(cause: try row.value("cause"), detail: try row.value("detail")))
            }
            return dead + single
        }
    }

    // MARK: - Rows

    static func number(_ value: Int64?) -> UInt64 { UInt64(bitPattern: value ?? 0) }

    static func times(_ row: Row) throws -> JobTimes {
        JobTimes(
            created: try row.value("created"), started: try row.optional("started"), ended: try row.optional("ended"))
    }

    /// The error for a row that no coordinator wrote; ``damage(_:_:)`` names the file.
    static func unreadable(_ what: String) -> CoordinatorError {
        CoordinatorError(.damagedState, what)
    }
}

extension JobSummary {
    /// The key of the job's row.
    var key: Int64 { id.key }
}
