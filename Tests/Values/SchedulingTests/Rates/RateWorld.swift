@testable import Scheduling

/// A model origin, workers with clocks of their own and a network that delays, loses and reorders, around the real ledger.
///
/// Everything follows from the seed; a step is five milliseconds.
struct RateWorld {
    enum Letter {
        case report([OriginUse], acknowledged: UInt64, namesHeld: Bool, sent: Double)
        case grants([RateGrant], anchor: Double)
        /// The coordinator does not know the session.
        case unknown
        case hello
        case welcome(epoch: UInt32)
        /// It has taken in what the session holds.
        case heardOut(epoch: UInt32)
    }
    /// A wrong coordinator or a wrong worker round the right ledger.
    enum Mutant: CaseIterable {
        /// A new incarnation does not learn.
        case grantsAtOnce
        /// The store forgets who may hold shares.
        case forgetsHolders
        /// As soon as one session has reported its shares, all sessions get shares.
        case grantsAfterOneClaim
        /// Workers say that they hold all there is.
        case claimsTooMuch
        /// Workers claim shares that have run out.
        case claimsDeadShares
        /// Grants live on at their workers.
        case neverExpires
    }

    let limits: OriginLimits
    var policy: RatePolicy
    private var ledger: RateLedger
    private var epoch: UInt32 = 1
    var random: SeededRandom
    var workers: [Worker] = []
    private var nextID: SessionID = 1
    /// What the coordinator believes: leases of each session, and when it last heard of it.
    private var leases: [SessionID: Int] = [:]
    private var heard: [SessionID: (at: Int64, anchor: Double)] = [:]
    private var letters: [(due: Int64, order: Int, session: SessionID, letter: Letter)] = []
    private var order = 0
    var now: Int64 = 0
    /// Sessions this incarnation has had a hello of, and until when it is down.
    private var known: Set<SessionID> = []
    private var awayUntil: Int64 = 0
    var blockedUntil: Int64 = 0
    var downUntil: Int64 = 0
    /// Start times of all requests.
    var starts: [Int64] = []
    private(set) var maxInFlight = 0
    let isRough: Bool
    let mutant: Mutant?

    init(seed: UInt64, isRough: Bool = true, drift: Double = 0.05, mutant: Mutant? = nil) {
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
        self.mutant = mutant
        ledger = RateLedger(policy, epoch: 1, now: Tick(milliseconds: 0))
        ledger.open(1, origin: JobOrigin(name: "o", limits: limits))
        for _ in 0..<(2 + random.below(5)) { addWorker() }
    }

    private mutating func addWorker() {
        // Machines' clocks go up to 2 % too slow or too fast.
        workers.append(Worker(id: nextID, speed: 0.98 + Double(random.below(41)) / 1_000))
        nextID = nextID.advanced(by: 1)
    }

    mutating func run(for span: Int64) {
        let end = now + span
        while now < end {
            now += 5
            if isRough { trouble() }
            deliver()
            coordinate()
            for place in workers.indices { work(place) }
            maxInFlight = max(maxInFlight, workers.reduce(0) { $0 + $1.inFlight.count })
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
        case 0, 4: restart(after: random.below(2) == 0 ? random.below(300) : random.below(9_000))
        case 1: blockedUntil = now + random.below(3_000)
        case 2: downUntil = now + random.below(6_000)
        case 3:  // A worker dies with everything it has; another one comes.
            workers.removeFirst()
            addWorker()
        default: break
        }
    }

    /// The coordinator dies; its successor knows the leases and nothing else.
    mutating func restart(after pause: Int64) {
        epoch += 1
        awayUntil = now + pause
        // One that was started long ago has learned.
        begin(
            startedAt: mutant == .grantsAtOnce ? awayUntil - 60_000 : awayUntil,
            mutant == .forgetsHolders ? [:] : ledger.holders)
        heard = [:]
        known = []
    }

