/// The budgets of all origins.
///
/// A new coordinator run learns for one ttl, in which the grants of the previous run expire. Until then a session gets
/// only what it already holds, so that no share is granted twice and work continues. If the store names the holders of
/// an origin, learning ends earlier: as soon as each of them has reported what it holds.
struct RateLedger: Sendable {
    let policy: RatePolicy
    private let epoch: UInt32
    private var round: UInt32 = 0
    private var books: [String: OriginBook] = [:]
    private(set) var tally = OriginTally()
    /// Origins of which a session has a share, ascending.
    private var memberships: [SessionID: [String]] = [:]
    /// Sessions that must be sent their grants although nothing changed, to renew them.
    private var owed: Set<SessionID> = []
    /// Origins to update at the end of the event.
    private var touched: Set<String> = []
    private(set) var learningUntil: Tick?
    /// Sessions that may hold shares of the previous run and have not reported them; `nil` = any session may.
    private var unheard: [String: Set<SessionID>]?
    /// The operators' limits, also for origins that no job uses.
    private(set) var operatorLimits: OperatorLimits = [:]
    /// Whether ``holders`` may have changed since it was last read.
    var mayHaveNewHolders = true
    /// The next time at which something changes without an event.
    private(set) var wake: Tick?

    init(
        _ policy: RatePolicy, epoch: UInt32, holders: ShareHolders? = nil, operatorLimits: OperatorLimits = [:],
        now: Tick
    ) {
        self.policy = policy
        self.operatorLimits = operatorLimits
        self.epoch = epoch
        unheard = holders?.mapValues(Set.init)
        learningUntil = epoch > 1 && holders?.isEmpty != true ? now + policy.counted : nil
        wake = learningUntil
    }

    func book(_ name: String) -> OriginBook? { books[name] }
    var all: [OriginBook] { books.values.sorted { $0.name < $1.name } }

    // MARK: - Jobs and leases

    mutating func open(_ job: JobID, origin: JobOrigin) {
        guard books[origin.name]?.jobs[job] != origin.limits else { return }
        books[origin.name, default: OriginBook(origin, operatorLimit: operatorLimits[origin.name], policy: policy)]
            .open(job, limits: origin.limits)
        tally.begin(origin.name)
        touched.insert(origin.name)
    }

    mutating func close(_ job: JobID, origin: String) {
        books[origin]?.close(job)
        touched.insert(origin)
    }

    mutating func limit(_ origin: String, to limit: OperatorLimit?) {
        operatorLimits[origin] = limit
        books[origin]?.limit(limit)
        touched.insert(origin)
    }

    /// Removes the block of an origin and closes its breaker.
    mutating func reopen(_ origin: String, now: Tick) {
        books[origin]?.reopen(now: now)
        touched.insert(origin)
        owed.formUnion(books[origin]?.shares.keys.map(\.self) ?? [])
    }

    mutating func lease(_ origin: String, session id: SessionID, isHere: Bool) {
        guard books[origin] != nil else { return }
        books[origin]?.lease(id, isHere: isHere)
        touched.insert(origin)
        join(id, origin: origin)
    }

    mutating func release(_ origin: String, session id: SessionID, now: Tick) {
        books[origin]?.release(id, now: now)
        touched.insert(origin)
    }

    private mutating func join(_ id: SessionID, origin: String) {
        var names = memberships[id] ?? []
        guard !names.contains(origin) else { return }
        names.append(origin)
        memberships[id] = names.sorted()
    }

    // MARK: - Reports

    /// Handles a worker's report.
    ///
    /// The worker is sent its grants as the answer.
    mutating func applyReport(
        _ uses: [OriginUse], acknowledged: UInt64, namesHeld: Bool = false, from id: SessionID, now: Tick
    ) {
        for use in uses where isLearning(use.origin, at: now) {
            if let held = use.held { regrant(held, of: use.origin, for: id, now: now) }
        }
        if namesHeld { recordAllHeld(by: id) }
        for name in memberships[id] ?? [] {
            books[name]?.renewGrants(of: id, acknowledged: acknowledged, now: now, policy: policy)
            touched.insert(name)
        }
        for use in uses { tally.add(use) }
        for use in uses where books[use.origin] != nil {
            books[use.origin]?.applyReport(use, from: id, now: now, policy: policy)
            touched.insert(use.origin)
        }
        if memberships[id] != nil { owed.insert(id) }
    }

