/// A submission that repeats, in memory and as a row; the submission itself is only in the store.
public struct Schedule: Hashable, Sendable {
    /// Chosen by its author; file-name safe.
    public let id: String
    /// When it fires.
    public let rule: CalendarRule
    /// What people call its jobs.
    public let label: String
    /// The next firing.
    ///
    /// Milliseconds since 1970. It stays until its job is durable, so that a crash between the two fires again, under the same request id.
    public internal(set) var next: Int64
    /// Its newest job; 0 = none yet.
    public internal(set) var lastJob: JobID
    /// Jobs made.
    public internal(set) var fired: UInt64
    /// Firings that were left out because the last job had not ended, or because the coordinator refused the submission.
    public internal(set) var skipped: UInt64
    /// Why the last firing made no job; `nil` when it made one, or when it was left out because the last job had not ended.
    public internal(set) var trouble: Trouble?

    /// A schedule that fires for the first time after `wall`, or one as read back from a store.
    ///
    /// - Parameter wall: Milliseconds since 1970.
    public init(id: String, rule: CalendarRule, label: String, wall: Int64) {
        self.init(id: id, rule: rule, label: label, next: rule.next(after: wall), lastJob: 0, fired: 0, skipped: 0)
    }

    /// A schedule as read back from a store.
    public init(
        id: String, rule: CalendarRule, label: String, next: Int64, lastJob: JobID, fired: UInt64, skipped: UInt64,
        trouble: Trouble? = nil
    ) {
        self.id = id
        self.rule = rule
        self.label = label
        self.next = next
        self.lastJob = lastJob
        self.fired = fired
        self.skipped = skipped
        self.trouble = trouble
    }
}

/// The schedule a submission comes from.
public struct Firing: Hashable, Sendable {
    /// Its id.
    public let schedule: String
    /// The instant it was due; `nil` when somebody ran it by hand.
    ///
    /// Milliseconds since 1970.
    public let due: Int64?
    /// Wall time now, from which the next firing follows.
    ///
    /// Milliseconds since 1970.
    public let wall: Int64

    /// A firing.
    public init(schedule: String, due: Int64?, wall: Int64) {
        self.schedule = schedule
        self.due = due
        self.wall = wall
    }

    /// The request id of a firing: the same instant never makes two jobs, however often it is tried.
    public static func requestID(of schedule: String, due: Int64) -> String { "schedule \(schedule) at \(due)" }
}
