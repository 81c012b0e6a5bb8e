@testable import Scheduling

/// A model origin, workers with clocks of their own and a network that delays, loses and reorders, around the real ledger.
///
/// Everything follows from the seed; a step is five milliseconds.
struct RateWorld {
    private struct Worker {
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

        func clock(_ now: Int64) -> Double { Double(now) * speed + Double(id) * 1e6 }
    }
    private enum Letter {
        case report([OriginUse], acknowledged: UInt64, sent: Double)
        case grants([RateGrant], anchor: Double)
    }

    let limits: OriginLimits
    private var policy: RatePolicy
    private var ledger: RateLedger
    private var epoch: UInt32 = 1
    private var random: SeededRandom
    private var workers: [Worker] = []
    private var nextID: SessionID = 1
    /// What the coordinator believes: leases of each session, and when it last heard of it.
    private var leases: [SessionID: Int] = [:]
    private var heard: [SessionID: (at: Int64, anchor: Double)] = [:]
    private var letters: [(due: Int64, order: Int, session: SessionID, letter: Letter)] = []
    private var order = 0
    private var now: Int64 = 0
    private var blockedUntil: Int64 = 0
    private var downUntil: Int64 = 0
    /// Start times of all requests.
    private(set) var starts: [Int64] = []
    private(set) var mostInFlight = 0
    let isRough: Bool

    init(seed: UInt64, isRough: Bool = true, drift: Double = 0.05) {
        random = SeededRandom(state: seed)
        let rates: [Double?] = [nil, 0.7, 4, 9, 20, 33.3, 120]
        let connections = [1, 2, 3, 8, 40]
        limits = OriginLimits(
            perSecond: rates[Int(random.below(Int64(rates.count)))],
            concurrency: connections[Int(random.below(Int64(connections.count)))])
        policy = RatePolicy()
        policy.ttl = 4_000
        policy.drift = drift
        self.isRough = isRough
        ledger = RateLedger(policy, epoch: 1, now: Tick(milliseconds: 0))
        ledger.open(1, JobOrigin(name: "o", limits: limits))
        for _ in 0..<(2 + random.below(5)) { addWorker() }
    }

    private mutating func addWorker() {
        // Machines' clocks go up to 2 % too slow or too fast.
        workers.append(Worker(id: nextID, speed: 0.98 + Double(random.below(41)) / 1_000))
        nextID += 1
    }

    mutating func run(for span: Int64) {
        let end = now + span
        while now < end {
            now += 5
            if isRough { trouble() }
            deliver()
            coordinate()
            for place in workers.indices { work(place) }
            mostInFlight = max(mostInFlight, workers.reduce(0) { $0 + $1.inFlight.count })
        }
    }

    // MARK: - Trouble

    private mutating func trouble() {
        for place in workers.indices {
            if random.perMille(workers[place].isCut ? 1 : 0) || random.below(8_000) == 0 {
                workers[place].isCut.toggle()
            }
        }
        switch random.below(12_000) {
        case 0:  // The coordinator dies; its successor knows the leases and nothing else.
            epoch += 1
            ledger = RateLedger(policy, epoch: epoch, now: Tick(milliseconds: now))
            ledger.open(1, JobOrigin(name: "o", limits: limits))
            for (id, count) in leases { for _ in 0..<count { ledger.lease("o", id, isHere: false) } }
            heard = [:]
        case 1: blockedUntil = now + random.below(3_000)
        case 2: downUntil = now + random.below(6_000)
        case 3:  // A worker dies with everything it has; another one comes.
            workers.removeFirst()
            addWorker()
        default: break
        }
    }

    private mutating func post(_ letter: Letter, _ session: SessionID, isCut: Bool) {
        if isRough, random.perMille(30) { return }
        // What is cut off may come much later all the same.
        var delay = isCut ? 500 + random.below(15_000) : 5 + random.below(60)
        if isRough, random.perMille(20) { delay += random.below(8_000) }
        if isCut, random.perMille(600) { return }
        order += 1
        letters.append((now + delay, order, session, letter))
    }

