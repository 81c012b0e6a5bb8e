import Scheduling

/// Since when unfinished jobs have made no progress.
struct IdleJobs: Sendable {
    /// Ascending by job, as the scheduler lists them.
    private var moves: [(job: SchedulerTotals.Progress, since: Tick)] = []

    /// Compares with the marks of the last call.
    ///
    /// - Parameter progress: Ascending by job.
    /// - Returns: The longest time without progress of a free job, in milliseconds.
    mutating func update(_ progress: [SchedulerTotals.Progress], now: Tick) -> Int64 {
        var next: [(job: SchedulerTotals.Progress, since: Tick)] = []
        next.reserveCapacity(progress.count)
        var (longest, place) = (0 as Int64, 0)
        for job in progress {
            while place < moves.count, moves[place].job.job < job.job { place += 1 }
            var since = now
            // The time of a paused job starts at 0 when it is resumed.
            if job.isFree, place < moves.count, moves[place].job.job == job.job, moves[place].job.mark == job.mark {
                since = moves[place].since
            }
            next.append((job, since))
            longest = max(longest, now - since)
        }
        moves = next
        return longest
    }
}
