import Errors
import Foundation
import GRDB
import Scheduling
import Tiles

extension StateStore {
    // MARK: - Failed work

    /// Failed work: a dead batch, or the failed tiles of an accepted batch.
    struct FailedBatch: Sendable {
        var job: JobID
        var index: BatchIndex
        var cell: TileID
        var zooms: ZoomRange
        /// Number of failed tiles.
        var tiles: UInt64
        var trouble: Trouble
        var attempts: UInt8
        var losses: UInt8
        var isWhole: Bool
        var failures: [FailedTile]
    }

    /// The start of a page of failed work.
    struct FailedPlace: Hashable, Sendable {
        /// 0 = every job.
        var job: JobID
        /// Only entries after this one.
        var after: (job: JobID, index: BatchIndex)?

        static func == (left: FailedPlace, right: FailedPlace) -> Bool {
            left.job == right.job && left.after?.job == right.after?.job && left.after?.index == right.after?.index
        }
        func hash(into hasher: inout Hasher) { hasher.combine(job) }
    }

    /// The condition for a row of `batch` that is failed work.
    static let isFailedWork = """
        (state = \(BatchState.dead.rawValue) OR state = \(BatchState.done.rawValue) AND failed > 0)
            AND COALESCE(cause, '') <> '\(FailureCause.dropped.rawValue)'
        """

    /// One slice of ``failedWork(_:limit:named:)``, in one query of batches and one for the tiles of each.
    func failedSlice(_ place: FailedPlace, limit: Int, named: Int) async throws -> [FailedBatch] {
        try await perform { db in
            let after = place.after
            return try Row.fetchAll(
                db,
                sql: """
                    SELECT * FROM batch WHERE (? = 0 OR job = ?) AND (job, idx) > (?, ?) AND \(StateStore.isFailedWork)
                        AND job NOT IN (SELECT id FROM job WHERE state = '\(StateStore.forgotten)')
                    ORDER BY job, idx LIMIT ?
                    """,
                arguments: [
                    place.job.key, place.job.key, (after?.job ?? 0).key,
                    after?.index.number ?? -1, limit,
                ]
            ).map { row in
                let job = JobID(key: try row.value("job"))
                let index = BatchIndex(Int(try row.value("idx") as Int64))
                let batch = try StateStore.batch(row)
                let failures = try StateStore.failures(job, batch: index, limit: named, in: db)
                let first = failures.first.map {
                    Trouble(cause: $0.trouble.cause, detail: "\($0.tile) \($0.trouble.detail)")
                }
                let isWhole = batch.state == .dead
                return FailedBatch(
                    job: job, index: index, cell: batch.cell, zooms: batch.zooms,
                    tiles: isWhole ? batch.tiles : StateStore.number(try row.optional("failed")),
                    trouble: (isWhole ? batch.trouble : first) ?? Trouble(cause: "unknown", detail: ""),
                    attempts: batch.attempts, losses: batch.losses, isWhole: isWhole, failures: failures)
            }
        }
    }

    static func failures(_ job: JobID, batch: BatchIndex, limit: Int, in db: Database) throws -> [FailedTile] {
        try Row.fetchAll(
            db, sql: "SELECT tile, cause, detail FROM failure WHERE job = ? AND batch = ? ORDER BY tile LIMIT ?",
            arguments: [job.key, batch.number, limit]
        ).compactMap { row in
            guard let tile = TileID(hilbertID: StateStore.number(try row.optional("tile"))) else { return nil }
            return FailedTile(
                tile: tile, trouble: Trouble(cause: try row.value("cause"), detail: try row.value("detail")))
        }
    }

    /// Marks failed work as dropped, in the same way as ``StoredState``.
    static func drop(_ job: JobID, batches: [BatchIndex]?, in db: Database) throws {
        let select = "SELECT idx, cause, detail FROM batch WHERE job = ? AND \(isFailedWork)"
        let rows =
            try batches.map { chosen in
                let one = try db.cachedStatement(sql: select + " AND idx = ?")
                return try chosen.compactMap { try Row.fetchOne(one, arguments: [job.key, $0.number]) }
            } ?? Row.fetchAll(db, sql: select, arguments: [job.key])
        let update = try db.cachedStatement(sql: "UPDATE batch SET cause = ?, detail = ? WHERE job = ? AND idx = ?")
        for row in rows {
            let before =
                try (row.optional("cause") as String?).map { "\($0): \(try row.optional("detail") ?? "")" }
                ?? "tiles failed"
            let trouble = Trouble(cause: FailureCause.dropped.rawValue, detail: before)
            try update.execute(arguments: [trouble.cause, trouble.detail, job.key, try row.value("idx") as Int64])
        }
    }

    /// Makes batches ready for a first attempt, in the same way as ``StoredState``.
    static func reset(_ batches: [BatchIndex], of job: JobID, in db: Database) throws {
        let update = try db.cachedStatement(
            sql: """
                UPDATE batch SET state = \(BatchState.ready.rawValue), attempts = 0, losses = 0, owner = NULL,
                    partial = COALESCE(digest, partial), digest = NULL, stored = NULL, empty = NULL, failed = NULL,
                    body_bytes = NULL, shard_bytes = NULL, reused = NULL, not_modified = NULL, received = NULL,
                    received_again = NULL, not_sent = NULL, footer = NULL
                WHERE job = ? AND idx = ?
                """)
        let forget = try db.cachedStatement(sql: "DELETE FROM failure WHERE job = ? AND batch = ?")
        for index in batches {
            try update.execute(arguments: [job.key, index.number])
            try forget.execute(arguments: [job.key, index.number])
        }
    }

    /// Makes an ended job unfinished again.
    static func reopen(_ job: StoredJob, keepsBatches: Bool, in db: Database, wall: Int64) throws {
        let key = job.summary.key
        try update(job.summary, db, wall: wall)
        try db.execute(
            sql: "UPDATE job SET released = 0, ended = NULL, tiles = ? WHERE id = ?",
            arguments: [Int64(clamping: job.summary.counts.tiles), key])
        if !job.payload.isEmpty {
            try db.execute(sql: "UPDATE job SET spec = ? WHERE id = ?", arguments: [Data(job.payload), key])
        }
        if !keepsBatches {
            try db.execute(sql: "DELETE FROM batch WHERE job = ?", arguments: [key])
            try putPlan(of: job, db)
        }
        for (index, package) in job.packages.enumerated() {
            try put(package, job: job.summary.id, index: PackageIndex(index), in: db)
        }
        try db.execute(
            sql: """
                DELETE FROM failure WHERE job = ? AND NOT EXISTS (
                    SELECT 1 FROM batch WHERE batch.job = failure.job AND idx = failure.batch AND state IN (?, ?))
                """,
            arguments: [key, Int64(BatchState.done.rawValue), Int64(BatchState.dead.rawValue)])
    }

    // MARK: - Schedules

    /// The submission of a schedule, as a frame.
    func payload(ofSchedule id: String) async throws -> [UInt8]? {
        try await perform { db in
            try Data.fetchOne(db, sql: "SELECT spec FROM schedule WHERE id = ?", arguments: [id]).map(Array.init)
        }
    }
}
