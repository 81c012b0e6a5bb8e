import Digests
import Foundation
import Scheduling
import Tiles
import Wire

/// Converts a store write to a line of the event log.
enum ChangeCodec {
    /// The job that a write belongs to.
    static func job(of write: StoreWrite) -> JobID {
        switch write {
        case .insertJob(let job): job.summary.id
        case .job(let summary): summary.id
        case .forget(let id), .batch(let id, _, _), .package(let id, _, _), .failures(let id, _, _), .orphan(let id, _),
            .addBatches(let id, _, _), .dropped(let id, _), .resetBatches(let id, _):
            id
        case .reopen(let job, _): job.summary.id
        case .step(let step): step.job
        case .schedule, .firing, .dropSchedule, .originLimit, .originBlocked: 0
        }
    }

    static func kind(of write: StoreWrite) -> EventKind {
        switch write {
        case .insertJob: .jobInserted
        case .job: .job
        case .forget: .jobForgotten
        case .batch: .batch
        case .package: .package
        case .failures: .failures
        case .orphan: .orphan
        case .addBatches: .batchesAdded
        case .reopen: .jobReopened
        case .resetBatches: .batchesReset
        case .dropped: .dropped
        case .schedule: .schedule
        case .firing: .firing
        case .dropSchedule: .scheduleDropped
        case .step: .step
        case .originLimit: .originLimit
        case .originBlocked: .originBlocked
        }
    }

    /// The change without its job, which is stored in the row.
    static func encode(_ write: StoreWrite) throws(WireError) -> [UInt8] { try message(write).encoded() }

    private static func message(_ write: StoreWrite) -> PBLoggedChange {
        PBLoggedChange.make {
            switch write {
            case .insertJob(let job): $0.jobInserted = logged(job, plan: BatchPlan.logged(job.batches))
            case .job(let summary): $0.job = JobRecord.table.logged(summary)
            case .forget: $0.jobForgotten = true
            case .batch(let id, let index, let batch): $0.batch = logged(batch, job: id, index: index)
            case .package(let id, let index, let package): $0.package = logged(package, job: id, index: index)
            case .failures(_, let batch, let tiles):
                $0.failures = .make {
                    $0.batch = UInt64(batch.number)
                    $0.failures = tiles.map(WireConversions.failure)
                }
            case .orphan(_, let digest): $0.orphan = Data(digest.bytes)
            case .addBatches(let id, let first, let batches): $0.batchesAdded = logged(batches, id, first: first)
            case .reopen(let job, let keepsBatches):
                $0.jobReopened = .make {
                    if !keepsBatches { $0.plan = BatchPlan.logged(job.batches) }
                    $0.job = logged(job, plan: nil)
                }
            case .resetBatches(_, let batches):
                // Rows without any other field: a batch before its first attempt.
                $0.jobReopened = .make {
                    $0.batches = batches.map { index in
                        .make {
                            $0.integerFields = [BatchRecord.indexField]
                            $0.integers = [UInt64(index.number)]
                        }
                    }
                }
            case .dropped(_, let batches):
                $0.dropped = .make {
                    $0.all = batches == nil
                    $0.batches = (batches ?? []).map { UInt64($0.number) }
                }
            case .schedule(let schedule, _): $0.schedule = ScheduleRecord.table.logged(schedule)
            case .firing(let firing): $0.firing = FiringRecord.table.logged(firing)
            case .dropSchedule(let id): $0.scheduleDropped = id
            case .step(let step): $0.step = StepRecord.table.logged(step)
            case .originLimit(let origin, let limit): $0.originLimit = WireConversions.limit(origin, limit)
            case .originBlocked(let block): $0.originBlock = WireConversions.block(block)
            }
        }
    }

    private static func logged(_ job: StoredJob, plan: PBLoggedPlan?) -> PBLoggedJob {
        PBLoggedJob.make {
            $0.row = JobRecord.table.logged(job.summary)
            if let plan { $0.plan = plan }
            $0.packages = job.packages.enumerated().map { logged($1, job: job.summary.id, index: PackageIndex($0)) }
        }
    }

    private static func logged(_ batches: [Batch], _ job: JobID, first: BatchIndex) -> PBLoggedBatches {
        PBLoggedBatches.make {
            $0.first = UInt64(first.number)
            $0.plan = BatchPlan.logged(batches)
            $0.batches = batches.enumerated().map { logged($1, job: job, index: first.advanced(by: $0)) }
        }
    }

    private static func logged(_ batch: Batch, job: JobID, index: BatchIndex) -> PBLoggedRow {
        BatchRecord.table.logged(BatchRecord(job: job, index: index, batch: batch))
    }

    private static func logged(_ package: Package, job: JobID, index: PackageIndex) -> PBLoggedPackage {
        PBLoggedPackage.make {
            $0.row = PackageRecord.table.logged(PackageRecord(job: job, index: index, package: package))
            $0.files = package.merged?.files.map(WireConversions.file) ?? []
        }
    }
}
