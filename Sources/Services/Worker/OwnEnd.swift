/// When a worker ends without a request: when there was no work for some time, and before its time limit.
///
/// Times are milliseconds.
struct OwnEnd: Sendable {
    enum Step: Hashable, Sendable {
        /// Time for the work that has begun, and for no more.
        case takeNoMore
        /// Time only to give back what is not finished.
        case drain
        /// There was no work for as long as the worker waits for some.
        case idle
    }

    private let policy: WorkerPolicy
    /// Whether the time limit is so near that no more work is taken.
    private(set) var isOutOfTime = false
    /// Since when the coordinator has had no work; `nil` while there is some, or no coordinator.
    private var idleSince: Int64?
    private var longestWork: Int64 = 0

    init(_ policy: WorkerPolicy) { self.policy = policy }

    /// The next time at which ``step(_:)`` has something to do.
    var next: Int64 {
        let idle = idleSince.flatMap { since in policy.untilIdle.map { since + $0 } } ?? .max
        guard let limit = policy.timeLimit else { return idle }
        return min(idle, isOutOfTime ? limit - WorkerPolicy.drainReserve : lastTaking)
    }

    /// Notes whether the coordinator answers and the worker holds nothing.
    mutating func note(isIdle: Bool, _ now: Int64) { idleSince = isIdle ? idleSince ?? now : nil }

    /// Notes the time that the work of a lease took.
    mutating func note(work: Int64) { longestWork = max(longestWork, work) }

    /// What is to be done now; `nil` = nothing.
    mutating func step(_ now: Int64) -> Step? {
        if let limit = policy.timeLimit, now >= limit - WorkerPolicy.drainReserve {
            isOutOfTime = true
            return .drain
        }
        if !isOutOfTime, now >= lastTaking {
            isOutOfTime = true
            return .takeNoMore
        }
        guard let patience = policy.untilIdle, let idleSince, now - idleSince >= patience else { return nil }
        return .idle
    }

    /// From when on no more work is taken, because it would not be finished before the time limit.
    ///
    /// The longest work so far and a quarter more are expected of the next one, within a quarter of the whole time.
    private var lastTaking: Int64 {
        guard let limit = policy.timeLimit else { return .max }
        let expected = max(longestWork + longestWork / 4, WorkerPolicy.leaveReserve)
        return limit - WorkerPolicy.drainReserve - min(expected, limit / 4)
    }
}
