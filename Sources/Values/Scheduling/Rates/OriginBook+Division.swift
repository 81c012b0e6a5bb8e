extension OriginBook {
    /// Divides the budget again and records the grants to send.
    ///
    /// A share is reduced at once. The freed part can be granted to others only when its session has acknowledged the
    /// reduction, or when the old grant has expired. Cost: some passes over the holders and two sorts.
    ///
    /// - Parameter nextRound: Returns rising numbers.
    /// - Returns: The sessions whose grant has changed, ascending.
    mutating func divide(now: Tick, isLearning: Bool, policy: RatePolicy, nextRound: () -> UInt64) -> [SessionID] {
        isDirty = false
        let targets: [SessionID: Share.Amount] =
            if health.isShut(at: now) { [:] } else if isLearning { kept(now: now, policy: policy) } else {
                targets(now: now, policy: policy)
            }
        let ids = shares.keys.sorted()
        guard !ids.allSatisfy({ isNear(shares[$0]?.amount ?? .nothing, to: targets[$0] ?? .nothing) }) else {
            forgetIdle()
            return []
        }
        var changed: [SessionID] = []
        var spare = spare
        for id in ids {
            let before = shares[id]?.counted ?? .nothing
            let amount = bounded(targets[id] ?? .nothing, by: spare.adding(before))
            guard shares[id]?.amount != amount else { continue }
            shares[id]?.grant(amount, round: nextRound(), until: now + policy.counted)
            spare = spare.adding(before).taking(shares[id]?.counted ?? .nothing)
            changed.append(id)
        }
        forgetIdle()
        return changed
    }

    private mutating func forgetIdle() {
        guard shares.values.contains(where: \.isForgettable) else { return }
        shares = shares.filter { !$0.value.isForgettable }
    }

    /// The share that each session should have.
    private mutating func targets(now: Tick, policy: RatePolicy) -> [SessionID: Share.Amount] {
        let present = shares.filter { $0.value.isHere && $0.value.isPresent }.keys
            .sorted()
        guard health.breaker == .closed else {
            return probe(present.filter { shares[$0]?.isSeated == true }, now: now, policy: policy)
        }
        // When there are fewer shares than workers, sessions that have a share keep it.
        let ordered = present.sorted { left, right in
            let (one, two) = (shares[left]?.amount.isNothing ?? true, shares[right]?.amount.isNothing ?? true)
            return one == two ? left < right : two
        }
        let chosen = ordered.prefix(seats(now: now)).sorted()
        guard !chosen.isEmpty else { return [:] }
        let weights = chosen.map { shares[$0]?.weight ?? 1 }
        let whole = weights.reduce(0, +)
        let connections = Self.split(connections, weights: weights)
        let rate = [limits.pool.rate, foundRate].compactMap(\.self).min()
        var targets: [SessionID: Share.Amount] = [:]
        for (place, id) in chosen.enumerated() {
            let own = rate.map { $0 * Double(weights[place]) / Double(whole) }
            targets[id] = Share.Amount(
                rate: own, burst: own.map { 1 + $0 * 0.02 / 0.98 } ?? 0, concurrency: connections[place])
        }
        return targets
    }

    /// Grants one connection to one session.
    ///
    /// If that session does not report a result in time, another session gets it.
    mutating func probe(
        _ present: [SessionID], now: Tick, policy: RatePolicy
    ) -> [SessionID: Share.Amount] {
        guard case .probing(var prober, var until) = health.breaker else { return [:] }
        guard let first = present.first else {
            health.breaker = .probing(nil, until: now)
            return [:]
        }
        if prober.map({ until <= now || !present.contains($0) }) ?? true {
            prober = present.first { $0 > prober ?? 0 } ?? first
            until = now + policy.ttl
            health.breaker = .probing(prober, until: until)
        }
        guard let prober else { return [:] }
        let rate = min(limits.pool.rate ?? 1, 1)
        return [prober: Share.Amount(rate: rate, burst: 1, concurrency: 1)]
    }

    /// Divides whole connections by weight, at least one each.
    ///
    /// The number of weights does not exceed the number of connections.
    static func split(_ connections: Int, weights: [Int]) -> [Int] {
        let whole = max(weights.reduce(0, +), 1)
        let spare = max(connections - weights.count, 0)
        var parts = weights.map { 1 + spare * $0 / whole }
        var left = connections - parts.reduce(0, +)
        let byWeight = weights.indices.sorted { (weights[$1], $0) < (weights[$0], $1) }
        for place in byWeight where left > 0 {
            parts[place] += 1
            left -= 1
        }
        return parts
    }

    /// Whether a share is so close to its target that it is not changed.
    private func isNear(_ amount: Share.Amount, to target: Share.Amount) -> Bool {
        guard amount.isNothing == target.isNothing else { return false }
        guard amount.concurrency == target.concurrency, (amount.rate == nil) == (target.rate == nil) else {
            return false
        }
        guard let rate = amount.rate, let wanted = target.rate else { return true }
        return rate <= wanted * 1.001 && rate >= wanted * (foundRate != nil ? 0.995 : 0.97)
    }

    /// The part of a target that the shares of other sessions leave.
    private func bounded(_ target: Share.Amount, by spare: Share.Amount) -> Share.Amount {
        guard !target.isNothing else { return .nothing }
        var amount = target
        amount.concurrency = min(target.concurrency, spare.concurrency)
        // Without a configured limit there is a rate only after an overload, and it is not guaranteed.
        if let left = spare.rate, let rate = target.rate { amount.rate = min(rate, left) }
        if limits.perSecond != nil { amount.burst = min(target.burst, spare.burst) }
        let isTooLittle = amount.rate.map { $0 < (target.rate ?? 0) / 4 } ?? false
        return amount.concurrency < 1 || isTooLittle || (amount.rate != nil && amount.burst < 0.999) ? .nothing : amount
    }

    /// The part of the pool that is left by the shares that sessions may hold.
    private var spare: Share.Amount {
        // In a fixed order, because sums of fractions depend on the order.
        shares.keys.sorted().reduce(limits.pool) { $0.taking(shares[$1]?.counted ?? .nothing) }
    }

    /// The part of the pool that is left by the shares that other sessions may hold.
    func spare(without id: SessionID) -> Share.Amount { spare.adding(shares[id]?.counted ?? .nothing) }
}

extension Share.Amount {
    /// An unlimited rate stays unlimited.
    fileprivate func adding(_ other: Self) -> Self {
        Self(
            rate: rate.map { $0 + (other.rate ?? 0) }, burst: burst + other.burst,
            concurrency: concurrency + other.concurrency)
    }

    fileprivate func taking(_ other: Self) -> Self {
        Self(
            rate: rate.map { $0 - (other.rate ?? 0) }, burst: burst - other.burst,
            concurrency: concurrency - other.concurrency)
    }
}
