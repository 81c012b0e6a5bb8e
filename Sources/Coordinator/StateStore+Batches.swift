import Errors
import Foundation
import GRDB
import Scheduling

/// Reads of many batches in slices, so that no read keeps the connection from a commit for long.
extension StateStore {
    /// Rows of one slice: some milliseconds of the connection.
    static let batchesInSlice = 1_000

    /// The stored submission of a job, as a frame; `nil` for an unknown job.
    func submission(of job: JobID) async throws -> [UInt8]? {
        try await perform { db in
            try Data.fetchOne(db, sql: "SELECT spec FROM job WHERE id = ?", arguments: [job.key])
                .map(Array.init)
        }
    }

    /// The batches of an ended job whose blobs still exist, by index.
    func batches(of job: JobID) async throws -> [Batch] {
        var all: [Batch] = []
        var last: Int64 = -1
        while true {
            let after = last
            let slice = try await perform { db in
                try Row.fetchAll(
                    db, sql: "SELECT * FROM batch WHERE job = ? AND idx > ? ORDER BY idx LIMIT ?",
                    arguments: [job.key, after, StateStore.batchesInSlice]
                ).map { (index: $0["idx"] as Int64, batch: try StateStore.batch($0)) }
            }
            all += slice.map(\.batch)
            guard let end = slice.last else { return all }
            last = end.index
        }
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