    private mutating func begin(startedAt: Int64, _ holders: ShareHolders? = nil) {
        ledger = RateLedger(policy, epoch: epoch, holders: holders, now: Tick(milliseconds: startedAt))
        ledger.open(1, origin: JobOrigin(name: "o", limits: limits))
        for (id, count) in leases { for _ in 0..<count { ledger.lease("o", session: id, isHere: false) } }
    }

    mutating func post(_ letter: Letter, _ session: SessionID, isCut: Bool) {
        if isRough, random.perMille(30) { return }
        // What is cut off may come much later all the same.
        var delay: Int64 = isCut ? 500 + random.below(15_000) : 5 + random.below(60)
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
            case .report, .hello:
                // Messages that arrive while no receiver is running are lost.
                if now < awayUntil { continue }
            default: break
            }
            switch letter {
            case .hello:
                known.insert(session)
                answer(session, .welcome(epoch: epoch))
            case .unknown:
                if let place = workers.firstIndex(where: { $0.id == session }) {
                    post(.hello, session, isCut: workers[place].isCut)
                }
            case .welcome(let epoch):
                guard let place = workers.firstIndex(where: { $0.id == session }) else { continue }
                workers[place].epoch = max(workers[place].epoch, epoch)
                workers[place].nextReport = now
            case .report where !known.contains(session): answer(session, .unknown)
            case .heardOut(let epoch):
                guard let place = workers.firstIndex(where: { $0.id == session }) else { continue }
                workers[place].answeredEpoch = max(workers[place].answeredEpoch, epoch)
            case .report(let uses, let acknowledged, let namesHeld, let sent):
                if mutant == .grantsAfterOneClaim, ledger.learningUntil != nil, uses.contains(where: { $0.held != nil })
                {
                    begin(startedAt: now - 60_000)
                }
                heard[session] = (now, max(sent, heard[session]?.anchor ?? sent))
                ledger.applyReport(
                    uses, acknowledged: acknowledged, namesHeld: namesHeld, from: session, now: Tick(milliseconds: now))
                if namesHeld { answer(session, .heardOut(epoch: epoch)) }
            case .grants(let grants, let anchor):
                if let place = workers.firstIndex(where: { $0.id == session }) { apply(grants, anchor, place) }
            }
        }
    }

    private mutating func answer(_ session: SessionID, _ letter: Letter) {
        post(letter, session, isCut: workers.first { $0.id == session }?.isCut ?? true)
    }

    // MARK: - Coordinator

    private mutating func coordinate() {
        guard now >= awayUntil else { return }
        let tick = Tick(milliseconds: now)
        if now % 50 == 0 {
            for worker in workers where random.perMille(100) {
                let id = worker.id
                if heard[id] != nil, ledger.mayLease("o", session: id, now: tick), leases[id, default: 0] < 3 {
                    leases[id, default: 0] += 1
                    ledger.lease("o", session: id, isHere: true)
                } else if leases[id, default: 0] > 0, random.perMille(isRough ? 100 : 0) {
                    leases[id, default: 0] -= 1
                    ledger.release("o", session: id, now: tick)
                }
            }
            // Leases of the silent end.
            for (id, count) in leases where count > 0 && now - (heard[id]?.at ?? now) > 12_000 {
                leases[id] = 0
                for _ in 0..<count { ledger.release("o", session: id, now: tick) }
            }
        }
        for (id, grants) in ledger.divideBudgets(now: tick) {
            guard let anchor = heard[id]?.anchor else { continue }
            answer(id, .grants(grants, anchor: anchor))
        }
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
        if maxInFlight > limits.concurrency { return "\(maxInFlight) in flight, \(limits.concurrency) allowed" }
        guard let rate = limits.perSecond, let burst = limits.burst else { return nil }
        // Clocks that go 2 % too fast make 2 % more.
        let most = rate * 1.02 + burst + 0.001
        return Double(fullestWindow) > most ? "\(fullestWindow) in a second, \(most) allowed" : nil
    }
}
