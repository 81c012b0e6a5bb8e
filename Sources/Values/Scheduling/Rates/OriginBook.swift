/// The budget of one origin: its limits, its health, and the shares of the sessions.
///
/// Invariant: the sum of the shares that sessions may hold (``Share/counted``) never exceeds the pool of the limits,
/// separately for rate, burst and connections. The token bucket of a new share is empty, so a share that moves from one
/// worker to another transfers no burst.
struct OriginBook: Sendable {
    let name: String
    /// The limits of each unfinished job's tileset.
    private(set) var jobs: [JobID: OriginLimits] = [:]
    /// The operator's limits.
    private(set) var operatorLimit: OperatorLimit?
    /// How often an operator has removed a block.
    private(set) var opened: UInt64 = 0
    /// The strictest of these limits.
    private(set) var limits: OriginLimits
    var shares: [SessionID: Share] = [:]
    /// The number of sessions that have leases.
    private(set) var seated = 0
    var health: OriginHealth
    /// Whether something happened that may change shares.
    var isDirty = true
    var requests: UInt64 = 0
    var throttled: UInt64 = 0
    var failed: UInt64 = 0

    init(_ origin: JobOrigin, operatorLimit: OperatorLimit? = nil, policy: RatePolicy = RatePolicy()) {
        name = origin.name
        health = OriginHealth(policy.control)
        self.operatorLimit = operatorLimit
        limits = origin.limits.within(operatorLimit)
    }

    mutating func open(_ job: JobID, limits: OriginLimits) {
        guard jobs[job] != limits else { return }
        jobs[job] = limits
        restrict()
    }

    mutating func close(_ job: JobID) {
        jobs[job] = nil
        restrict()
    }

    private mutating func restrict() {
        isDirty = true
        guard let first = jobs.values.first else { return }
        limits = jobs.values.reduce(first) { $0.strictest($1) }.within(operatorLimit)
    }

    mutating func limit(_ limit: OperatorLimit?) {
        operatorLimit = limit
        restrict()
    }

    /// Removes a block and closes the breaker.
    mutating func reopen(now: Tick) {
        health.open(now: now)
        opened += 1
        isDirty = true
    }

    // MARK: - Leases

    mutating func lease(_ id: SessionID, isHere: Bool) {
        var share = shares[id] ?? Share()
        let before = (share.isPresent, share.weight, share.isHere)
        share.leases += 1
        if share.leases == 1 { seated += 1 }
        share.idleSince = nil
        if isHere { share.isHere = true }
        if share.leases == 1 { share.contentReports = 0 }
        // Between two batches of one session nothing changes.
        if before != (true, share.weight, share.isHere) || health.breaker != .closed { isDirty = true }
        shares[id] = share
    }

    mutating func release(_ id: SessionID, now: Tick) {
        guard let leases = shares[id]?.leases, leases > 0 else { return }
        shares[id]?.leases = leases - 1
        guard leases == 1 else { return }
        seated -= 1
        shares[id]?.idleSince = now
        if health.breaker != .closed { isDirty = true }
    }

    /// The number of sessions that may work here now.
    func seats(now: Tick) -> Int {
        if health.isShut(at: now) { return 0 }
        return health.breaker == .closed ? min(limits.maxHolders, connections) : 1
    }

    /// Connections that the limits and the origin allow.
    var connections: Int { max(1, min(limits.concurrency, health.control.connections ?? limits.concurrency)) }

    /// Requests per second that the origin accepts, if that is less than the limits allow.
    var foundRate: Double? {
        health.control.rate.flatMap { found in limits.perSecond.map { found < $0 } ?? true ? found : nil }
    }

    /// Whether the origin accepts less than the limits allow.
    var isSlowed: Bool { foundRate != nil || connections < limits.concurrency }

    /// Whether the session can get another lease.
    ///
    /// It may hold one more than it has connections, so that no connection is idle between two batches.
    func mayLease(_ id: SessionID, now: Tick) -> Bool {
        let seats = seats(now: now)
        guard let share = shares[id], share.isSeated else { return seated < seats }
        guard seats > 0, health.breaker == .closed else { return false }
        let fair = connections / max(min(seated, seats), 1)
        return share.leases <= max(share.amount.concurrency, fair, 1)
    }

    // MARK: - Reports

    mutating func applyReport(_ use: OriginUse, from id: SessionID, now: Tick, policy: RatePolicy) {
        requests &+= use.requests
        throttled &+= use.throttled
        failed &+= use.failed
        let before = (seats(now: now), health.control.rate, connections)
        health.control.maxConnections = limits.concurrency
        health.applyReport(use, from: id, of: seated, now: now, policy: policy)
        if before != (seats(now: now), health.control.rate, connections) { isDirty = true }
        guard let share = shares[id] else { return }
        let weight = share.weight
        shares[id]?.isWaiting = use.waiting > 0
        shares[id]?.contentReports = use.waiting > 0 ? 0 : min(share.contentReports + 1, 2)
        if shares[id]?.weight != weight { isDirty = true }
    }

    /// The session has applied every grant up to `round`, and is alive: its grants are renewed.
    mutating func renewGrants(of id: SessionID, acknowledged round: UInt64, now: Tick, policy: RatePolicy) {
        guard var share = shares[id] else { return }
        if !share.isHere { isDirty = true }
        share.isHere = true
        share.expire(at: now)
        let before = share.counted
        share.acknowledge(round)
        if share.counted != before { isDirty = true }
        share.current?.expires = now + policy.counted
        shares[id] = share
    }

    /// The grant of the session, as it is sent.
    func grant(of id: SessionID, policy: RatePolicy) -> RateGrant? {
        guard let grant = shares[id]?.current else { return nil }
        return RateGrant(
            origin: name, perSecond: grant.amount.rate, burst: grant.amount.burst,
            concurrency: grant.amount.concurrency,
            ttl: policy.ttl, round: grant.round,
            reportEvery: health.control.isLimiting ? policy.reportEvery * Int64(1 + seated / 16) : 0, opened: opened,
            bytesPerSecond: limits.bytesPerSecond(ofConnections: grant.amount.concurrency))
    }

    // MARK: - Time

    /// Advances the time.
    ///
    /// Expired grants free their shares.
    mutating func pass(to now: Tick, policy: RatePolicy) {
        // The comparison does not use the seats: they are counted at `now`, when a wait that has just ended is already
        // over.
        let before = (health.blockedUntil, health.breaker)
        health.pass(to: now)
        if before != (health.blockedUntil, health.breaker) { isDirty = true }
        if case .probing(.some, let until) = health.breaker, until <= now { isDirty = true }
        for (id, share) in shares {
            if let end = share.nextEnd, end <= now {
                shares[id]?.expire(at: now)
                if shares[id]?.current == nil { shares[id]?.isHere = false }
                isDirty = true
            }
            if let idle = share.idleSince, now - idle >= policy.linger {
                shares[id]?.idleSince = nil
                isDirty = true
            }
        }
    }

    /// The next time at which something changes without an event.
    func nextChange(_ policy: RatePolicy) -> Tick? {
        var next = health.nextChange
        func consider(_ tick: Tick?) {
            if let tick { next = next.map { min($0, tick) } ?? tick }
        }
        for share in shares.values {
            consider(share.nextEnd)
            consider(share.idleSince.map { $0 + policy.linger })
        }
        return next
    }

    /// Whether the book contains nothing that is still needed.
    var isForgettable: Bool { jobs.isEmpty && shares.isEmpty && health.blockedUntil == nil }
}
