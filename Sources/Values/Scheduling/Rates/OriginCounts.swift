/// Requests to an origin as workers have reported them since the start of this run.
public struct OriginCounts: Hashable, Sendable {
    /// Requests.
    public var requests: UInt64
    /// Of these, throttled.
    public var throttled: UInt64
    /// Of these, failed.
    public var failed: UInt64

    /// Counts.
    public init(requests: UInt64 = 0, throttled: UInt64 = 0, failed: UInt64 = 0) {
        self.requests = requests
        self.throttled = throttled
        self.failed = failed
    }

    /// Adds other counts.
    public mutating func add(_ other: OriginCounts) {
        requests &+= other.requests
        throttled &+= other.throttled
        failed &+= other.failed
    }

    /// What is more than in earlier counts of the same origin.
    public func since(_ before: OriginCounts) -> OriginCounts {
        OriginCounts(
            requests: requests &- before.requests, throttled: throttled &- before.throttled,
            failed: failed &- before.failed)
    }
}

/// The counts of the origins of all jobs of this run.
///
/// They outlive the book of an origin, which is closed with its last job, often before the last report.
struct OriginTally: Sendable {
    /// The name under which further origins are counted.
    static let others = ""
    /// Number of origins that are counted one by one.
    private static let maxOrigins = 1_000

    private(set) var counts: [String: OriginCounts] = [:]

    /// Counts an origin from now on.
    ///
    /// Reports about other names are not counted: a worker cannot make up origins.
    mutating func begin(_ name: String) {
        guard counts[name] == nil else { return }
        counts[counts.count < Self.maxOrigins ? name : Self.others, default: OriginCounts()].add(OriginCounts())
    }

    /// Counts a report.
    mutating func add(_ use: OriginUse) {
        let more = OriginCounts(requests: use.requests, throttled: use.throttled, failed: use.failed)
        if counts[use.origin] != nil {
            counts[use.origin]?.add(more)
        } else {
            counts[Self.others]?.add(more)
        }
    }
}

extension Scheduler {
    /// The counts of every origin of a job of this run; an empty name stands for those beyond the first thousand.
    ///
    /// No count falls.
    public var originCounts: [String: OriginCounts] { rates.tally.counts }
}
