/// A repeated submission, in memory and as a row.
///
/// The submission itself is only in the store.
public struct Schedule: Hashable, Sendable {
    /// Chosen by its author; safe as a file name.
    public let id: String
    /// When it fires.
    public let rule: CalendarRule
    /// The label of its jobs.
    public let label: String
    /// The next firing.
    ///
    /// Milliseconds since 1970. It does not change until its job is durable, so after a crash between the two it fires
    /// again, under the same request id.
    public internal(set) var next: Int64
    /// Its newest job; 0 = none yet.
    public internal(set) var lastJob: JobID
    /// Number of jobs created.
    public internal(set) var fired: UInt64
    /// Number of firings that were skipped because the last job had not ended, or because the coordinator refused the
    /// submission.
    public internal(set) var skipped: UInt64
    /// Number of firings that made no job because the source had no new build.
    public internal(set) var unchanged: UInt64
    /// When the last firing was one of ``unchanged``; 0 = it was none.
    ///
    /// Milliseconds since 1970.
    public internal(set) var unchangedAt: Int64
    /// Whether it does not fire until it is resumed; a run by hand is not a firing.
    public internal(set) var isPaused: Bool
    /// Why the last firing created no job; `nil` when it created one, or when it was skipped because the last job had
    /// not ended.
    public internal(set) var trouble: Trouble?
    /// How a firing that failed is tried again.
    public private(set) var retry = RetryPolicy.none
    /// What is known of its attempts.
    public internal(set) var attempts = Attempts()
    /// Rises each time when it is added again or edited; pauses and firings do not change it.
    ///
    /// The time of the change, in milliseconds since 1970, or one more than the last revision where that is larger: a
    /// schedule that is removed and added again has another one.
    public internal(set) var revision: UInt64

    /// The attempts of a schedule: those of the present firing, and counts of all.
    public struct Attempts: Hashable, Sendable {
        /// Rows of its history that were ever made.
        public internal(set) var recorded: UInt64
        /// Attempts of the present firing that failed; above 0 while one more waits or runs.
        public internal(set) var failures: Int
        /// When the next one is due; 0 = none waits, ``asked`` = its time is not known yet.
        ///
        /// Milliseconds since 1970.
        public internal(set) var retryAt: Int64
        /// Firings whose last attempt failed.
        public internal(set) var alerts: UInt64
        /// Why the last attempt that failed did so; empty = none did.
        public internal(set) var alert: String
        /// The job of that attempt; 0 = it made none.
        public internal(set) var failedJob: JobID

        /// A value of ``retryAt``: the next event that tells the wall time sets it.
        public static let asked: Int64 = -1

        /// Attempts as read from a store; without values, of a new schedule.
        public init(
            recorded: UInt64 = 0, failures: Int = 0, retryAt: Int64 = 0, alerts: UInt64 = 0, alert: String = "",
            failedJob: JobID = 0
        ) {
            self.recorded = recorded
            self.failures = failures
            self.retryAt = retryAt
            self.alerts = alerts
            self.alert = alert
            self.failedJob = failedJob
        }
    }

    /// A schedule that fires for the first time after `wall`.
    ///
    /// - Parameter wall: Milliseconds since 1970.
    public init(id: String, rule: CalendarRule, label: String, retry: RetryPolicy = .none, wall: Int64) {
        self.init(
            id: id, rule: rule, label: label, next: rule.next(after: wall, for: id), lastJob: 0, fired: 0, skipped: 0,
            retry: retry, revision: UInt64(clamping: wall))
    }

    /// A schedule as read from a store.
    public init(
        id: String, rule: CalendarRule, label: String, next: Int64, lastJob: JobID, fired: UInt64, skipped: UInt64,
        unchanged: UInt64 = 0, unchangedAt: Int64 = 0, isPaused: Bool = false, trouble: Trouble? = nil,
        retry: RetryPolicy = .none, attempts: Attempts = Attempts(), revision: UInt64 = 0
    ) {
        self.id = id
        self.rule = rule
        self.label = label
        self.next = next
        self.lastJob = lastJob
        self.fired = fired
        self.skipped = skipped
        self.unchanged = unchanged
        self.unchangedAt = unchangedAt
        self.isPaused = isPaused
        self.trouble = trouble
        self.retry = retry
        self.attempts = attempts
        self.revision = revision
    }

    /// Its first firing after an instant; both in milliseconds since 1970.
    func next(after wall: Int64) -> Int64 { rule.next(after: wall, for: id) }
}

/// The schedule of a submission.
public struct Firing: Hashable, Sendable {
    /// Its id.
    public let schedule: String
    /// The instant at which it was due; `nil` when it was run by hand.
    ///
    /// Milliseconds since 1970.
    public let due: Int64?
    /// The current wall time, from which the next firing is computed.
    ///
    /// Milliseconds since 1970.
    public let wall: Int64
    /// The build of the source; empty for sources whose address stays.
    public let build: String

    /// A firing.
    public init(schedule: String, due: Int64?, wall: Int64, build: String = "") {
        self.schedule = schedule
        self.due = due
        self.wall = wall
        self.build = build
    }

    /// The request id of a firing.
    ///
    /// The same instant never creates two jobs, however often it is tried.
    public static func requestID(of schedule: String, due: Int64) -> String { "schedule \(schedule) at \(due)" }
}
