@testable import Scheduling

/// The model's workers, with the rules of `WorkerBudgets` and `OriginBudget`.
extension RateWorld {
    struct Worker {
        let id: SessionID
        /// Its clock's speed; a millisecond of ours is `speed` of its.
        let speed: Double
        var leases = 0
        var applied: UInt64 = 0
        var held = RateGrant(origin: "o", perSecond: 0, burst: 0, concurrency: 0, ttl: 0, round: 0)
        /// By its own clock.
        var until = 0.0
        /// Connections it may still hold under an earlier grant.
        var ceiling: (concurrency: Int, until: Double)?
        var tokens = 0.0
        var filledAt = 0.0
        var inFlight: [Int64] = []
        var nextReport: Int64 = 0
        var use = OriginUse(origin: "o")
        var isCut = false
        /// The newest incarnation that it has had a welcome of.
        var epoch: UInt32 = 0

        /// The newest that has answered what it said of its shares.
        var answeredEpoch: UInt32 = 0

        func clock(_ now: Int64) -> Double { Double(now) * speed + Double(id.rawValue) * 1e6 }
    }

    mutating func apply(_ grants: [RateGrant], _ anchor: Double, _ place: Int) {
        guard let grant = grants.first, grant.round >= workers[place].applied else { return }
        let clock = workers[place].clock(now)
        let until = mutant == .neverExpires ? .infinity : anchor + Double(grant.ttl)
        fill(place)
        if grant.round == workers[place].applied {
            workers[place].until = max(workers[place].until, until)
            return
        }
        if workers[place].until > clock, workers[place].held.concurrency > grant.concurrency {
            workers[place].ceiling = (workers[place].held.concurrency, workers[place].until)
        }
        workers[place].applied = grant.round
        workers[place].held = grant
        workers[place].until = until
        workers[place].tokens = min(workers[place].tokens, grant.burst)
        workers[place].nextReport = now
    }

    private mutating func fill(_ place: Int) {
        let clock = workers[place].clock(now)
        let worker = workers[place]
        let end = min(clock, worker.until)
        if end > worker.filledAt {
            let gain = (end - worker.filledAt) / 1_000 * (worker.held.perSecond ?? 0)
            workers[place].tokens = min(worker.held.burst, worker.tokens + gain)
        }
        workers[place].filledAt = clock
        if worker.until <= clock { workers[place].tokens = 0 }
    }

    mutating func work(_ place: Int) {
        fill(place)
        var worker = workers[place]
        let clock = worker.clock(now)
        let ended = worker.inFlight.filter { $0 <= now }
        worker.inFlight.removeAll { $0 <= now }
        for _ in ended {
            if now < downUntil {
                worker.use.failed += 1
            } else if now < blockedUntil {
                worker.use.throttled += 1
                worker.use.retryAfter = max(worker.use.retryAfter, blockedUntil - now)
            } else {
                worker.use.answered += 1
            }
        }
        let may = worker.until > clock ? worker.held.concurrency : 0
        var bound = may
        if let ceiling = worker.ceiling {
            if ceiling.until > clock { bound = max(bound, ceiling.concurrency) } else { worker.ceiling = nil }
        }
        // What is in flight beyond the bound is broken off.
        if worker.inFlight.count > bound { worker.inFlight.removeLast(worker.inFlight.count - bound) }
        if worker.inFlight.count <= worker.held.concurrency { worker.ceiling = nil }
        // Work may remain when the lease has ended: a worker that does not know this continues.
        while worker.inFlight.count < may, worker.held.perSecond == nil || worker.tokens >= 1 {
            if worker.held.perSecond != nil { worker.tokens -= 1 }
            worker.inFlight.append(now + 10 + random.below(300))
            worker.use.requests += 1
            starts.append(now)
        }
        if now >= worker.nextReport || worker.use.throttled > 0 || worker.use.failed > 0 {
            worker.nextReport = now + 1_500
            worker.use.waiting = 5
            worker.use.held = claim(of: worker)
            post(
                .report(
                    [worker.use], acknowledged: worker.ceiling == nil ? worker.applied : 0,
                    namesHeld: worker.answeredEpoch < worker.epoch, sent: clock), worker.id, isCut: worker.isCut)
            worker.use = OriginUse(origin: "o")
        }
        workers[place] = worker
    }

    /// What a report says of a share that the coordinator cannot know.
    private func claim(of worker: Worker) -> HeldShare? {
        guard worker.answeredEpoch < worker.epoch, worker.held.concurrency > 0 else { return nil }
        guard worker.until > worker.clock(now) || mutant == .claimsDeadShares else { return nil }
        if mutant == .claimsTooMuch {
            return HeldShare(perSecond: limits.perSecond, burst: limits.burst ?? 0, concurrency: limits.concurrency)
        }
        return HeldShare(
            perSecond: worker.held.perSecond, burst: worker.held.burst, concurrency: worker.held.concurrency)
    }
}
