import Digests
import Scheduling
import Tiles

/// The rules of `WorkerCore` with the scheduler's types; kept consistent by hand, because this module cannot import the
/// worker.
struct SimWorker {
    enum Phase { case greeting, serving, draining, ended }

    struct Lease {
        enum State {
            case queued
            case running(SimTask)
            case spooled(CommitResult, resendAt: Int64)
        }
        let offer: Offer
        var state: State
        /// Finished tiles and received bytes, for the next report.
        var done: UInt64 = 0
        var bytes: UInt64 = 0

        var isMerge: Bool { offer.isMerge }
        var isRunning: Bool { if case .running = state { true } else { false } }
        var isSpooled: Bool { if case .spooled = state { true } else { false } }
    }

    enum Action {
        case say(Event)
        case run(LeaseToken)
        case end
    }

    static let slots = 2
    static let silence: Int64 = 15_000
    static let localPause: Int64 = 10_000
    static let spool = 64
    static let drainLimit: Int64 = 5_000

    let index: Int
    let session: SessionID
    let heartbeat: Int64
    let exports: [String]
    let labels: [String]
    var phase = Phase.greeting
    var leases: [Lease] = []
    private(set) var lastToken = LeaseToken(0)
    private var nextHeartbeat: Int64 = 0
    private var nextHello: Int64 = 0
    private var lastHeard: Int64
    private var lastReconnect: Int64 = 0
    private var pausedUntil: Int64 = 0
    private var drainEnd = Int64.max
    private var claimed: Set<LeaseToken> = []
    /// Whether a limit of its machine is reached.
    private var isLimited = false

    init(index: Int, session: SessionID, heartbeat: Int64, exports: [String], labels: [String], now: Int64) {
        self.index = index
        self.session = session
        self.heartbeat = heartbeat
        self.exports = exports
        self.labels = labels
        lastHeard = now
        lastReconnect = now
        nextHello = now
    }

    /// When ``tick(now:)`` is due at the latest.
    var nextTick: Int64 {
        guard phase != .greeting else { return nextHello }
        var next = min(nextHeartbeat, drainEnd)
        for case .spooled(_, let resendAt) in leases.map(\.state) { next = min(next, resendAt) }
        return next
    }

    // MARK: - Messages

    mutating func receive(_ message: Outgoing, now: Int64) -> [Action] {
        guard phase != .ended else { return [] }
        lastHeard = now
        switch message {
        case .welcome(let adopted): return welcome(adopted, now)
        case .offer(let offer): return accept(offer, now)
        case .pong(let cancelled):
            leases.removeAll { cancelled.contains($0.offer.token) }
            return settle(now)
        case .ack(let token, let digest):
            leases.removeAll { lease in
                guard lease.offer.token == token, case .spooled(let result, _) = lease.state else { return false }
                return result.blob == digest
            }
            return settle(now)
        case .grants: return []
        case .stale(let token, _):
            leases.removeAll { $0.offer.token == token }
            return settle(now)
        case .unknownSession:
            guard phase != .draining, phase == .serving || now >= nextHello else { return [] }
            return greet(now)
        }
    }

    private mutating func greet(_ now: Int64) -> [Action] {
        phase = .greeting
        nextHello = now + heartbeat
        claimed = Set(leases.map(\.offer.token))
        var profile = SessionProfile(
            name: "w\(index)", host: "sim", processID: session.rawValue, build: "sim", canFetch: true, canMerge: true)
        profile.exports = exports
        profile.labels = labels
        profile.plansRanges = true
        return [.say(.hello(session, profile, held: leases.map(\.offer.token)))]
    }

    private mutating func welcome(_ adopted: [LeaseToken], _ now: Int64) -> [Action] {
        guard phase == .greeting else { return [] }
        phase = .serving
        nextHeartbeat = now + heartbeat
        // What we named and the coordinator no longer knows is forgotten, but for results: only ack or stale end those.
        leases.removeAll {
            claimed.contains($0.offer.token) && !adopted.contains($0.offer.token) && !$0.isSpooled
        }
        claimed = []
        let given = isLimited ? giveBack { if case .queued = $0.state { true } else { false } } : []
        return given + resend(now, all: true) + advance(now) + [ready(now)]
    }

    private mutating func accept(_ offer: Offer, _ now: Int64) -> [Action] {
        guard offer.token > lastToken else { return [] }
        lastToken = offer.token
        let hasRoom = active < 2 * (SimWorker.slots + 1) || offer.isMerge && merges == 0
        guard phase != .draining, !isLimited, now >= pausedUntil, hasRoom else {
            return [.say(.giveBack(session, [offer.token]))]
        }
        leases.append(Lease(offer: offer, state: .queued))
        return advance(now)
    }

    // MARK: - Work