    private mutating func deliver() {
        let due = letters.filter { $0.due <= now }.sorted { ($0.due, $0.order) < ($1.due, $1.order) }
        letters.removeAll { $0.due <= now }
        for (_, _, session, letter) in due {
            switch letter {
            case .report(let uses, let acknowledged, let sent):
                heard[session] = (now, max(sent, heard[session]?.anchor ?? sent))
                ledger.take(uses, acknowledged: acknowledged, from: session, now: Tick(milliseconds: now))
            case .grants(let grants, let anchor):
                if let place = workers.firstIndex(where: { $0.id == session }) { apply(grants, anchor, place) }
            }
        }
    }

    // MARK: - Coordinator

    private mutating func coordinate() {
        let tick = Tick(milliseconds: now)
        if now % 50 == 0 {
            for worker in workers where random.perMille(100) {
                let id = worker.id
                if heard[id] != nil, ledger.mayLease("o", id, now: tick), leases[id, default: 0] < 3 {
                    leases[id, default: 0] += 1
                    ledger.lease("o", id, isHere: true)
                } else if leases[id, default: 0] > 0, random.perMille(isRough ? 100 : 0) {
                    leases[id, default: 0] -= 1
                    ledger.release("o", id, now: tick)
                }
            }
            // Leases of the silent end.
            for (id, count) in leases where count > 0 && now - (heard[id]?.at ?? now) > 12_000 {
                leases[id] = 0
                for _ in 0..<count { ledger.release("o", id, now: tick) }
            }
        }
        for (id, grants) in ledger.settle(now: tick) {
            guard let anchor = heard[id]?.anchor else { continue }
            post(.grants(grants, anchor: anchor), id, isCut: workers.first { $0.id == id }?.isCut ?? true)
        }
    }

    // MARK: - Workers

    private mutating func apply(_ grants: [RateGrant], _ anchor: Double, _ place: Int) {
        guard let grant = grants.first, grant.round >= workers[place].applied else { return }
        let clock = workers[place].clock(now)
        let until = anchor + Double(grant.ttl)
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

    private mutating func work(_ place: Int) {
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
        // Work may be left over when the lease is gone: a worker that knows nothing of that goes on.
        while worker.inFlight.count < may, worker.held.perSecond == nil || worker.tokens >= 1 {
            if worker.held.perSecond != nil { worker.tokens -= 1 }
            worker.inFlight.append(now + 10 + random.below(300))
            worker.use.requests += 1
            starts.append(now)
        }
        if now >= worker.nextReport || worker.use.throttled > 0 || worker.use.failed > 0 {
            worker.nextReport = now + 1_500
            worker.use.waiting = 5
            post(
                .report([worker.use], acknowledged: worker.ceiling == nil ? worker.applied : 0, sent: clock), worker.id,
                isCut: worker.isCut)
            worker.use = OriginUse(origin: "o")
        }
        workers[place] = worker
    }

    // MARK: - What is true

    /// The most requests of any window of one second; starts are in order.
    var fullestWindow: Int {
        var first = 0
        var most = 0
        for (last, start) in starts.enumerated() {
            while start - starts[first] >= 1_000 { first += 1 }
            most = max(most, last - first + 1)
        }
        return most
    }

    /// What is wrong, or `nil`.
    var violation: String? {
        if mostInFlight > limits.concurrency { return "\(mostInFlight) in flight, \(limits.concurrency) allowed" }
        guard let rate = limits.perSecond, let burst = limits.burst else { return nil }
        // Clocks that go 2 % too fast make 2 % more.
        let most = rate * 1.02 + burst + 0.001
        return Double(fullestWindow) > most ? "\(fullestWindow) in a second, \(most) allowed" : nil
    }
}
