import HeapModule
public import Tiles

/// A batch that failed as a whole too often, to be cut by whoever has the mask.
///
/// See ``BatchPlanner/parts(of:zooms:mask:)``.
public struct CutRequest: Hashable, Sendable {
    /// The job.
    public let job: JobID
    /// The batch's index in it.
    public let batch: Int
    /// The batch's cell.
    public let cell: TileID
    /// The batch's zooms.
    public let zooms: ZoomRange
}

extension Scheduler {
    /// What becomes of a batch that had its last attempt: it is cut, or given up.
    mutating func exhaust(_ job: Int, _ index: Int, _ trouble: Trouble, now: Tick) {
        let batch = jobs[job].batches[index]
        guard FailureCause(named: trouble.cause).isWorthCutting, batch.tiles > 1, jobs[job].cuts < policy.mostCuts,
            jobs[job].summary.state == .fetching
        else {
            bury(job, index, trouble, now: now)
            return
        }
        // Should nobody cut it, it is simply tried again.
        jobs[job].move(index, to: .backoff)
        storeBatch(job, index)
        setAlarm(.batch(job: job, index: index), at: now + policy.backoffCap)
        effects.append(
            .split(CutRequest(job: jobs[job].summary.id, batch: index, cell: batch.cell, zooms: batch.zooms)))
    }

    /// Gives a batch up.
    mutating func bury(_ job: Int, _ index: Int, _ trouble: Trouble, now: Tick) {
        jobs[job].move(index, to: .dead)
        jobs[job].summary.counts.failed += jobs[job].batches[index].tiles
        note(job, "\(jobs[job].batches[index].cell) \(trouble.cause): \(trouble.detail)")
        storeBatch(job, index)
        advance(job, now: now)
    }

    /// Puts the parts of a batch in its place.
    ///
    /// They inherit its bad ends, so that one more cuts again; a lone tile gets two more, because its end is final.
    mutating func splitPlanned(_ id: JobID, _ index: Int, _ parts: [PlannedBatch], now: Tick) {
        guard let job = places[id], jobs[job].summary.state == .fetching, jobs[job].batches.indices.contains(index),
            [.backoff, .ready].contains(jobs[job].batches[index].state)
        else { return }
        let parent = jobs[job].batches[index]
        guard parts.count > 1, parts.reduce(0, { $0 + $1.tiles }) == parent.tiles else {
            bury(job, index, parent.trouble ?? Trouble(cause: "internal", detail: "it could not be cut"), now: now)
            return
        }
        jobs[job].cuts += 1
        let children = parts.map { part in
            let chances: UInt8 = part.tiles == 1 ? 2 : 1
            var batch = Batch(part)
            batch.attempts = min(parent.attempts, policy.maxAttempts - min(policy.maxAttempts, chances))
            batch.losses = min(parent.losses, policy.maxLosses - min(policy.maxLosses, chances + 1))
            batch.trouble = parent.trouble
            batch.partial = parent.partial
            return batch
        }
        // The parts first, so that no package takes the batch for settled in between.
        append(children, to: job, madeFrom: index)
        jobs[job].move(index, to: .split)
        storeBatch(job, index)
        queue(job)
    }

    /// Adds ready batches behind all others; they belong to the packages that the batch they were cut from belongs to.
    private mutating func append(_ batches: [Batch], to job: Int, madeFrom parent: Int) {
        let first = jobs[job].batches.count
        jobs[job].batches += batches
        for _ in batches { jobs[job].needs.append(childOf: parent) }
        jobs[job].summary.counts[.ready] += UInt64(batches.count)
        for index in jobs[job].batches.indices[first...] { jobs[job].ready.insert(index) }
        store(.addBatches(jobs[job].summary.id, first: first, batches))
    }
}
