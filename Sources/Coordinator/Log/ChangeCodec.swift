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
            .addBatches(let id, _, _), .dropped(let id, _):
            id
        case .reopen(let job): job.summary.id
        case .schedule, .dropSchedule, .originLimit: 0
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
        case .dropped: .dropped
        case .schedule: .schedule
        case .dropSchedule: .scheduleDropped
        case .originLimit: .originLimit
        }
    }

    /// The change without its job, which is stored in the row.
    static func encode(_ write: StoreWrite) throws(WireError) -> [UInt8] { try message(write).encoded() }

    static func message(_ write: StoreWrite) -> PBLoggedChange {
        PBLoggedChange.make {
            switch write {
            case .insertJob(let job):
                var logged = self.logged(job.summary)
                logged.plan = plan(job.batches)
                logged.packages = job.packages.enumerated().map { self.logged($1, $0) }
                $0.jobInserted = logged
            case .job(let summary): $0.job = logged(summary)
            case .forget: $0.jobForgotten = true
            case .batch(_, let index, let batch): $0.batch = logged(batch, index)
            case .package(_, let index, let package): $0.package = logged(package, index)
            case .failures(_, let batch, let tiles):
                $0.failures = .make {
                    $0.batch = UInt64(batch)
                    $0.failures = tiles.map(WireConversions.failure)
                }
            case .orphan(_, let digest): $0.orphan = Data(digest.bytes)
            case .addBatches(_, let first, let batches): $0.batchesAdded = logged(batches, first: first)
            case .reopen(let job):
                var body = logged(job.batches, first: 0)
                body.job = logged(job.summary)
                body.job.packages = job.packages.enumerated().map { self.logged($1, $0) }
                $0.jobReopened = body
            case .dropped(_, let batches):
                $0.dropped = .make {
                    $0.all = batches == nil
                    $0.batches = (batches ?? []).map { UInt64($0) }
                }
            case .schedule(let schedule, _): $0.schedule = logged(schedule)
            case .dropSchedule(let id): $0.scheduleDropped = id
            case .originLimit(let origin, let limit): $0.originLimit = WireConversions.limit(origin, limit)
            }
        }
    }

    private static func logged(_ summary: JobSummary) -> PBLoggedJob {
        PBLoggedJob.make {
            $0.requestID = summary.requestID
            $0.priority = summary.priority
            $0.weight = summary.weight
            $0.allowedMissing = summary.allowedMissing
            $0.state = summary.state.rawValue
            $0.reason = summary.reason
            $0.tiles = summary.counts.tiles
            $0.stored = summary.counts.stored
            $0.empty = summary.counts.empty
            $0.failed = summary.counts.failed
            $0.bytes = summary.counts.bytes
            $0.reused = summary.counts.reused
            $0.notModified = summary.counts.notModified
            $0.received = summary.counts.received
            $0.batches = summary.counts.batches
            $0.after = summary.after
            $0.identity = Data(summary.identity?.bytes ?? [])
            $0.keepsBlobs = summary.keepsBlobs
            $0.wasPaused = summary.hasRested
            $0.sourceVersion = summary.sourceVersion ?? ""
        }
    }

    private static func logged(_ batches: [Batch], first: Int) -> PBLoggedBatches {
        PBLoggedBatches.make {
            $0.first = UInt64(first)
            $0.plan = plan(batches)
            $0.batches = batches.enumerated().map { logged($1, first + $0) }
        }
    }

    private static func logged(_ schedule: Schedule) -> PBLoggedSchedule {
        PBLoggedSchedule.make {
            $0.id = schedule.id
            $0.every = schedule.rule.description
            $0.label = schedule.label
            $0.next = schedule.next
            $0.lastJob = schedule.lastJob
            $0.fired = schedule.fired
            $0.skipped = schedule.skipped
        }
    }

    private static func plan(_ batches: [Batch]) -> PBLoggedPlan {
        PBLoggedPlan.make {
            $0.cells = batches.map(\.cell.hilbertID)
            $0.zoomMin = batches.map { UInt32($0.zooms.min) }
            $0.zoomMax = batches.map { UInt32($0.zooms.max) }
            $0.tiles = batches.map(\.tiles)
        }
    }

    private static func logged(_ batch: Batch, _ index: Int) -> PBLoggedBatch {
        PBLoggedBatch.make {
            $0.index = UInt64(index)
            $0.state = UInt32(batch.state.rawValue)
            $0.attempts = UInt32(batch.attempts)
            $0.losses = UInt32(batch.losses)
            $0.token = batch.token?.rawValue ?? 0
            $0.owner = batch.owner
            $0.digest = Data(batch.digest?.bytes ?? [])
            $0.stored = batch.result.stored
            $0.empty = batch.result.empty
            $0.failed = batch.result.failed
            $0.bodyBytes = batch.result.bodyBytes
            $0.shardBytes = batch.result.shardBytes
            $0.shardFooter = Data(batch.result.footer?.bytes ?? [])
            $0.reused = batch.result.reused
            $0.notModified = batch.result.notModified
            $0.received = batch.result.received
            $0.cause = batch.trouble?.cause ?? ""
            $0.detail = batch.trouble?.detail ?? ""
            $0.partial = Data(batch.partial?.bytes ?? [])
        }
    }

    private static func logged(_ package: Package, _ index: Int) -> PBLoggedPackage {
        PBLoggedPackage.make {
            $0.index = UInt64(index)
            $0.id = package.id
            $0.tiles = package.tiles
            $0.state = UInt32(package.state.rawValue)
            $0.attempts = UInt32(package.attempts)
            $0.losses = UInt32(package.losses)
            $0.token = package.token?.rawValue ?? 0
            $0.owner = package.owner
            $0.manifest = Data(package.manifest?.bytes ?? [])
            if let merged = package.merged {
                $0.digest = Data(merged.digest.bytes)
                $0.size = merged.size
                $0.mergedTiles = merged.tiles
                $0.tilesHash = merged.tilesHash
                $0.files = merged.files.map(WireConversions.file)
            }
            $0.version = package.version
            $0.path = package.path
            $0.cause = package.trouble?.cause ?? ""
            $0.detail = package.trouble?.detail ?? ""
        }
    }
}
