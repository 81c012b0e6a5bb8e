/// The waiting jobs: new ones in order, and those that may not start before a given time.
struct TransferQueue {
    private var fresh: [TransferJob] = []
    private var head = 0
    /// Latest first, so that the next one is at the end.
    private var later: [(due: ContinuousClock.Instant, job: TransferJob)] = []

    var isEmpty: Bool { count == 0 }
    var count: Int { fresh.count - head + later.count }

    mutating func append(_ jobs: [TransferJob]) { fresh += jobs }

    mutating func append(_ job: TransferJob, due: ContinuousClock.Instant) {
        var low = 0
        var high = later.count
        while low < high {
            let middle = (low + high) / 2
            if later[middle].due > due { low = middle + 1 } else { high = middle }
        }
        later.insert((due, job), at: low)
    }

    /// When the next job may start; `nil` when there is none.
    func nextStart(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        if head < fresh.count { return now }
        return later.last.map { max($0.due, now) }
    }

    /// Removes the next job that may start now: a delayed one before a new one.
    ///
    /// - Parameter newFirst: Prefers a new one.
    mutating func pop(at now: ContinuousClock.Instant, newFirst: Bool = false) -> TransferJob? {
        let hasNew = head < fresh.count
        if let last = later.last, last.due <= now, !newFirst || !hasNew { return later.popLast()?.job }
        guard head < fresh.count else { return nil }
        let job = fresh[head]
        head += 1
        if head == fresh.count {
            fresh.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 1_024 {
            fresh.removeFirst(head)
            head = 0
        }
        return job
    }

    /// Ends the waits of all jobs.
    mutating func hurry(to now: ContinuousClock.Instant) {
        for place in later.indices where later[place].due > now { later[place].due = now }
    }

    /// Removes every job for which `isUnwanted` is true.
    mutating func remove(where isUnwanted: (TransferJob) -> Bool) -> [TransferJob] {
        let waiting = fresh[head...]
        let removed = waiting.filter(isUnwanted) + later.lazy.map(\.job).filter(isUnwanted)
        fresh = waiting.filter { !isUnwanted($0) }
        head = 0
        later.removeAll { isUnwanted($0.job) }
        return removed
    }
}
