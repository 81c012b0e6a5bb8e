import DequeModule
import HeapModule

/// Assigns packages to mergers: workers of different builds write different formats, and packages need different ones.
extension Scheduler {
    /// Queues a ready package for a merger that writes all its formats.
    mutating func queueMerge(_ job: JobPlace, package: PackageIndex) {
        let entry = MergeQueueEntry(priority: jobs[job].summary.priority, job: job, package: package)
        mergeQueues[jobs[job].formats(of: package), default: []].insert(entry)
    }

    /// The first package that a free worker can merge, and that worker.
    ///
    /// Both are removed from their queues.
    ///
    /// Of several workers the one with the fewest formats is chosen, so that those with more formats stay free.
    mutating func nextMerge(now: Tick) -> (MergeQueueEntry, SessionID)? {
        var best: (entry: MergeQueueEntry, formats: [String], exports: [String])?
        for formats in Array(mergeQueues.keys) {
            guard let entry = firstMerge(formats) else { continue }
            if let best, best.entry < entry { continue }
            if let exports = sparestMergers(of: formats, now: now) { best = (entry, formats, exports) }
        }
        guard let best, let id = mergers[best.exports]?.popFirst() else { return nil }
        mergeQueues[best.formats]?.removeMin()
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
        let able = Set(sessions.values.filter(\.profile.canMerge).map(\.profile.exports))
        var missing: Set<String> = []
        for (index, package) in jobs[job].packages.placed where package.state == .ready {
            let formats = jobs[job].formats(of: index)
            // Some connected workers may only fetch, because their packages would be of an older format.
            if able.isEmpty, !sessions.isEmpty { missing.insert("mbtiles") }
            guard !formats.isEmpty, !able.contains(where: { formats.allSatisfy($0.contains) }) else { continue }
            let alone = formats.filter { format in !able.contains { $0.contains(format) } }
            missing.formUnion(alone.isEmpty ? formats : alone)
        }
        return missing.sorted()
    }

    /// The first entry of a queue, left in it.
    ///
    /// Outdated entries are dropped.
    private mutating func firstMerge(_ formats: [String]) -> MergeQueueEntry? {
        while let entry = mergeQueues[formats]?.min {
            if jobs.contains(entry.job) {
                let job = jobs[entry.job]
                let isCurrent = entry.priority >= 0 && entry.priority == job.summary.priority
                if isCurrent, !job.summary.state.isFinal, job.packages[entry.package].state == .ready { return entry }
            }
            mergeQueues[formats]?.removeMin()
        }
        mergeQueues[formats] = nil
        return nil
    }

    /// The queue of mergers that write all these formats and as few others as possible, or `nil` when none is free.
    private mutating func sparestMergers(of formats: [String], now: Tick) -> [String]? {
        var best: [String]?
        for exports in Array(mergers.keys) where formats.allSatisfy(exports.contains) {
            guard hasMerger(exports, now: now) else { continue }
            guard let known = best else {
                best = exports
                continue
            }
            if (exports.count, exports.joined(separator: " ")) < (known.count, known.joined(separator: " ")) {
                best = exports
            }
        }
        return best
    }

    /// Whether the first session of a queue can take work.
    ///
    /// Other sessions are dropped from the queue.
    private mutating func hasMerger(_ exports: [String], now: Tick) -> Bool {
        while let id = mergers[exports]?.first {
            if let session = sessions[id], session.profile.exports == exports, canMerge(session, now: now) {
                return true
            }
            _ = mergers[exports]?.popFirst()
            sessions[id]?.isQueuedToMerge = false
            // A worker that reconnected as another build is queued again by its formats.
            enlist(id, now: now)
        }
        mergers[exports] = nil
        return false
    }
}
