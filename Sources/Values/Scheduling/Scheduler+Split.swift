import Errors
import HeapModule
public import Tiles

/// A batch that failed completely too often.
///
/// The component that has the mask must split it.
///
/// See ``BatchPlanner/parts(of:zooms:mask:)``.
public struct CutRequest: Hashable, Sendable {
    /// The job.
    public let job: JobID
    /// The batch's index in it.
    public let batch: BatchIndex
    /// The batch's cell.
    public let cell: TileID
    /// The batch's zooms.
    public let zooms: ZoomRange
}

extension Scheduler {
    /// Handles a batch after its last attempt: it is split or marked as dead.
    mutating func splitOrMarkDead(_ job: JobPlace, batch index: BatchIndex, trouble: Trouble, now: Tick) {
        let batch = jobs[job].batches[index]
        guard FailureCause(named: trouble.cause).isWorthCutting, batch.tiles > 1, jobs[job].cuts < policy.maxCuts,
            jobs[job].summary.state == .fetching
        else {
            markDead(job, batch: index, trouble: trouble, now: now)
            return
        }
        guard batch.plannedPart == nil else { return halve(job, batch: index) }
        // If the split is not carried out, the batch is simply retried.
        jobs[job].move(index, to: .backoff)
        storeBatch(job, batch: index)
        setAlarm(.batch(job: job, index: index), at: now + policy.backoffCap)
        effects.append(
            .split(CutRequest(job: jobs[job].summary.id, batch: index, cell: batch.cell, zooms: batch.zooms)))
    }

    /// Marks a batch as dead.
    mutating func markDead(_ job: JobPlace, batch index: BatchIndex, trouble: Trouble, now: Tick) {
        jobs[job].move(index, to: .dead)
        jobs[job].summary.counts.failed += jobs[job].batches[index].tiles
        recordFirstFailure("\(jobs[job].batches[index].cell) \(trouble.cause): \(trouble.detail)", of: job)
        storeBatch(job, batch: index)
        advance(job, now: now)
    }

    /// Replaces a batch by its parts.
    ///
    /// The parts inherit its failures, so that one more failure splits again. A single tile gets two more attempts,
    /// because its failure is final.
    mutating func splitPlanned(_ id: JobID, batch index: BatchIndex, parts: [PlannedBatch], now: Tick) {
        guard let job = places[id], jobs[job].summary.state == .fetching, jobs[job].batches.indices.contains(index),
            [.backoff, .ready].contains(jobs[job].batches[index].state)
        else { return }
        let parent = jobs[job].batches[index]
        guard parts.count > 1, parts.reduce(0, { $0 + $1.tiles }) == parent.tiles else {
            markDead(
                job, batch: index,
                trouble: parent.trouble ?? Trouble(cause: "internal", detail: "the batch could not be split"),
                now: now)
            return
        }
        splitPlanned(job, batch: index, parts: parts)
    }

    /// Replaces a batch by parts that have all of its tiles.
    mutating func splitPlanned(_ job: JobPlace, batch index: BatchIndex, parts: [PlannedBatch]) {
        let parent = jobs[job].batches[index]
        jobs[job].cuts += 1
        let children = parts.map { part in
            let chances: UInt8 = part.tiles == 1 ? 2 : 1
            // The quarters of a batch whose plan fails are planned each for itself.
            let role = parent.role == .plan ? .plan : part.role
            var batch = Batch(PlannedBatch(cell: part.cell, zooms: part.zooms, tiles: part.tiles, role: role))
            batch.attempts = min(parent.attempts, policy.maxAttempts - min(policy.maxAttempts, chances))
            batch.losses = min(parent.losses, policy.maxLosses - min(policy.maxLosses, chances + 1))
            batch.trouble = parent.trouble
            batch.partial = parent.partial
            return batch
        }
        divide(job, batch: index, into: children)
    }

    /// Replaces a batch by ready ones that have all of its tiles.
    ///
    /// - Parameter served: The packages that need each of them; `nil` = all that need the batch.
    mutating func divide(
        _ job: JobPlace, batch index: BatchIndex, into children: [Batch], served: [[PackageIndex]]? = nil
    ) {
        // The parts are appended first, so that no package counts the batch as complete in between.
        append(children, to: job, madeFrom: index, served: served)
        jobs[job].move(index, to: .split)
        storeBatch(job, batch: index)
        queue(job)
    }

    /// Appends ready batches.
    private mutating func append(
        _ batches: [Batch], to job: JobPlace, madeFrom parent: BatchIndex, served: [[PackageIndex]]?
    ) {
        let first = jobs[job].batches.endIndex
        jobs[job].batches.append(contentsOf: batches)
        for number in batches.indices {
            if let served, served.indices.contains(number) {
                jobs[job].needs.append(childOf: parent, for: served[number])
            } else {
                jobs[job].needs.append(childOf: parent)
            }
        }
        jobs[job].summary.counts[.ready] += UInt64(batches.count)
        for index in jobs[job].batches.indices[first...] { jobs[job].ready.insert(index) }
        store(.addBatches(jobs[job].summary.id, first: first, batches))
    }
}
