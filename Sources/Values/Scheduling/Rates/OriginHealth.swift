/// The state of an origin: asked to wait, limited to what it accepts, or down.
struct OriginHealth: Sendable {
    enum Breaker: Hashable, Sendable {
        case closed
        /// Down; no requests before `until`.
        case open(until: Tick)
        /// One session sends one request at a time, to test whether the origin is back.
        case probing(SessionID?, until: Tick)
    }

    var breaker = Breaker.closed
    var blockedUntil: Tick?
    /// The rate and the connections that it accepts, derived from its refusals.
    var control: OriginControl
    /// Consecutive failures.
    private(set) var streak: UInt64 = 0
    private var pause: Int64 = 0
    /// Until this time a failure counts as caused by the outage, not by the work.
    private var excusedUntil: Tick?
    /// The time of the last report that contained a successful answer.
    private var answeredAt: Tick?
    private var counting: (answered: UInt64, since: Tick)?
    private var speed = 0.0

    init(_ policy: ControlPolicy = ControlPolicy()) { control = OriginControl(policy) }

    /// Handles one worker's report.
    ///
    /// A 503 without Retry-After is a refusal while the origin answers other requests. When it answers none, it is a
    /// failure.
    ///
    /// - Parameter workers: The number of sessions that have work at this origin.
    mutating func applyReport(_ use: OriginUse, from session: SessionID, of workers: Int, now: Tick, policy: RatePolicy)
    {
        let isAnswering =
            use.answered > 0 || breaker == .closed && answeredAt.map { now - $0 < RatePolicy.answering } == true
        let busy = isAnswering ? min(use.busy, use.failed) : 0
        control.addSample(
            OriginControl.Sample(
                answered: Double(use.answered), refused: Double(use.throttled + busy), busy: Double(busy),
                occupied: Double(use.occupied), isWaiting: use.waiting > 0),
            from: session, of: workers, now: now)
        measure(use.answered, now: now)
        if use.answered > 0 { answeredAt = now }
        if use.retryAfter > 0, use.throttled > 0 { block(now + min(use.retryAfter, RatePolicy.longestBlock)) }
        if use.answered > 0 || use.throttled > 0 {
            streak = 0
            if breaker != .closed { close(now) }
            if use.answered > 0 { pause = 0 }
        } else if use.failed > busy {
            streak &+= use.failed - busy
            switch breaker {
            case .closed: if streak >= RatePolicy.failuresToBreak { trip(now) }
            case .probing(session, _): trip(now)
            case .open, .probing: break
            }
        }
    }

    private mutating func block(_ end: Tick) {
        let until = max(blockedUntil ?? end, end)
        blockedUntil = until
        control.pause(until: until)
    }

    private mutating func trip(_ now: Tick) {
        pause = pause == 0 ? RatePolicy.breakFor : min(pause * 2, RatePolicy.breakCap)
        breaker = .open(until: now + pause)
        answeredAt = nil
    }

    private mutating func close(_ now: Tick) {
        breaker = .closed
        control.restart(at: speed * RatePolicy.afterBreak, now: now)
        excusedUntil = now + RatePolicy.breakCap
    }

    /// Removes the block and closes the breaker, by order of an operator.
    mutating func open(now: Tick) {
        if blockedUntil != nil {
            blockedUntil = nil
            control.pause(until: now)
        }
        streak = 0
        pause = 0
        if breaker != .closed { close(now) }
    }

    /// Measures the rate of successful answers.
    ///
    /// Outages do not count.
    private mutating func measure(_ answered: UInt64, now: Tick) {
        guard breaker == .closed else {
            counting = nil
            return
        }
        let (sum, since) = counting ?? (0, now)
        let span = now - since
        guard span >= 1_000 else {
            counting = (sum &+ answered, since)
            return
        }
        speed = max(Double(sum &+ answered) * 1_000 / Double(span), speed * 0.9)
        counting = (0, now)
    }

    /// Advances the time.
    mutating func pass(to now: Tick) {
        if let end = blockedUntil, end <= now { blockedUntil = nil }
        if case .open(let until) = breaker, until <= now { breaker = .probing(nil, until: now) }
    }

    /// The next time at which something changes without an event.
    var nextChange: Tick? {
        switch breaker {
        case .open(let until): until
        case .probing(let prober, let until): prober == nil ? nil : until
        case .closed: blockedUntil
        }
    }

    /// Whether no request is allowed now.
    func isShut(at now: Tick) -> Bool {
        if blockedUntil.map({ $0 > now }) == true { return true }
        if case .open(let until) = breaker { return until > now }
        return false
    }

    /// Whether a failure that is reported now is no evidence against the work.
    func excuses(at now: Tick) -> Bool {
        isShut(at: now) || breaker != .closed || excusedUntil.map { $0 > now } == true
    }
}
