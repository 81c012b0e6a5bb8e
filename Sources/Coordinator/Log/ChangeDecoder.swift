import Errors
import Foundation
import Scheduling
import Tiles
import Wire

/// Converts lines of the event log back to store writes, in order.
///
/// It remembers the plans of jobs, because batches and packages need them.
struct ChangeDecoder {
    private var plans: [JobID: [Batch]] = [:]

    /// The write that a line represents.
    ///
    /// - Throws: ``CoordinatorError`` `damaged-state`, ``WireError``.
    mutating func decode(_ bytes: [UInt8], job: JobID) throws -> StoreWrite {
        let change = try PBLoggedChange(decoding: bytes)
        switch change.change {
        case .jobInserted(let body):
            let batches = try Self.batches(body.plan, job)
            plans[job] = batches
            let packages = try body.packages.map { try Self.package($0, job) }
            return .insertJob(StoredJob(summary: try Self.summary(body, job), batches: batches, packages: packages))
        case .job(let body): return .job(try Self.summary(body, job))
        case .jobForgotten:
            plans[job] = nil
            return .forget(job)
        case .batch(let body):
            guard let index = Int(exactly: body.index), let planned = plans[job], planned.indices.contains(index) else {
                throw Self.unreadable(job)
            }
            return .batch(job, index: index, try Self.batch(body, planned[index], job))
        case .package(let body):
            guard let index = Int(exactly: body.index) else { throw Self.unreadable(job) }
            return .package(job, index: index, try Self.package(body, job))
        case .failures(let body):
            guard let batch = Int(exactly: body.batch) else { throw Self.unreadable(job) }
            let tiles = body.failures.compactMap { failure in
                failure.tile.tileID.map {
                    FailedTile(tile: $0, trouble: Trouble(cause: failure.cause, detail: failure.detail))
                }
            }
            return .failures(job, batch: batch, tiles)
        case .orphan(let digest):
            guard let digest = ContentDigest(digest) else { throw Self.unreadable(job) }
            return .orphan(job, digest)
        case .batchesAdded(let body):
            guard let first = Int(exactly: body.first), first == plans[job]?.count else { throw Self.unreadable(job) }
            let batches = try Self.batches(body, job)
            plans[job]? += batches
            return .addBatches(job, first: first, batches)
        case .jobReopened(let body):
            let batches = try Self.batches(body, job)
            plans[job] = batches
            let packages = try body.job.packages.map { try Self.package($0, job) }
            return .reopen(
                StoredJob(summary: try Self.summary(body.job, job), batches: batches, packages: packages))
        case .dropped(let body):
            return .dropped(job, batches: body.all ? nil : body.batches.map { Int(clamping: $0) })
        case .schedule(let body): return .schedule(try Self.schedule(body), payload: nil)
        case .scheduleDropped(let id): return .dropSchedule(id)
        case .originLimit(let body): return .originLimit(body.origin, WireConversions.limit(body))
        case nil: throw Self.unreadable(job)
        }
    }

    private static func batches(_ body: PBLoggedBatches, _ job: JobID) throws -> [Batch] {
        let planned = try batches(body.plan, job)
        guard planned.count == body.batches.count else { throw unreadable(job) }
        return try zip(body.batches, planned).map { try batch($0, $1, job) }
    }

    private static func schedule(_ body: PBLoggedSchedule) throws -> Schedule {
        guard let rule = try? CalendarRule(body.every) else { throw unreadable(0) }
        return Schedule(
            id: body.id, rule: rule, label: body.label, next: body.next, lastJob: body.lastJob, fired: body.fired,
            skipped: body.skipped)
    }

    private static func summary(_ body: PBLoggedJob, _ job: JobID) throws -> JobSummary {
        guard let state = JobState(rawValue: body.state) else { throw unreadable(job) }
        var counts = JobCounts()
        counts.tiles = body.tiles
        counts.stored = body.stored
        counts.empty = body.empty
        counts.failed = body.failed
        counts.bytes = body.bytes
        counts.reused = body.reused
        counts.notModified = body.notModified
        counts.received = body.received
        for (index, count) in body.batches.enumerated() where counts.batches.indices.contains(index) {
            counts.batches[index] = count
        }
        return JobSummary(
            id: job, requestID: body.requestID, priority: body.priority, weight: body.weight,
            allowedMissing: body.allowedMissing, state: state, reason: body.reason, counts: counts,
            after: body.after, identity: ContentDigest(body.identity), keepsBlobs: body.keepsBlobs,
            hasRested: body.wasPaused, sourceVersion: body.sourceVersion.isEmpty ? nil : body.sourceVersion)
    }

    private static func batches(_ plan: PBLoggedPlan, _ job: JobID) throws -> [Batch] {
        guard plan.zoomMin.count == plan.cells.count, plan.zoomMax.count == plan.cells.count,
            plan.tiles.count == plan.cells.count
        else { throw unreadable(job) }
        return try plan.cells.indices.map { index in
            guard let cell = TileID(hilbertID: plan.cells[index]),
                let zooms = ZoomRange(min: Int(plan.zoomMin[index]), max: Int(plan.zoomMax[index]))
            else { throw unreadable(job) }
            return Batch(PlannedBatch(cell: cell, zooms: zooms, tiles: plan.tiles[index]))
        }
    }

    private static func batch(_ body: PBLoggedBatch, _ planned: Batch, _ job: JobID) throws -> Batch {
        guard let state = BatchState(rawValue: UInt8(clamping: body.state)) else { throw unreadable(job) }
        return Batch(
            cell: planned.cell, zooms: planned.zooms, tiles: planned.tiles, state: state,
            attempts: UInt8(clamping: body.attempts), losses: UInt8(clamping: body.losses),
            token: body.token == 0 ? nil : LeaseToken(body.token), owner: body.owner,
            digest: ContentDigest(body.digest), partial: ContentDigest(body.partial),
            result: FetchCounts(
                stored: body.stored, empty: body.empty, failed: body.failed, bodyBytes: body.bodyBytes,
                shardBytes: body.shardBytes, reused: body.reused,
                notModified: body.notModified, received: body.received, footer: ContentDigest(body.shardFooter)),
            trouble: trouble(body.cause, body.detail))
    }

    private static func package(_ body: PBLoggedPackage, _ job: JobID) throws -> Package {
        guard let state = PackageState(rawValue: UInt8(clamping: body.state)) else { throw unreadable(job) }
        guard let files = WireConversions.files(body.files) else { throw unreadable(job) }
        let merged = ContentDigest(body.digest).map {
            MergedPackage(
                digest: $0, size: body.size, tiles: body.mergedTiles, tilesHash: body.tilesHash, files: files)
        }
        return Package(
            id: body.id, tiles: body.tiles, state: state, attempts: UInt8(clamping: body.attempts),
            losses: UInt8(clamping: body.losses), token: body.token == 0 ? nil : LeaseToken(body.token),
            owner: body.owner,
            manifest: ContentDigest(body.manifest), merged: merged, version: body.version, path: body.path,
            trouble: trouble(body.cause, body.detail))
    }

    private static func trouble(_ cause: String, _ detail: String) -> Trouble? {
        cause.isEmpty ? nil : Trouble(cause: cause, detail: detail)
    }

    private static func unreadable(_ job: JobID) -> CoordinatorError {
        CoordinatorError(
            .damagedState, "A line of the event log for job \(job) cannot be decoded. Restore a backup.")
    }
}
