import Digests
import Errors
import Foundation
import Scheduling
import Tiles
import Wire

/// Converts lines of the event log back to store writes, in order.
///
/// It remembers the plans of jobs, because batches and packages need them.
struct ChangeDecoder {
    private var plans: [JobID: [PlannedBatch]] = [:]

    /// The write that a line represents.
    ///
    /// - Throws: ``CoordinatorError`` `damaged-state`, ``WireError``.
    mutating func decode(_ bytes: [UInt8], job: JobID) throws -> StoreWrite {
        let change = try PBLoggedChange(decoding: bytes)
        switch change.change {
        case .jobInserted(let body):
            let planned = try Self.planned(body.plan, job)
            plans[job] = planned
            return .insertJob(try Self.job(body, id: job, batches: planned.map { Batch($0) }))
        case .job(let row): return .job(try Self.summary(row, job))
        case .jobForgotten:
            plans[job] = nil
            return .forget(job)
        case .batch(let row):
            let field = try BatchRecord.table.reader(row, Self.line(job))
            let index: BatchIndex = try field("idx")
            guard let planned = plans[job], planned.indices.contains(index.number) else { throw Self.unreadable(job) }
            return .batch(job, index: index, try BatchRecord.batch(planned[index.number], field))
        case .package(let body):
            let (index, package) = try Self.package(body, job)
            return .package(job, index: index, package)
        case .failures(let body):
            guard let batch = Int(exactly: body.batch).map(BatchIndex.init) else { throw Self.unreadable(job) }
            let tiles = body.failures.compactMap { failure in
                failure.tile.tileID.map {
                    FailedTile(tile: $0, trouble: Trouble(cause: failure.cause, detail: failure.detail))
                }
            }
            return .failures(job, batch: batch, tiles)
        case .orphan(let digest):
            guard let digest = Digest(bytes: digest) else { throw Self.unreadable(job) }
            return .orphan(job, digest)
        case .batchesAdded(let body):
            guard let first = Int(exactly: body.first), first == plans[job]?.count else { throw Self.unreadable(job) }
            let planned = try Self.planned(body.plan, job)
            plans[job]? += planned
            return .addBatches(job, first: BatchIndex(first), try Self.batches(body, planned: planned, job: job))
        case .jobReopened(let body) where !body.hasJob:
            return .resetBatches(
                job, try body.batches.map { try BatchRecord.table.reader($0, Self.line(job))("idx") })
        case .jobReopened(let body):
            // A job that keeps its batches has no new plan.
            let planned = try Self.planned(body.plan, job)
            if !planned.isEmpty { plans[job] = planned }
            return .reopen(
                try Self.job(body.job, id: job, batches: planned.map { Batch($0) }), keepsBatches: planned.isEmpty)
        case .dropped(let body):
            return .dropped(job, batches: body.all ? nil : body.batches.map { BatchIndex(Int(clamping: $0)) })
        case .schedule(let row):
            return .schedule(
                try ScheduleRecord.schedule(try ScheduleRecord.table.reader(row, Self.line(job))), payload: nil)
        case .firing(let row):
            return .firing(try FiringRecord.firing(try FiringRecord.table.reader(row, Self.line(job))))
        case .step(let row):
            return .step(try StepRecord.step(job, try StepRecord.table.reader(row, Self.line(job))))
        case .scheduleDropped(let id): return .dropSchedule(id)
        case .originLimit(let body): return .originLimit(body.origin, WireConversions.limit(body))
        case .originBlock(let body): return .originBlocked(WireConversions.block(body))
        case nil: throw Self.unreadable(job)
        }
    }

    private static func job(_ body: PBLoggedJob, id: JobID, batches: [Batch]) throws -> StoredJob {
        StoredJob(
            summary: try summary(body.row, id), batches: batches,
            packages: try body.packages.map { try package($0, id).package })
    }

    private static func summary(_ row: PBLoggedRow, _ id: JobID) throws -> JobSummary {
        try JobRecord.summary(id, try JobRecord.table.reader(row, line(id)))
    }

    private static func planned(_ plan: PBLoggedPlan, _ job: JobID) throws -> [PlannedBatch] {
        guard let planned = BatchPlan.planned(plan) else { throw unreadable(job) }
        return planned
    }

    private static func batches(_ body: PBLoggedBatches, planned: [PlannedBatch], job: JobID) throws -> [Batch] {
        guard planned.count == body.batches.count else { throw unreadable(job) }
        return try zip(body.batches, planned).map {
            try BatchRecord.batch($1, try BatchRecord.table.reader($0, line(job)))
        }
    }

    private static func package(_ body: PBLoggedPackage, _ job: JobID) throws -> (index: PackageIndex, package: Package)
    {
        guard let files = WireConversions.files(body.files) else { throw unreadable(job) }
        let field = try PackageRecord.table.reader(body.row, line(job))
        return (try field("idx"), try PackageRecord.package(field, files))
    }

    private static func line(_ job: JobID) -> () -> String { { "a line of the event log for job \(job)" } }

    private static func unreadable(_ job: JobID) -> CoordinatorError {
        StateStore.unreadable("\(line(job)()) is incomplete")
    }
}
