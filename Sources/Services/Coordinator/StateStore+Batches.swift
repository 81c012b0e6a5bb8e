import Errors
import Foundation
import GRDB
import Scheduling

/// Reads and changes of many batches in slices, so that none keeps the connection from a commit for long.
extension StateStore {
    /// Rows of one slice: some milliseconds of the connection.
    static let batchesInSlice = 500

    /// The stored submission of a job, as a frame; `nil` for an unknown job.
    func submission(of job: JobID) async throws -> [UInt8]? {
        try await perform { db in
            try Data.fetchOne(db, sql: "SELECT spec FROM job WHERE id = ?", arguments: [job.key])
                .map(Array.init)
        }
    }

    /// Prepares an ended job whose blobs still exist for a retry: the batches that the retry resets are reset now.
    ///
    /// Each slice is a transaction with its line in the event log. A retry that is not carried out after all leaves
    /// batches that the next retry finds ready.
    ///
    /// - Parameters:
    ///   - only: The failed batches to retry; `nil` = all.
    ///   - wall: Wall time for the log; milliseconds since 1970.
    /// - Returns: All batches, as they are now; `nil` when the job is unknown or has not ended.
    func resetBatches(of job: JobID, only: [BatchIndex]?, wall: Int64) async throws -> [Batch]? {
        guard var all = try await perform({ db in try StateStore.plannedBatches(of: job.key, db) }) else { return nil }
        let chosen = only.map { Set($0.map(\.number)) }
        var after: Int64 = -1
        while true {
            let start = after
            let slice = try await perform { db in
                try StateStore.resetSlice(of: job, after: start, chosen: chosen, wall: wall, in: db)
            }
            guard let slice else { return nil }
            for (index, batch) in slice {
                if index < all.count { all[index] = batch } else { all.append(batch) }
            }
            guard slice.count == Self.batchesInSlice, let last = slice.last else { return all }
            after = Int64(last.index)
        }
    }

    /// The next rows, reset as a retry does; `nil` when the job has not ended.
    private static func resetSlice(
        of job: JobID, after: Int64, chosen: Set<Int>?, wall: Int64, in db: Database
    ) throws -> [(index: Int, batch: Batch)]? {
        guard try isEnded(job, db) else { return nil }
        let rows = try Row.fetchAll(
            db, sql: "SELECT * FROM batch WHERE job = ? AND idx > ? ORDER BY idx LIMIT ?",
            arguments: [job.key, after, batchesInSlice])
        var (slice, reset): ([(index: Int, batch: Batch)], [BatchIndex]) = ([], [])
        for row in rows {
            let (index, batch) = (Int(try row.value("idx") as Int64), try batch(row))
            guard batch.isReset(byRetry: chosen?.contains(index) ?? true) else {
                slice.append((index, batch))
                continue
            }
            slice.append((index, batch.again))
            reset.append(BatchIndex(index))
        }
        if !reset.isEmpty { try applyAndLog(.resetBatches(job, reset), db, wall: wall) }
        return slice
    }

    /// Drops failed batches of an ended job, in slices.
    ///
    /// Each slice is a transaction with its line in the event log.
    ///
    /// - Parameter wall: Wall time for the log; milliseconds since 1970.
    func drop(_ batches: [BatchIndex], ofEnded job: JobID, wall: Int64) async throws {
        for start in stride(from: 0, to: batches.count, by: Self.batchesInSlice) {
            let slice = Array(batches[start..<min(start + Self.batchesInSlice, batches.count)])
            let isEnded = try await perform { db in
                guard try StateStore.isEnded(job, db) else { return false }
                try StateStore.applyAndLog(.dropped(job, batches: slice), db, wall: wall)
                return true
            }
            guard isEnded else { return }
        }
    }

    private static func isEnded(_ job: JobID, _ db: Database) throws -> Bool {
        let state = try String.fetchOne(db, sql: "SELECT state FROM job WHERE id = ?", arguments: [job.key])
        return state.flatMap(JobState.init)?.isFinal ?? false
    }

    /// Failed work by job and batch, at most `limit` entries, each with at most `named` of its tiles.
    ///
    /// The tiles of each entry are a query of their own, so a slice has only 100 entries.
    func failedWork(_ place: FailedPlace, limit: Int, named: Int) async throws -> [FailedBatch] {
        var (place, all) = (place, [FailedBatch]())
        while all.count < limit {
            let wanted = min(100, limit - all.count)
            let slice = try await failedSlice(place, limit: wanted, named: named)
            all += slice
            guard slice.count == wanted, let last = slice.last else { break }
            place.after = (last.job, last.index)
        }
        return all
    }

    /// The indices of the failed batches of a job.
    func failedBatches(of job: JobID) async throws -> [BatchIndex] {
        var all: [BatchIndex] = []
        while true {
            let after = all.last?.number ?? -1
            let slice = try await perform { db in
                try Int.fetchAll(
                    db,
                    sql: """
                        SELECT idx FROM batch WHERE job = ? AND idx > ? AND \(StateStore.isFailedWork)
                        ORDER BY idx LIMIT ?
                        """,
                    arguments: [job.key, after, StateStore.batchesInSlice])
            }
            all += slice.map(BatchIndex.init)
            guard slice.count == Self.batchesInSlice else { return all }
        }
    }
}
