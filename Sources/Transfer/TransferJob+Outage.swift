extension OriginBudget.Reception {
    /// What an answer says about the origin.
    init(status: Int, retryAfter: Duration?) {
        switch status {
        case 429: self = .throttled(retryAfter: retryAfter)
        case 503 where retryAfter != nil: self = .throttled(retryAfter: retryAfter)
        // A server that cannot do what is asked is up.
        case 500...599 where status != 501 && status != 505: self = .failed
        default: self = .answered
        }
    }
}

extension TransferJob {
    /// Attempts at an origin that gives no good answer which do not count.
    ///
    /// A tile that alone makes its server fail must not be asked for for ever: so many attempts take about a minute.
    static let mostIdleAttempts = 10

    /// How long to wait before an attempt that replaces the last one, or `nil` when the last one counts.
    ///
    /// Throttling is about all requests of ours, so it never counts. A failure counts only if the origin gave a good answer to another
    /// request since this one was last tried: otherwise the origin is down, which says nothing about the tile.
    mutating func idleWait(
        _ reception: OriginBudget.Reception, hadAnswer: Bool, _ budget: OriginBudget, _ policy: RetryPolicy,
        using generator: inout some RandomNumberGenerator
    ) -> Duration? {
        let answers = budget.use.answered
        defer { answersBefore = answers }
        var waiting = policy
        waiting.maxAttempts = .max
        switch reception {
        case .throttled(let retryAfter):
            idleAttempts = min(idleAttempts + 1, 1_000)
            return waiting.wait(
                afterAttempt: attempt + min(idleAttempts, 20), retryAfter: retryAfter, using: &generator)
        case .failed:
            guard answersBefore == answers, !hadAnswer || idleAttempts < Self.mostIdleAttempts else { return nil }
            idleAttempts = min(idleAttempts + 1, 1_000)
            return waiting.wait(afterAttempt: attempt + min(idleAttempts, 20), using: &generator)
        case .answered, .none: return nil
        }
    }
}