    /// A session has reported everything that it holds.
    private mutating func recordAllHeld(by id: SessionID) {
        for name in (unheard ?? [:]).keys.sorted() where unheard?[name]?.remove(id) != nil {
            guard unheard?[name]?.isEmpty == true else { continue }
            unheard?[name] = nil
            books[name]?.isDirty = true
            touched.insert(name)
        }
    }

    /// The sessions that may hold shares of any run; `nil` while that is not known.
    var holders: ShareHolders? {
        guard learningUntil == nil || unheard != nil else { return nil }
        var all = learningUntil == nil ? [:] : unheard ?? [:]
        for (name, book) in books {
            for (id, share) in book.shares where share.current != nil || !share.older.isEmpty {
                all[name, default: []].insert(id)
            }
        }
        return all.mapValues { $0.sorted() }
    }

    /// Grants a session again what it holds.
    private mutating func regrant(_ held: HeldShare, of name: String, for id: SessionID, now: Tick) {
        let next = first | UInt64(round &+ 1)
        guard books[name]?.regrant(held, for: id, round: next, now: now, policy: policy) == true else { return }
        round &+= 1
        touched.insert(name)
        join(id, origin: name)
    }

    /// Divides the budgets that have changed.
    ///
    /// - Returns: The sessions to inform, ascending, each with all of its grants.
    mutating func divideBudgets(now: Tick) -> [(SessionID, [RateGrant])] {
        let isTime = wake.map { $0 <= now } ?? false
        guard isTime || !touched.isEmpty || !owed.isEmpty else { return [] }
        mayHaveNewHolders = true
        if let end = learningUntil, end <= now {
            learningUntil = nil
            unheard = nil
            for name in books.keys { books[name]?.isDirty = true }
        }
        for name in isTime ? books.keys.sorted() : touched.sorted() {
            books[name]?.pass(to: now, policy: policy)
            if books[name]?.isDirty == true { owed.formUnion(divide(name, now: now)) }
            if books[name]?.isForgettable == true { books[name] = nil }
        }
        touched = []
        wake = (books.values.compactMap { $0.nextChange(policy) } + [learningUntil].compactMap(\.self)).min()
        defer { owed = [] }
        return owed.sorted().compactMap { id in
            let names = (memberships[id] ?? []).filter { books[$0]?.shares[id] != nil }
            memberships[id] = names.isEmpty ? nil : names
            let grants = names.compactMap { books[$0]?.grant(of: id, policy: policy) }
            return grants.isEmpty ? nil : (id, grants)
        }
    }

    private mutating func divide(_ name: String, now: Tick) -> [SessionID] {
        var last = round
        let (first, isLearning) = (first, isLearning(name))
        defer { round = last }
        return books[name]?.divide(now: now, isLearning: isLearning, policy: policy) {
            last &+= 1
            return first | UInt64(last)
        } ?? []
    }

    /// Rounds of this run are larger than this number.
    private var first: UInt64 { UInt64(epoch) << 32 }

    /// Whether an origin has work for this session now.
    ///
    /// During learning only for a session whose share is known.
    func mayLease(_ origin: String, session id: SessionID, now: Tick) -> Bool {
        guard let book = books[origin] else { return false }
        return isLearning(origin, at: now) ? book.mayContinue(id, now: now) : book.mayLease(id, now: now)
    }

    /// The number of sessions that may work there now.
    func seats(_ origin: String, now: Tick) -> Int {
        guard let book = books[origin] else { return 0 }
        return isLearning(origin, at: now) ? book.keepers(now: now) : book.seats(now: now)
    }

    /// Whether unknown shares of an earlier run may still be valid.
    func isLearning(_ origin: String, at now: Tick) -> Bool {
        learningUntil.map { $0 > now } == true && isLearning(origin)
    }

    private func isLearning(_ origin: String) -> Bool {
        learningUntil != nil && unheard.map { $0[origin] != nil } ?? true
    }

    /// The latest time at which learning of an origin ends; `nil` = it has ended.
    func learning(_ origin: String) -> Tick? { isLearning(origin) ? learningUntil : nil }
}
