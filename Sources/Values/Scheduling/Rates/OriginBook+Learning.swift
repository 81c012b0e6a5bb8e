/// The behaviour of a coordinator run during its learning period, in which unknown shares of the previous run may still
/// be valid.
///
/// A session that reports what it holds is granted the same again, and never more. That is safe although the shares of
/// the others are unknown: a worker reports its share only after a message of this run, so the previous run had ended
/// by then and had counted every share that was still valid. What it counted never exceeded the limits.
extension OriginBook {
    /// Grants a session again what it holds, within what the limits and the known shares leave.
    ///
    /// - Returns: Whether the grant was made: false when the session already has a grant of this run, or when too
    ///   little is left.
    mutating func regrant(
        _ held: HeldShare, for id: SessionID, round: UInt64, now: Tick, policy: RatePolicy
    ) -> Bool {
        let share = shares[id] ?? Share()
        guard share.current == nil, share.older.isEmpty, share.claimed == nil else { return false }
        let spare = spare(without: id)
        var amount = Share.Amount(
            rate: held.perSecond, burst: held.burst, concurrency: min(held.concurrency, spare.concurrency))
        if limits.perSecond != nil, let left = spare.rate {
            amount.rate = min(held.perSecond ?? left, left)
            amount.burst = min(held.burst, spare.burst)
            guard amount.rate ?? 0 > 0, amount.burst >= 0.999 else { return false }
        }
        guard amount.concurrency > 0 else { return false }
        shares[id] = share
        shares[id]?.claimed = amount
        if limits.perSecond == nil, let rate = amount.rate { health.control.remember(rate, now: now) }
        shares[id]?.isHere = true
        if !share.isSeated { shares[id]?.idleSince = now }
        shares[id]?.grant(amount, round: round, until: now + policy.counted)
        isDirty = true
        return true
    }

    /// What each session keeps: its earlier share, as far as the origin's health allows.
    mutating func kept(now: Tick, policy: RatePolicy) -> [SessionID: Share.Amount] {
        let present = shares.filter { $0.value.isKept && $0.value.isPresent }.keys
            .sorted()
        if health.breaker != .closed {
            return probe(present.filter { shares[$0]?.isSeated == true }, now: now, policy: policy).reduce(into: [:]) {
                found, one in
                found[one.key] = shares[one.key]?.claimed.map { one.value.within($0) }
            }
        }
        var amounts: [SessionID: Share.Amount] = [:]
        for id in present {
            guard var amount = shares[id]?.claimed else { continue }
            // A rate found by this run applies to the sessions that are present.
            let found = health.control.rate.map { $0 / Double(present.count) }
            amount.rate = [amount.rate, found].compactMap(\.self).min()
            if let connections = health.control.connections {
                amount.concurrency = max(1, min(amount.concurrency, connections / present.count))
            }
            amounts[id] = amount
        }
        return amounts
    }

    /// The number of sessions that keep a share.
    func keepers(now: Tick) -> Int { min(seats(now: now), shares.values.count(where: \.isKept)) }

    /// Whether a session that keeps a share can get another lease.
    func mayContinue(_ id: SessionID, now: Tick) -> Bool {
        guard let share = shares[id], share.isKept, seats(now: now) > 0 else { return false }
        if !share.isSeated { return true }
        return health.breaker == .closed && share.leases <= max(share.amount.concurrency, 1)
    }
}

extension Share {
    /// Whether its session is present and has reported what it held.
    fileprivate var isKept: Bool { isHere && claimed != nil }
}

extension Share.Amount {
    /// The smaller value of the two, for each kind.
    fileprivate func within(_ other: Self) -> Self {
        let rates = [rate, other.rate].compactMap(\.self)
        return Self(
            rate: rates.min(), burst: min(burst, other.burst), concurrency: min(concurrency, other.concurrency))
    }
}
