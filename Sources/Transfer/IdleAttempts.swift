extension OriginBudget.Reception {
    /// What an answer says about the origin.
    init(status: Int, retryAfter: Duration?) {
        switch status {
        case 429: self = .throttled(retryAfter: retryAfter)
        case 503 where retryAfter != nil: self = .throttled(retryAfter: retryAfter)
        case 503: self = .busy
        // A server that cannot do what is asked is up.
        case 500...599 where status != 501 && status != 505: self = .failed
        default: self = .answered
        }
    }
}

/// The attempts of one request that told nothing about it, because the origin received everybody's alike.
struct IdleAttempts: Sendable {
    /// Attempts at an origin that gives no good answer to anybody which do not count.
    static let most = 10
    /// The same while this request alone fares ill: nobody else was refused since its last try.
    ///
    /// A tile that alone makes its server fail, or is alone told to wait for ever, must not hold up the end of a job.
    static let mostAlone = 2
    /// Failures while others were answered, after which the fault is the request's own.
    ///
    /// Its further failures count, and say nothing about the origin: else a few tiles that nobody can have, when every worker is left
    /// with such tiles alone, look like an origin that is down, and are asked for once a minute.
    static let ownFaults = 2

    /// A 503 among answers is an overload when at least this share of them is one; below it, the fault is the tile's own.
    static let busyShare = 0.05
    /// Attempts at an overloaded origin that do not count.
    static let mostBusy = 30
    /// The longest wait after a refusal without Retry-After: the rate is what holds requests back.
    static let longestWait = Duration.seconds(2)

    private(set) var count = 0
    private var faults = 0
    /// How the origin had received all requests when this one last failed, or began.
    private var useBefore: OriginBudget.Use?

    /// - Parameter hasFailedBefore: Whether the request was given up once, so that the fault is its own from the start.
    init(hasFailedBefore: Bool = false) { faults = hasFailedBefore ? Self.ownFaults : 0 }

    /// Notes how the origin fares when the request begins.
    mutating func begin(_ use: OriginBudget.Use?) {
        if useBefore == nil { useBefore = use }
    }

    /// What an attempt that ended so says about the origin.
    ///
    /// - Parameter hadAnswer: False when nobody was there, which is never a request's own fault.
    func evidence(of reception: OriginBudget.Reception, hadAnswer: Bool) -> OriginBudget.Reception {
        guard hadAnswer, faults >= Self.ownFaults else { return reception }
        switch reception {
        case .failed, .busy: return .none
        case .answered, .throttled, .none: return reception
        }
    }

    /// Whether an attempt that ended so does not count against its request.
    ///
    /// Throttling is about all requests of ours, so it does not. A failure counts only if the origin gave a good answer to another
    /// request since this one last failed or began: otherwise the origin is down, which says nothing about the tile. Both hold as long as
    /// others fare alike. Where nobody is there at all (no connection, no name), there is no bound.
    ///
    /// - Parameter use: How the origin has received all requests, this attempt included.
    mutating func takes(_ reception: OriginBudget.Reception, hadAnswer: Bool, _ use: OriginBudget.Use) -> Bool {
        let before = useBefore ?? use
        useBefore = use
        switch reception {
        case .throttled:
            let isAlone = use.throttled &- before.throttled <= 1
            guard !isAlone || count < Self.mostAlone else { return false }
        case .busy where Self.isOverloaded(before, use):
            guard count < Self.mostBusy else { return false }
        case .failed, .busy:
            guard before.answered == use.answered else {
                if hadAnswer { faults = min(faults + 1, Self.ownFaults) }
                return false
            }
            guard faults < Self.ownFaults || !hadAnswer else { return false }
            let isAlone = use.failed &- before.failed <= 1
            guard !hadAnswer || count < (isAlone ? Self.mostAlone : Self.most) else { return false }
        case .answered, .none: return false
        }
        count = min(count + 1, 1_000)
        return true
    }

    /// Whether the origin answered some requests and refused others, of which this one need not be special.
    private static func isOverloaded(_ before: OriginBudget.Use, _ use: OriginBudget.Use) -> Bool {
        let (answered, busy) = (Double(use.answered &- before.answered), Double(use.busy &- before.busy))
        return answered > 0 && busy >= 2 && busy >= busyShare * (answered + busy)
    }
}

extension TransferJob {
    /// How long to wait before an attempt that replaces the last one, or `nil` when the last one counts.
    mutating func idleWait(
        _ reception: OriginBudget.Reception, hadAnswer: Bool, _ budget: OriginBudget, _ policy: RetryPolicy,
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
