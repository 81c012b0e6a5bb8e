extension OriginBudget.Reception {
    /// Classifies an answer by what it means for the origin.
    init(status: Int, retryAfter: Duration?) {
        switch status {
        case 429: self = .throttled(retryAfter: retryAfter)
        case 503 where retryAfter != nil: self = .throttled(retryAfter: retryAfter)
        case 503: self = .busy
        // A server that does not support the request is up.
        case 500...599 where status != 501 && status != 505: self = .failed
        default: self = .answered
        }
    }
}

/// The attempts of one request that are no evidence against it, because the origin treated all requests alike.
struct IdleAttempts: Sendable {
    /// Number of uncounted attempts at an origin that answers no request successfully.
    static let maxIdle = 10
    /// The same while only this request fails: no other request was refused since its last attempt.
    ///
    /// A tile that makes its server fail, or that is always throttled, must not delay the end of a job.
    static let maxAlone = 2
    /// Number of failures while others were answered, after which the request itself counts as the cause.
    ///
    /// Its further failures count, and are not reported as failures of the origin. Otherwise a few tiles that always
    /// fail would make an origin look down when every worker has only such tiles left, and they would be requested once
    /// a minute.
    static let ownFaults = 2

    /// A 503 counts as an overload when at least this share of the answers are 503.
    ///
    /// Below it, the tile is the cause.
    static let busyShare = 0.05
    /// Number of uncounted attempts at an overloaded origin.
    static let maxBusy = 30
    /// The longest wait after a refusal without Retry-After: the rate limit already delays requests.
    static let longestWait = Duration.seconds(2)

    private(set) var count = 0
    private var faults = 0
    /// The origin's answers to all requests when this one last failed, or started.
    private var useBefore: OriginBudget.Use?

    /// - Parameter hasFailedBefore: Whether the request failed permanently once, so that it counts as the cause from
    ///   the start.
    init(hasFailedBefore: Bool = false) { faults = hasFailedBefore ? Self.ownFaults : 0 }

    /// Records the origin's answers when the request starts.
    mutating func begin(_ use: OriginBudget.Use?) {
        if useBefore == nil { useBefore = use }
    }

    /// What an attempt with this result means for the origin.
    ///
    /// - Parameter hadAnswer: False when there was no answer. This is never caused by the request itself.
    func evidence(of reception: OriginBudget.Reception, hadAnswer: Bool) -> OriginBudget.Reception {
        guard hadAnswer, faults >= Self.ownFaults else { return reception }
        switch reception {
        case .failed, .busy: return .none
        case .answered, .throttled, .none: return reception
        }
    }

    /// Whether an attempt with this result does not count against its request.
    ///
    /// Throttling affects all of our requests, so it does not count. A failure counts only if the origin answered
    /// another request successfully since this one last failed or started: otherwise the origin is down, which is no
    /// evidence against the tile. Both hold while other requests have the same results. If the origin is not reachable
    /// (no connection, no name), the number of attempts is not limited.
    ///
    /// - Parameter use: The origin's answers to all requests, including this attempt.
    mutating func takes(_ reception: OriginBudget.Reception, hadAnswer: Bool, _ use: OriginBudget.Use) -> Bool {
        let before = useBefore ?? use
        useBefore = use
        switch reception {
        case .throttled:
            let isAlone = use.throttled &- before.throttled <= 1
            guard !isAlone || count < Self.maxAlone else { return false }
        case .busy where Self.isOverloaded(before, use):
            guard count < Self.maxBusy else { return false }
        case .failed, .busy:
            guard before.answered == use.answered else {
                if hadAnswer { faults = min(faults + 1, Self.ownFaults) }
                return false
            }
            guard faults < Self.ownFaults || !hadAnswer else { return false }
            let isAlone = use.failed &- before.failed <= 1
            guard !hadAnswer || count < (isAlone ? Self.maxAlone : Self.maxIdle) else { return false }
        case .answered, .none: return false
        }
        count = min(count + 1, 1_000)
        return true
    }

    /// Whether the origin answered some requests and refused others, so that this request need not be the cause.
    private static func isOverloaded(_ before: OriginBudget.Use, _ use: OriginBudget.Use) -> Bool {
        let (answered, busy) = (Double(use.answered &- before.answered), Double(use.busy &- before.busy))
        return answered > 0 && busy >= 2 && busy >= busyShare * (answered + busy)
    }
}

extension TransferJob {
    /// How long to wait before an attempt that replaces the last one, or `nil` when the last one counts.
    mutating func idleWait(
        after reception: OriginBudget.Reception, hadAnswer: Bool, budget: OriginBudget, policy: RetryPolicy,
        using generator: inout some RandomNumberGenerator
    ) -> Duration? {
        guard idle.takes(reception, hadAnswer: hadAnswer, budget.use) else { return nil }
        var waiting = policy
        waiting.maxAttempts = .max
        var asked: Duration?
        switch reception {
        case .throttled(let retryAfter):
            asked = retryAfter
            if retryAfter == nil { waiting.cap = min(waiting.cap, IdleAttempts.longestWait) }
        case .busy where budget.use.answered > 0: waiting.cap = min(waiting.cap, IdleAttempts.longestWait)
        case .busy, .answered, .failed, .none: break
        }
        return waiting.wait(afterAttempt: attempt + min(idle.count, 20), retryAfter: asked, using: &generator)
    }
}
