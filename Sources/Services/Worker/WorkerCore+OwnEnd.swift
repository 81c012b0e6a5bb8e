internal import Wire

/// When a worker ends although nobody asked it to: without work, and before its time limit.
extension WorkerCore {
    /// The next time at which ``endByItself(_:)`` has something to do.
    var ownEnd: Int64 {
        let idle = idleSince.flatMap { since in policy.untilIdle.map { since + $0 } } ?? .max
        guard let limit = policy.timeLimit, phase != .draining else { return idle }
        return min(idle, isOutOfTime ? limit - WorkerPolicy.drainReserve : lastTaking)
    }

    /// From when on no more work is taken, because it would not be finished before the time limit.
    ///
    /// The longest work so far and a quarter more are expected of the next one, within a quarter of the whole time.
    private var lastTaking: Int64 {
        guard let limit = policy.timeLimit else { return .max }
        let expected = max(longestWork + longestWork / 4, WorkerPolicy.leaveReserve)
        return limit - WorkerPolicy.drainReserve - min(expected, limit / 4)
    }

    /// Notes since when there is no work.
    ///
    /// Time without a coordinator does not count: it may have work.
    mutating func noteIdleness(_ now: Int64) {
        guard phase == .serving, leases.isEmpty else {
            idleSince = nil
            return
        }
        idleSince = idleSince ?? now
    }

    /// Ends or drains the worker if it is time for that.
    ///
    /// - Returns: `nil` if it is not.
    mutating func endByItself(_ now: Int64) -> [WorkerEffect]? {
        guard phase != .draining else { return nil }
        if let limit = policy.timeLimit {
            if now >= limit - WorkerPolicy.drainReserve {
                drainReason = .outOfTime
                return drain(now)
            }
            if now >= lastTaking, !isOutOfTime {
                isOutOfTime = true
                return giveBackQueued() + afterLeaseEnd(now)
            }
        }
        guard let patience = policy.untilIdle, let idleSince, now - idleSince >= patience else { return nil }
        return [.send(.bye(.make { $0.reason = "idle" }))] + end(.idle)
    }
}
