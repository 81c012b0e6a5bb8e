/// A firing of a schedule that has been: what started it, and what came of it.
public struct PastFiring: Hashable, Sendable {
    /// What started a firing.
    public enum Trigger: String, Hashable, Sendable, CaseIterable {
        /// The times of the schedule.
        case rule
        /// A person or a program: `schedule run`.
        case hand
        /// The firing before, which failed.
        case retry
    }

    /// What came of a firing.
    public enum Result: String, Hashable, Sendable, CaseIterable {
        /// Its job has not ended.
        case running
        /// Its job is done.
        case published
        /// The source had no new build, so there is no job.
        case unchanged = "nothing-new"
        /// It made no job, or its job failed.
        case failed
        /// Its job was cancelled.
        case cancelled
        /// The job before had not ended, or the schedule was paused.
        case skipped
    }

    /// Firings of each schedule that a store keeps, the newest.
    public static let kept: UInt64 = 100
    /// The longest detail, in characters.
    static let maxDetail = 1_000

    /// The schedule.
    public let schedule: String
    /// Counts the firings of the schedule from 1.
    public let number: UInt64
    /// When it fired; milliseconds since 1970.
    public let at: Int64
    /// When it was due; 0 = it was run by hand.
    ///
    /// Milliseconds since 1970.
    public let due: Int64
    /// What started it.
    public let trigger: Trigger
    /// What came of it; ``Result/running`` until its job ends.
    public let result: Result
    /// Its job; 0 = none.
    public let job: JobID
    /// Why it made no job; `nil` when it made one.
    public let trouble: Trouble?
    /// The build of the source; empty for sources whose address stays, and when it is not known.
    public let build: String

    /// A firing as read from a store.
    public init(
        schedule: String, number: UInt64, at: Int64, due: Int64, trigger: Trigger, result: Result, job: JobID = 0,
        trouble: Trouble? = nil, build: String = ""
    ) {
        self.schedule = schedule
        self.number = number
        self.at = at
        self.due = due
        self.trigger = trigger
        self.result = result
        self.job = job
        self.trouble = trouble.map { Trouble(cause: $0.cause, detail: String($0.detail.prefix(Self.maxDetail))) }
        self.build = build
    }
}
