public import Digests
import Errors
import Tiles

/// Jobs over an archive on a web server: a first lease plans the ranges, and the batches are parts of its plan.
///
/// The plan is a blob, a function of the mask, the archive's directories and this build. Until it is accepted, its batch is an
/// ordinary one: it is leased, fails, is repeated and is divided like any other. When it is accepted, it is split into
/// parts that name its positions, in the same transaction. So a coordinator that dies finds either the batch or all of its parts.
extension Scheduler {
    /// The most parts of one plan.
    static let maxParts = 16_384

    mutating func commitPlan(
        _ id: SessionID, token: LeaseToken, job: JobPlace, batch index: BatchIndex, plan: RangePlanResult, now: Tick
    ) {
        let batch = jobs[job].batches[index]
        if let problem = plan.problem(for: batch) {
            refuse(id, token: token, trouble: Trouble(cause: "bad-counts", detail: problem), now: now)
            return
        }
        guard admits(plan.sourceVersion, to: job) else {
            store(.orphan(jobs[job].summary.id, plan.digest))
            send(.stale(token, reason: FailureCause.sourceChanged.rawValue), to: id)
            return endForSource(job, by: id, found: plan.sourceVersion ?? "", now: now)
        }
        noteBlockList(plan.blockList, of: job)
        _ = close(token, now: now)
        endCompetingLeases(job, batch: index, of: token, now: now)
        jobs[job].batches[index].token = token
        jobs[job].batches[index].digest = plan.digest
        jobs[job].batches[index].partial = nil
        jobs[job].batches[index].trouble = nil
        if let partial = batch.partial { store(.orphan(jobs[job].summary.id, partial)) }
        var first: UInt32 = 0
        let parts = plan.parts.map { part in
            defer { first += UInt32(part.tiles) }
            return Batch(
                PlannedBatch(
                    cell: part.cell, zooms: part.zooms, tiles: part.tiles, role: .part(of: index, first: first)))
        }
        ended[token] = .batch(job: job, index: index)
        divide(job, batch: index, into: parts, served: plan.served)
        send(.ack(token, plan.digest), to: id)
        advance(job, now: now)
    }

    /// Records what became of the list of blocks; of several plans and parts, the first one that did not use it.
    mutating func noteBlockList(_ note: String, of job: JobPlace) {
        let old = jobs[job].summary.blockList
        guard !note.isEmpty, old.isEmpty || old.hasPrefix("used") && !note.hasPrefix("used") else { return }
        jobs[job].summary.blockList = note
        storeJob(job)
    }

    /// Divides a batch that is a part of a plan into halves: its cell can have other tiles too.
    mutating func halve(_ job: JobPlace, batch index: BatchIndex) {
        let batch = jobs[job].batches[index]
        guard case .part(let plan, let first) = batch.role else { return }
        let half = batch.tiles / 2
        splitPlanned(
            job, batch: index,
            parts: [(first, half), (first + UInt32(half), batch.tiles - half)].map { start, tiles in
                PlannedBatch(
                    cell: batch.cell, zooms: batch.zooms, tiles: tiles, role: .part(of: plan, first: start))
            })
    }

    /// The plan that a batch is a part of; `nil` for other batches.
    func plan(of job: JobPlace, batch: Batch) -> OfferedPlan? {
        guard case .part(let index, let first) = batch.role, jobs[job].batches.indices.contains(index),
            let digest = jobs[job].batches[index].digest
        else { return nil }
        let planned = jobs[job].batches[index]
        return OfferedPlan(
            digest: digest, cell: planned.cell, zooms: planned.zooms, tiles: planned.tiles, first: first)
    }

    /// Whether a worker understands the batches of a job.
    func understands(_ job: JobPlace, _ id: SessionID) -> Bool {
        !jobs[job].isPlanned || sessions[id]?.profile.plansRanges == true
    }

    /// Whether all that workers do for a job is the planning of its ranges.
    public func isPlanning(_ id: JobID) -> Bool {
        guard isLiving(id), let job = places[id], jobs[job].isPlanned, !jobs[job].leased.isEmpty else { return false }
        return jobs[job].leased.allSatisfy { token in
            guard case .batch(_, let index)? = leases[token]?.work else { return false }
            return jobs[job].batches[index].role == .plan
        }
    }

    /// The job of a live lease, or `nil`.
    public func job(holding token: LeaseToken) -> JobID? {
        leases[token].map { jobs[$0.work.job].summary.id }
    }
}

/// The ranges of a batch, planned by a worker.
public struct RangePlanResult: Hashable, Sendable {
    /// SHA-256 of the plan, durable as a blob.
    public var digest: Digest
    /// Bytes of the blob.
    public var bytes: UInt64
    /// The parts, by ascending position; their roles mean nothing.
    public var parts: [PlannedBatch]
    /// See ``JobSummary/sourceVersion``.
    public var sourceVersion: String?
    /// The packages that need each part; `nil` = all that need the batch.
    ///
    /// Computed by the caller that has the masks.
    public var served: [[PackageIndex]]?
    /// See ``JobSummary/blockList``.
    public var blockList = ""

    /// A plan and its parts.
    public init(digest: Digest, bytes: UInt64, parts: [PlannedBatch], sourceVersion: String? = nil) {
        self.digest = digest
        self.bytes = bytes
        self.parts = parts
        self.sourceVersion = sourceVersion
    }

    /// Why the plan is not one of a batch, or `nil`.
    ///
    /// A plan with fewer tiles than its batch would lose tiles: the parts are all that is left of the batch.
    func problem(for batch: Batch) -> String? {
        guard batch.role == .plan else { return "a plan for a batch that is not to be planned" }
        guard 1...Scheduler.maxParts ~= parts.count else { return "a plan of \(parts.count) parts" }
        var tiles: UInt64 = 0
        for part in parts {
            let (sum, overflow) = tiles.addingReportingOverflow(part.tiles)
            guard !overflow, part.tiles > 0, batch.cell.contains(part.cell),
                batch.zooms.min <= part.zooms.min, part.zooms.max <= batch.zooms.max, part.cell.zoom <= part.zooms.max
            else { return "a part \(part.cell) \(part.zooms) of \(part.tiles) tiles is outside of the batch" }
            tiles = sum
        }
        guard tiles == batch.tiles, tiles <= UInt64(UInt32.max) else {
            return "the parts have \(tiles) tiles; the batch has \(batch.tiles)"
        }
        return nil
    }
}