    mutating func finish(_ token: LeaseToken, _ outcome: SimOutcome, now: Int64) -> [Action] {
        guard let place = leases.firstIndex(where: { $0.offer.token == token }), leases[place].isRunning else {
            return advance(now)
        }
        switch outcome {
        case .done(let result):
            leases[place].state = .spooled(result, resendAt: now + heartbeat)
            return [.say(.commit(session, token, result))] + settle(now)
        case .failed(let trouble, let retriable, let lost):
            leases.remove(at: place)
            var actions: [Action] = [.say(.fail(session, token, trouble, retriable: retriable, lostShards: lost))]
            if trouble.cause == "disk-full" {
                pausedUntil = now + SimWorker.localPause
                actions += giveBack { if case .queued = $0.state { true } else { false } }
            }
            return actions + settle(now)
        }
    }

    private mutating func advance(_ now: Int64) -> [Action] {
        guard phase != .draining, !isLimited, now >= pausedUntil else { return [] }
        var actions: [Action] = []
        for place in leases.indices {
            guard case .queued = leases[place].state else { continue }
            let merges = leases.count { $0.isMerge && $0.isRunning }
            let others = leases.count(where: \.isRunning) - min(merges, 1)
            guard leases[place].isMerge && merges == 0 || others < SimWorker.slots else { continue }
            leases[place].state = .running(SimTask())
            actions.append(.run(leases[place].offer.token))
        }
        return actions
    }

    private mutating func giveBack(_ isMeant: (Lease) -> Bool) -> [Action] {
        let given = leases.filter(isMeant).map(\.offer.token)
        leases.removeAll(where: isMeant)
        return given.isEmpty ? [] : [.say(.giveBack(session, given))]
    }

    private mutating func settle(_ now: Int64) -> [Action] {
        switch phase {
        case .serving: return advance(now) + [ready(now)]
        case .draining: return leases.isEmpty ? leave() : []
        case .greeting, .ended: return advance(now)
        }
    }

    private var active: Int { leases.count { !$0.isSpooled } }

    private var merges: Int { leases.count { $0.isMerge && !$0.isSpooled } }

    private func ready(_ now: Int64) -> Action {
        let isPaused = isLimited || now < pausedUntil || leases.count - active > SimWorker.spool
        let credit = isPaused ? 0 : max(0, SimWorker.slots + 1 - (active - min(merges, 1)))
        return .say(
            .ready(
                session, credit: UInt32(credit), mergeCredit: isPaused || merges > 0 ? 0 : 1,
                full: isLimited ? "a limit" : ""))
    }

    // MARK: - Time

    mutating func tick(now: Int64) -> [Action] {
        guard phase != .ended else { return [] }
        if now >= drainEnd { return leave() }
        let silence = now - lastHeard
        if silence >= SimWorker.silence, now - lastReconnect >= SimWorker.silence, phase != .draining {
            lastReconnect = now
            return greet(now)
        }
        if phase == .greeting { return now >= nextHello ? greet(now) : [] }
        var actions = resend(now, all: false)
        if now >= nextHeartbeat {
            nextHeartbeat = now + heartbeat
            let reports = leases.map { LeaseProgress(token: $0.offer.token, done: $0.done, bytes: $0.bytes) }
            actions.append(.say(.progress(session, reports)))
            if phase == .serving { actions += advance(now) + [ready(now)] }
        }
        return actions
    }

    private mutating func resend(_ now: Int64, all: Bool) -> [Action] {
        var actions: [Action] = []
        for place in leases.indices {
            guard case .spooled(let result, let resendAt) = leases[place].state, all || now >= resendAt else {
                continue
            }
            leases[place].state = .spooled(result, resendAt: now + heartbeat)
            actions.append(.say(.commit(session, leases[place].offer.token, result)))
        }
        return actions
    }

    /// A limit of its machine is reached, or no more.
    mutating func limit(_ isOn: Bool, now: Int64) -> [Action] {
        guard isOn != isLimited, phase != .ended else { return [] }
        isLimited = isOn
        guard phase == .serving else { return [] }
        let actions = isOn ? giveBack { if case .queued = $0.state { true } else { false } } : advance(now)
        return actions + [ready(now)]
    }

    mutating func drain(now: Int64) -> [Action] {
        guard phase != .draining, phase != .ended else { return [] }
        let wasServing = phase == .serving
        phase = .draining
        drainEnd = now + SimWorker.drainLimit
        let actions = giveBack { !$0.isSpooled }
        guard wasServing else {
            phase = .ended
            return actions + [.end]
        }
        return actions + resend(now, all: true) + settle(now)
    }

    private mutating func leave() -> [Action] {
        phase = .ended
        return [.say(.bye(session)), .end]
    }
}

/// How the work of a lease ended.
enum SimOutcome {
    case done(CommitResult)
    case failed(Trouble, retriable: Bool, lostShards: [Digest] = [])
}

extension CommitResult {
    /// SHA-256 of the shard, the plan or the package.
    var blob: Digest {
        switch self {
        case .fetch(let digest, _, _): digest
        case .plan(let plan): plan.digest
        case .merge(let package): package.digest
        }
    }
}

extension Offer {
    fileprivate var isMerge: Bool { if case .merge = work { true } else { false } }
}
