import Scheduling

/// Since when unfinished jobs have made no progress.
struct IdleJobs: Sendable {
    private var moves: [JobID: (mark: SchedulerTotals.Progress.Mark, since: Tick)] = [:]

    /// Compares with the marks of the last call.
    ///
    /// - Returns: The longest time without progress of a free job, in milliseconds.
    mutating func update(_ progress: [SchedulerTotals.Progress], now: Tick) -> Int64 {
        var next: [JobID: (mark: SchedulerTotals.Progress.Mark, since: Tick)] = [:]
        next.reserveCapacity(progress.count)
        var longest: Int64 = 0
        for job in progress {
            var since = now
            // A paused job begins anew when it is resumed.
            if job.isFree, let before = moves[job.job], before.mark == job.mark { since = before.since }
            next[job.job] = (job.mark, since)
            longest = max(longest, now - since)
        }
        moves = next
        return longest
    }
}
