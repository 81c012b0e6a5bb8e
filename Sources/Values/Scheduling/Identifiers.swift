/// A number that names one thing of a kind.
///
/// Jobs and sessions have a type of number each, so the compiler refuses a session where a job is expected.
public protocol NumberedID: Hashable, Comparable, Sendable, CustomStringConvertible, ExpressibleByIntegerLiteral {
    /// The number as it is sent and stored.
    var rawValue: UInt64 { get }

    /// The thing with this number.
    init(_ rawValue: UInt64)
}

extension NumberedID {
    /// The number in decimal digits.
    public var description: String { "\(rawValue)" }

    /// The literal as a number.
    public init(integerLiteral number: UInt64) { self.init(number) }

    /// Whether `left` has the lower number.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Number of a job, rising from 1 over the lifetime of a data folder; 0 = no job.
public struct JobID: NumberedID {
    /// The number as it is sent and stored.
    public let rawValue: UInt64

    /// The job with this number.
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// The number after this one.
    var next: JobID { JobID(rawValue + 1) }
}

/// Random number that a worker process chooses at its start; 0 = no session.
public struct SessionID: NumberedID {
    /// The number as it is sent and stored.
    public let rawValue: UInt64

    /// The session with this number.
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// A fencing token: identifies one lease of one piece of work permanently.
///
/// `epoch << 32 | counter`. The epoch is made durable before a coordinator accepts its first message. So tokens stay
/// unique even when the last transactions of the previous run were lost. The simulator's mutant `tokenReuse` shows the
/// failure that this prevents.
public struct LeaseToken: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number as it is sent and stored.
    public let rawValue: UInt64

    /// The token with this number.
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// The `counter`-th token of one run of the coordinator.
    public init(epoch: UInt32, counter: UInt32) { rawValue = UInt64(epoch) << 32 | UInt64(counter) }

    /// The epoch of the coordinator run that granted it.
    public var epoch: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 32) }

    /// `epoch.counter`.
    public var description: String { "\(epoch).\(UInt32(truncatingIfNeeded: rawValue))" }

    /// Whether `left` was granted before `right`.
    public static func < (left: LeaseToken, right: LeaseToken) -> Bool { left.rawValue < right.rawValue }
}
