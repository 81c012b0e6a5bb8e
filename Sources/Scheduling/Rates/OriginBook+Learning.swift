/// What an incarnation does while it learns, when shares of the one before may live that it knows nothing of.
///
/// A session that says what it holds is granted that anew, and never more. It is safe with nothing known of the others: a worker speaks of its
/// share only after a word of this incarnation, so the one before was dead by then, and had counted every share that was still live. What
/// it counted never exceeded the limits.
extension OriginBook {
    /// Grants a session anew what it holds, within what the limits leave beside the shares known.
    ///
    /// - Returns: Whether it did: not when it was told something already, nor when too little is left.
    mutating func keep(
        _ held: HeldShare, for id: SessionID, round: UInt64, now: Tick, _ policy: RatePolicy
    ) -> Bool {
        let share = shares[id] ?? Share()
        guard share.current == nil, share.older.isEmpty, share.claimed == nil else { return false }
        let room = room(beside: id)
        var amount = Share.Amount(
            rate: held.perSecond, burst: held.burst, concurrency: min(held.concurrency, room.concurrency))
        if limits.perSecond != nil, let left = room.rate {
            amount.rate = min(held.perSecond ?? left, left)
            amount.burst = min(held.burst, room.burst)
            guard amount.rate ?? 0 > 0, amount.burst >= 0.999 else { return false }
        }
        guard amount.concurrency > 0 else { return false }
        shares[id] = share
        shares[id]?.claimed = amount
        if limits.perSecond == nil, let rate = amount.rate { health.control.remember(rate, now: now) }
        shares[id]?.isHere = true
        if !share.isSeated { shares[id]?.idleSince = now }
        shares[id]?.tell(amount, round: round, until: now + policy.counted)
        isDirty = true
        return true
    }

    /// What each session keeps: what it had, as far as the origin's health allows.
    mutating func kept(now: Tick, _ policy: RatePolicy) -> [SessionID: Share.Amount] {
        let present = shares.filter { $0.value.isKept && $0.value.isPresent }.keys
            .sorted()
        if health.breaker != .closed {
            return probe(present.filter { shares[$0]?.isSeated == true }, now, policy).reduce(into: [:]) { found, one in
                found[one.key] = shares[one.key]?.claimed.map { one.value.within($0) }
            }
        }
        var amounts: [SessionID: Share.Amount] = [:]
        for id in present {
            guard var amount = shares[id]?.claimed else { continue }
            // What was found by this incarnation holds for those that are here.
            let found = health.control.rate.map { $0 / Double(present.count) }
            amount.rate = [amount.rate, found].compactMap(\.self).min()
            if let connections = health.control.connections {
                amount.concurrency = max(1, min(amount.concurrency, connections / present.count))
            }
            amounts[id] = amount
        }
        return amounts
    }

    /// How many sessions keep a share.
    func keepers(now: Tick) -> Int { min(seats(now: now), shares.values.count(where: \.isKept)) }

    /// Whether a session that keeps a share can get one lease more.
    func mayGoOn(_ id: SessionID, now: Tick) -> Bool {
        guard let share = shares[id], share.isKept, seats(now: now) > 0 else { return false }
        if !share.isSeated { return true }
        return health.breaker == .closed && share.leases <= max(share.amount.concurrency, 1)
    }
}

extension Share {
    /// Whether its session is here and has said what it held.
    fileprivate var isKept: Bool { isHere && claimed != nil }
}

extension Share.Amount {
    /// Of both, what allows less.
    fileprivate func within(_ other: Self) -> Self {
        let rates = [rate, other.rate].compactMap(\.self)
        return Self(
            rate: rates.min(), burst: min(burst, other.burst), concurrency: min(concurrency, other.concurrency))
    }
}
