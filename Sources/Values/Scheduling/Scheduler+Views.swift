/// The state of a worker.
public enum WorkerState: String, Hashable, Sendable, CaseIterable {
    /// It has no lease.
    case ready
    /// It has leases.
    case busy
    /// It was asked to finish and leave.
    case draining
    /// It gets no offers for a while, after a failure of its machine.
    case resting
    /// A limit of its machine is reached: it finishes what it has, and gets no offers.
    case full
    /// It was silent for too long.
    case suspect
}

extension Session {
    /// Whether it is heard, and takes work or is at work.
    func isAvailable(now: Tick) -> Bool { !isSuspect && hindrance(now: now).isEmpty }

    /// What its machine lacks, so that it works for no job, for people; empty = nothing, or it is at work.
    func hindrance(now: Tick) -> String {
        if pausedUntil.map({ $0 > now }) == true { return "is paused after \(pauseReason)" }
        return full.isEmpty || !leases.isEmpty ? "" : "takes no more work: \(full)"
    }

    /// Its state; the first of suspect, draining, resting and full that holds.
    func state(now: Tick) -> WorkerState {
        if isSuspect { return .suspect }
        if isDraining { return .draining }
        if pausedUntil.map({ $0 > now }) == true { return .resting }
        if !full.isEmpty { return .full }
        return leases.isEmpty ? .ready : .busy
    }
}

/// A worker as it is shown to people.
public struct WorkerView: Hashable, Sendable {
    /// Its session.
    public let session: SessionID
    /// Its description from its hello.
    public let profile: SessionProfile
    /// A ``WorkerState``.
    public let state: String
    /// Leases in hand.
    public let leases: Int
    /// Further offers it can take.
    public let credit: UInt32
    /// Milliseconds since its last message.
    public let silent: Int64
    /// Tiles of its accepted commits.
    public let tiles: UInt64
    /// Body bytes of its accepted commits.
    public let bytes: UInt64
    /// Why it is suspect, draining, resting or full.
    public let reason: String
}

extension Scheduler {
    /// Every job's number, ascending.
    public var jobIDs: [JobID] { jobs.indices.lazy.filter { !jobs[$0].isForgotten }.map { jobs[$0].summary.id } }

    /// The number of kept ended jobs, without the previous builds.
    public var finishedCount: Int { finished.count - baselines.count(where: isSpared) }

    /// The kept ended job that ended first, without the previous builds.
    public var oldestFinished: JobID? { finished.first { !isSpared($0) } }

    /// Whether a job is remembered as a previous build although others are forgotten.
    private func isSpared(_ id: JobID) -> Bool {
        baselines.contains(id) && lastJob.rawValue - id.rawValue < policy.baselineAge
    }

    /// The finished jobs that keep their shards for rebuilds, ascending.
    public var baselineJobs: [JobID] { baselines.jobs }

    /// The number of jobs that have not ended.
    public var livingCount: Int { places.count - finished.count }

    /// A job's row with current counts, or `nil`.
    public func summary(of id: JobID) -> JobSummary? { places[id].map { jobs[$0].summary } }

    /// A job's packages; empty for an unknown job.
    public func packages(of id: JobID) -> [Package] { places[id].map { jobs[$0].packages.elements } ?? [] }

    /// A running job's batches; empty for one that has ended.
    public func batches(of id: JobID) -> [Batch] { places[id].map { jobs[$0].batches.elements } ?? [] }

    /// The job of a request id, or `nil`.
    public func job(requestID: String) -> JobID? { requestID.isEmpty ? nil : requests[requestID] }

    /// Whether a session has sent hello and was not forgotten since.
    public func knows(_ session: SessionID) -> Bool { sessions[session] != nil }

    /// The newest package format that every known merger writes; `nil` without a merger.
    public var packageFormat: UInt32? { sessions.values.filter(\.profile.canMerge).map(\.profile.packageFormat).min() }

    /// Whether a known merger writes this package format or a newer one.
    public func canMerge(packageFormat: UInt32) -> Bool {
        sessions.values.contains { $0.profile.canMerge && $0.profile.packageFormat >= packageFormat }
    }

    /// Whether a session was asked to finish and leave.
    public func isDraining(_ session: SessionID) -> Bool { sessions[session]?.isDraining ?? false }

    /// The number of known sessions.
    public var sessionCount: Int { sessions.count }

    /// Whether every token of this run has been granted.
    ///
    /// Only a restart gives more.
    public var hasSpentTokens: Bool { counter == .max }

    /// Ended jobs whose shards are kept for unfinished ones, ascending.
    public var givingJobs: [JobID] { shardSources.values.flatMap { $0.map(\.job) }.sorted() }

    /// Whether the shards of an ended job are kept for unfinished ones.
    public func isGiving(_ id: JobID) -> Bool { shardSources.values.contains { $0.contains { $0.job == id } } }

    /// Whether a job is unfinished.
    public func isLiving(_ id: JobID) -> Bool { places[id].map { !jobs[$0].summary.state.isFinal } ?? false }

    /// Every known worker by name, then session.
    public func workers(now: Tick) -> [WorkerView] {
        sessions.values.sorted { ($0.profile.name, $0.id) < ($1.profile.name, $1.id) }.map { session in
            let silent = now - session.lastHeard
            let state = session.state(now: now)
            let reason =
                switch state {
                case .suspect: "no message for \(silent / 1_000) s"
                case .draining: session.leases.isEmpty ? "" : "finishing its leases"
                case .resting: session.pauseReason
                case .full: session.full
                case .ready, .busy: ""
                }
            return WorkerView(
                session: session.id, profile: session.profile, state: state.rawValue, leases: session.leases.count,
                credit: session.credit, silent: silent, tiles: session.tiles, bytes: session.bytes, reason: reason)
        }
    }
}
