/// How an origin fares: told to wait, asked to slow down, or down.
struct OriginHealth: Sendable {
    enum Breaker: Hashable, Sendable {
        case closed
        /// Down; nobody asks before `until`.
        case open(until: Tick)
        /// One request at a time, by one session, shows whether it is back.
        case probing(SessionID?, until: Tick)
    }

    var breaker = Breaker.closed
    var blockedUntil: Tick?
    /// What throttling leaves of the limits; 1 = all.
    var factor = 1.0
    /// Requests per second when an origin without a rate limit throttled; the factor applies to it.
    var ceiling: Double?
    /// The next rise of the factor counts from here.
    private var recoveredAt = Tick(milliseconds: 0)
    private var halvedAt: Tick?
    /// Failures in a row.
    private(set) var streak: UInt64 = 0
    private var pause: Int64 = 0
    /// Until when a failure is the outage's fault, not the work's.
    private var excusedUntil: Tick?
    private var counting: (requests: UInt64, since: Tick)?
    private var speed = 0.0

    /// Takes one worker's report.
    mutating func take(_ use: OriginUse, from session: SessionID, now: Tick, _ policy: RatePolicy) {
        measure(use.requests, now)
        if use.throttled > 0 { throttle(use, now, policy) }
        if use.answered > 0 || use.throttled > 0 {
            streak = 0
            if breaker != .closed {
                breaker = .closed
                factor = min(factor, policy.afterBreak)
                recoveredAt = now
                excusedUntil = now + policy.breakCap
            }
            if use.answered > 0 { pause = 0 }
        } else if use.failed > 0 {
            streak &+= use.failed
            switch breaker {
            case .closed: if streak >= policy.failuresToBreak { trip(now, policy) }
            case .probing(session, _): trip(now, policy)
            case .open, .probing: break
            }
        }
    }

    private mutating func trip(_ now: Tick, _ policy: RatePolicy) {
        pause = pause == 0 ? policy.breakFor : min(pause * 2, policy.breakCap)
        breaker = .open(until: now + pause)
    }

    private mutating func throttle(_ use: OriginUse, _ now: Tick, _ policy: RatePolicy) {
        if use.retryAfter > 0 {
            let end = now + min(use.retryAfter, policy.longestBlock)
            blockedUntil = max(blockedUntil ?? end, end)
        }
        recoveredAt = max(blockedUntil ?? now, now)
        guard halvedAt.map({ now - $0 >= policy.halveEvery }) ?? true else { return }
        halvedAt = max(blockedUntil ?? now, now)
        if ceiling == nil { ceiling = max(speed, Double(counting?.requests ?? 0), 1) }
        factor = max(factor / 2, policy.leastFactor)
    }

    private mutating func measure(_ requests: UInt64, _ now: Tick) {
        let (sum, since) = counting ?? (0, now)
        let span = now - since
        guard span >= 1_000 else {
            counting = (sum &+ requests, since)
            return
        }
        speed = Double(sum &+ requests) * 1_000 / Double(span)
        counting = (0, now)
    }

    /// Lets time pass.
    mutating func pass(to now: Tick, _ policy: RatePolicy) {
        if let end = blockedUntil, end <= now { blockedUntil = nil }
        if case .open(let until) = breaker, until <= now { breaker = .probing(nil, until: now) }
        guard factor < 1, blockedUntil == nil, breaker == .closed, now >= recoveredAt else { return }
        let steps = (now - recoveredAt) / max(policy.recoverEvery, 1)
        factor = min(1, factor + Double(steps) * policy.recoverBy)
        recoveredAt = recoveredAt + steps * policy.recoverEvery
        if factor == 1 { ceiling = nil }
    }

    /// When time alone changes something.
    func nextChange(_ policy: RatePolicy) -> Tick? {
        switch breaker {
        case .open(let until): return until
        case .probing(let prober, let until): return prober == nil ? nil : until
        case .closed: break
        }
        return blockedUntil ?? (factor < 1 ? recoveredAt + policy.recoverEvery : nil)
    }

    /// Whether nothing may be asked now.
    func isShut(at now: Tick) -> Bool {
        if blockedUntil.map({ $0 > now }) == true { return true }
        if case .open(let until) = breaker { return until > now }
        return false
    }

    /// Whether a failure reported now says nothing about the work.
    func excuses(at now: Tick) -> Bool {
        isShut(at: now) || breaker != .closed || excusedUntil.map { $0 > now } == true
    }
}
