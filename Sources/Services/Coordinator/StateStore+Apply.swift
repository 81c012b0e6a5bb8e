import Digests
import Foundation
import GRDB
import Scheduling
import Tiles

extension StateStore {
    /// Applies one write inside the caller's transaction.
    static func apply(_ write: StoreWrite, _ db: Database, wall: Int64) throws {
        switch write {
        case .insertJob(let job):
            try insert(job, db, wall: wall)
        case .job(let summary):
            try update(summary, db, wall: wall)
            if summary.state.isFinal { try endFiring(of: summary, in: db) }
        case .forget(let job):
            try moveToHistory(job, db)
            try removeSteps(of: job, in: db)
            try markForgotten(job, db)
        case .addBatches(let job, let first, let batches):
            for (offset, batch) in batches.enumerated() {
                try put(batch, job: job, index: first.advanced(by: offset), in: db)
            }
        case .step(let step): try StepRecord.table.put(step, db)
        case .reopen(let job, let keepsBatches):
            try removeSteps(of: job.summary.id, in: db)
            try reopen(job, keepsBatches: keepsBatches, in: db, wall: wall)
            try endFiring(of: job.summary, in: db)
        case .resetBatches(let job, let batches): try reset(batches, of: job, in: db)
        case .dropped(let job, let batches): try drop(job, batches: batches, in: db)
        case .schedule(let schedule, let payload): try put(schedule, payload: payload, in: db)
        case .dropSchedule(let id):
            try db.cachedStatement(sql: "DELETE FROM schedule WHERE id = ?").execute(arguments: [id])
            try db.cachedStatement(sql: "DELETE FROM firing WHERE schedule = ?").execute(arguments: [id])
        case .firing(let firing): try put(firing, in: db)
        case .originLimit(let origin, let limit): try put(limit, origin: origin, in: db)
        case .originBlocked: try removeOldBlocks(db)
        case .batch(let job, let index, let batch): try put(batch, job: job, index: index, in: db)
        case .package(let job, let index, let package): try put(package, job: job, index: index, in: db)
        case .failures(let job, let batch, let tiles): try put(tiles, job: job, batch: batch, in: db)
        case .orphan(let job, let digest):
            try db.cachedStatement(sql: "INSERT OR IGNORE INTO orphan (job, digest) VALUES (?, ?)")
                .execute(arguments: [job.key, Data(digest.bytes)])
        }
    }

    /// Stores the time of a job's first lease.
    static func recordStart(_ write: StoreWrite, _ db: Database, wall: Int64) throws {
        guard let job = write.leasedJob else { return }
        try db.cachedStatement(sql: "UPDATE job SET started = ? WHERE id = ? AND started IS NULL")
            .execute(arguments: [wall, job.key])
    }

    private static func insert(_ job: StoredJob, _ db: Database, wall: Int64) throws {
        try JobRecord.table.insert(job.summary, extra: [Data(job.payload), wall], db)
        try putPlan(of: job, db)
        for (index, package) in job.packages.enumerated() {
            try put(package, job: job.summary.id, index: PackageIndex(index), in: db)
        }
    }

    private static func put(_ tiles: [FailedTile], job: JobID, batch: BatchIndex, in db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM failure WHERE job = ? AND batch = ?")
            .execute(arguments: [job.key, batch.number])
        let statement = try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO failure (job, batch, tile, cause, detail) VALUES (?, ?, ?, ?, ?)")
        for failed in tiles {
            try statement.execute(arguments: [
                job.key, batch.number, Int64(bitPattern: failed.tile.hilbertID), failed.trouble.cause,
                failed.trouble.detail,
            ])
        }
    }
}
