import DequeModule
import HeapModule

/// Assigns packages to mergers: workers of different builds write different formats, and packages need different ones. A package of a
/// job with labels also needs a merger that has them.
extension Scheduler {
    /// Queues a ready package for a merger that writes all its formats and has all labels of its job.
    mutating func queueMerge(_ job: JobPlace, package: PackageIndex) {
        let entry = MergeQueueEntry(priority: jobs[job].summary.priority, job: job, package: package)
        mergeQueues[jobs[job].mergeNeeds(of: package), default: []].insert(entry)
    }

    /// The first package that a free worker can merge, and that worker.
    ///
    /// Both are removed from their queues.
    ///
    /// Of several workers the one with the fewest formats and labels is chosen, so that those with more stay free.
    mutating func nextMerge(now: Tick) -> (MergeQueueEntry, SessionID)? {
        var best: (entry: MergeQueueEntry, needs: MergeNeeds, mergers: MergeNeeds)?
        for needs in Array(mergeQueues.keys) {
            guard let entry = firstMerge(needs) else { continue }
            if let best, best.entry < entry { continue }
            if let mergers = sparestMergers(for: needs, now: now) { best = (entry, needs, mergers) }
        }
        guard let best, let id = mergers[best.mergers]?.popFirst() else { return nil }
        mergeQueues[best.needs]?.removeMin()
        sessions[id]?.isQueuedToMerge = false
        return (best.entry, id)
    }

    /// The formats of a job's package besides MBTiles, ascending.
    public func formats(of id: JobID, package: PackageIndex) -> [String] {
        places[id].map { jobs[$0].formats(of: package) } ?? []
    }

    /// The formats that a job's ready packages need and that no connected worker writes; empty = none.
    public func missingFormats(of id: JobID) -> [String] {
        guard let job = places[id], !jobs[job].summary.state.isFinal else { return [] }
        let workers = sessions.values.filter { hasLabels($0, of: job) }
        // That no worker has the labels of the job is another reason.
        guard !workers.isEmpty || jobs[job].labels.isEmpty else { return [] }
        let able = Set(workers.filter(\.profile.canMerge).map(\.profile.exports))
        var missing: Set<String> = []
        for (index, package) in jobs[job].packages.placed where package.state == .ready {
            let formats = jobs[job].formats(of: index)
            // Some connected workers may only fetch, because their packages would be of an older format.
            if able.isEmpty, !workers.isEmpty { missing.insert("mbtiles") }
            guard !formats.isEmpty, !able.contains(where: { formats.allSatisfy($0.contains) }) else { continue }
            let alone = formats.filter { format in !able.contains { $0.contains(format) } }
            missing.formUnion(alone.isEmpty ? formats : alone)
        }
        return missing.sorted()
    }

    /// The first entry of a queue, left in it.
    ///
    /// Outdated entries are dropped.
    private mutating func firstMerge(_ needs: MergeNeeds) -> MergeQueueEntry? {
        while let entry = mergeQueues[needs]?.min {
            if jobs.contains(entry.job) {
                let job = jobs[entry.job]
                let isCurrent = entry.priority >= 0 && entry.priority == job.summary.priority
                if isCurrent, !job.summary.state.isFinal, job.packages[entry.package].state == .ready { return entry }
            }
            mergeQueues[needs]?.removeMin()
        }
        mergeQueues[needs] = nil
        return nil
    }

    /// The queue of mergers that have all of this and as little else as possible, or `nil` when none is free.
    private mutating func sparestMergers(for needs: MergeNeeds, now: Tick) -> MergeNeeds? {
        var best: MergeNeeds?
        for having in Array(mergers.keys) where having.covers(needs) {
            guard hasMerger(having, now: now) else { continue }
            if best.map(having.isSparer(than:)) ?? true { best = having }
        }
        return best
    }

    /// Whether the first session of a queue can take work.
    ///
    /// Other sessions are dropped from the queue.
    private mutating func hasMerger(_ having: MergeNeeds, now: Tick) -> Bool {
        while let id = mergers[having]?.first {
            if let session = sessions[id], session.profile.mergeNeeds == having, canMerge(session, now: now) {
                return true
            }
            _ = mergers[having]?.popFirst()
            sessions[id]?.isQueuedToMerge = false
            // A worker that reconnected as another build is queued again by what it has now.
            enlist(id, now: now)
        }
        mergers[having] = nil
        return false
    }
}
