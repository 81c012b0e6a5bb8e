/// Sums over jobs, batches, workers and leases, for monitoring.
public struct SchedulerTotals: Hashable, Sendable {
    /// Why an unfinished job waits, the first reason that holds.
    public enum Wait: String, Hashable, Sendable, CaseIterable {
        /// It is paused.
        case order
        /// It waits for another job.
        case job
        /// Its origin allows no requests.
        case origin
        /// No worker is available, or none with its labels.
        case worker
    }

    /// How far an unfinished job is.
    public struct Progress: Hashable, Sendable {
        /// The job.
        public let job: JobID
        /// Whether it is neither paused nor waits for another job.
        public let isFree: Bool
        /// Changes when the job makes progress.
        public let mark: Mark

        /// What changes when a job makes progress.
        public struct Mark: Hashable, Sendable {
            let state: JobState
            let tiles: UInt64
            let batches: UInt64
            let merged: UInt64
        }
    }

    /// Remembered jobs by state.
    public internal(set) var jobs: [JobState: Int] = [:]
    /// The counts of all unfinished jobs.
    public internal(set) var open = JobCounts()
    /// Unfinished jobs that wait, by reason.
    public internal(set) var waiting: [Wait: Int] = [:]
    /// Every unfinished job, ascending.
    public internal(set) var progress: [Progress] = []
    /// Known workers by state.
    public internal(set) var workers: [WorkerState: Int] = [:]
    /// Leases that sessions hold.
    public internal(set) var leases = 0
    /// Further offers that sessions can take.
    public internal(set) var credit: UInt64 = 0
    /// The longest time without a message from a known session.
    ///
    /// Milliseconds.
    public internal(set) var longestSilence: Int64 = 0
    /// Bytes of the shards of finished jobs that are kept for rebuilds.
    public internal(set) var keptBytes: UInt64 = 0

    /// All zero.
    public init() {}

    /// Removes the list of jobs, which can be long.
    public mutating func forgetProgress() { progress = [] }
}

extension JobCounts {
    /// Adds the counts of another job.
    mutating func add(_ other: JobCounts) {
        tiles &+= other.tiles
        stored &+= other.stored
        empty &+= other.empty
        failed &+= other.failed
        inFlightDone &+= other.inFlightDone
        for index in batches.indices { batches[index] &+= other.batches[index] }
    }
}

extension Scheduler {
    /// The sums.
    ///
    /// Costs one pass over jobs, sessions and leases, and none over batches, packages or tiles.
    ///
    /// - Parameter origins: What ``origins(now:)`` returned for the same time.
    public func totals(now: Tick, origins: [OriginView]) -> SchedulerTotals {
        var totals = SchedulerTotals()
        addSessions(to: &totals, now: now)
        var merged: [JobPlace: UInt64] = [:]
        for lease in leases.values {
            if case .package(let job, _) = lease.work { merged[job, default: 0] &+= lease.done &+ lease.bytes }
        }
        let shut = Set(origins.lazy.filter { !$0.hindrance.isEmpty }.map(\.name))
        let available = sessions.values.filter { $0.isAvailable(now: now) }
        // Of every list of labels, whether no worker has them.
        var isAbsent = [[String](): available.isEmpty]
        for place in jobs.indices where !jobs[place].isForgotten {
            let state = jobs[place].summary.state
            totals.jobs[state, default: 0] += 1
            guard !state.isFinal else { continue }
            let counts = jobs[place].summary.counts
            totals.open.add(counts)
            let labels = jobs[place].labels
            let isAlone = isAbsent[labels] ?? !available.contains { hasLabels($0, of: place) }
            isAbsent[labels] = isAlone
            let wait = wait(of: place, shut: shut, isAbsent: isAlone)
            if let wait { totals.waiting[wait, default: 0] += 1 }
            totals.progress.append(
                SchedulerTotals.Progress(
                    job: jobs[place].summary.id, isFree: wait != .order && wait != .job,
                    mark: SchedulerTotals.Progress.Mark(
                        state: state, tiles: counts.stored &+ counts.empty &+ counts.failed &+ counts.inFlightDone,
                        batches: counts[.done] &+ counts[.dead] &+ counts[.split], merged: merged[place, default: 0])))
        }
        totals.keptBytes = baselines.bytes
        return totals
    }

    private func wait(of place: JobPlace, shut: Set<String>, isAbsent: Bool) -> SchedulerTotals.Wait? {
        if jobs[place].summary.priority < 0 { return .order }
        if !jobs[place].summary.after.isEmpty { return .job }
        if jobs[place].summary.state == .fetching, let origin = jobs[place].origin?.name, shut.contains(origin) {
            return .origin
        }
        return isAbsent ? .worker : nil
    }

    private func addSessions(to totals: inout SchedulerTotals, now: Tick) {
        totals.leases = leases.count
        for session in sessions.values {
            totals.workers[session.state(now: now), default: 0] += 1
            totals.credit += UInt64(session.credit)
            totals.longestSilence = max(totals.longestSilence, now - session.lastHeard)
        }
    }
}
