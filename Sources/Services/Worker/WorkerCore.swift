internal import Blobs
internal import Digests
internal import Errors
internal import Files
internal import Foundation
internal import Wire

/// The worker's rules: its reaction to each message, result and tick.
///
/// Pure: no clock, no socket, no disk.
///
/// A lease is queued, running or spooled. Spooled means that the work is done and durable, and the coordinator has not
/// acknowledged it. A spooled lease is dropped only by a message of the coordinator.
struct WorkerCore: Sendable {
    enum Phase: Hashable, Sendable {
        /// No welcome yet, or none since the coordinator forgot this worker.
        case greeting
        case serving
        /// Leases are given back. Only results are still sent.
        case draining
        case ended
    }

    struct Lease: Sendable {
        enum State: Sendable {
            case queued(PBOffer)
            case running
            case spooled(PBCommit, resendAt: Int64)
        }
        let token: UInt64
        let isMerge: Bool
        var state: State
        var counters = WorkCounters()
        /// When its work began.
        var began: Int64?

        var isRunning: Bool { if case .running = state { true } else { false } }
        var isSpooled: Bool { if case .spooled = state { true } else { false } }
    }

    /// Numbers of leases.
    struct LeaseCounts: Hashable, Sendable {
        var queued = 0
        var running = 0
        /// Done, and not acknowledged by the coordinator.
        var spooled = 0
    }

    let profile: WorkerProfile
    let policy: WorkerPolicy
    var phase = Phase.greeting
    var leases: [Lease] = []
    private(set) var session: UInt64
    private var lastToken: UInt64 = 0
    private var heartbeat: Int64
    private var nextHeartbeat: Int64 = 0
    private var nextHello: Int64 = 0
    private var lastHeard: Int64?
    private var lastReconnect: Int64 = 0
    private var pausedUntil: Int64 = 0
    private var drainEnd = Int64.max
    private var claimed: Set<UInt64> = []
    /// The coordinator asked this worker to finish its running work and leave.
    private(set) var isAskedToLeave = false
    /// Whether a pong without that request cancels it.
    ///
    /// False when the coordinator was restarted since.
    private var mayStay = false
    /// The time limit is so near that no more work is taken.
    var isOutOfTime = false
    /// Since when the coordinator has had no work; `nil` while there is some, or no coordinator.
    var idleSince: Int64?
    /// The longest work so far, in milliseconds.
    var longestWork: Int64 = 0
    /// Why draining ends the worker.
    var drainReason = WorkerEnd.drained

    /// Whether no more work is taken, and the worker ends with its last lease.
    var isLeaving: Bool { isAskedToLeave || isOutOfTime }

    init(session: UInt64, profile: WorkerProfile, policy: WorkerPolicy = WorkerPolicy()) {
        self.session = session
        self.profile = profile
        self.policy = policy
        heartbeat = policy.heartbeat
    }

    /// The latest time for ``WorkerEvent/tick(_:)``.
    var nextTick: Int64 {
        var next = min(nextHeartbeat, drainEnd, ownEnd)
        if phase == .greeting { next = min(next, nextHello) }
        for case .spooled(_, let resendAt) in leases.map(\.state) { next = min(next, resendAt) }
        return next
    }

    mutating func handle(_ event: WorkerEvent, now: Int64) -> [WorkerEffect] {
        guard phase != .ended else { return [] }
        if lastHeard == nil { lastHeard = now }
        let effects = react(to: event, now: now)
        noteIdleness(now)
        return effects
    }

    private mutating func react(to event: WorkerEvent, now: Int64) -> [WorkerEffect] {
        switch event {
        case .linked: return phase == .draining ? [] : greet(now)
        case .message(let message, let about):
            guard about == session else { return [] }
            lastHeard = now
            return receive(message, now)
        case .otherVersion(let text): return end(.rejected(code: "version-mismatch", text: text))
        case .tick(let counters): return tick(counters, now)
        case .report: return phase == .serving ? [.send(.progress(.make { $0.leases = progress }))] : []
        case .finished(let token, let outcome): return finish(token, outcome: outcome, now: now)
        case .drain: return drain(now)
        }
    }

    // MARK: - Messages

    private mutating func receive(_ message: Message, _ now: Int64) -> [WorkerEffect] {
        switch message {
        case .welcome(let body): return welcome(body, now)
        case .reject(let body):
            guard body.retriable else { return end(.rejected(code: body.code, text: body.text)) }
            nextHello = now + WorkerPolicy.rejectedPause
            return []
        case .offer(let body): return accept(body, now)
        case .pong(let body):
            return body.cancelled.flatMap { dropLease($0) } + leave(body.draining) + afterLeaseEnd(now)
        case .ack(let body):
            leases.removeAll { lease in
                guard lease.token == body.token, case .spooled(let commit, _) = lease.state else { return false }
                return commit.digest == body.digest
            }
            return afterLeaseEnd(now)
        case .stale(let body): return dropLease(body.token) + afterLeaseEnd(now)
        case .unknownSession:
            // Several messages may have crossed it. One hello answers all of them.
            guard phase != .draining, phase == .serving || now >= nextHello else { return [] }
            return greet(now)
        case .problem(let body) where phase == .greeting && !body.retriable:
            // Only the endpoint for commands sends this answer.
            let text =
                "This is the endpoint for commands. Connect to the endpoint for workers, set by 'coordinator --work'."
            return end(.rejected(code: "wrong-endpoint", text: text))
        // All other messages go in the other direction or to other peers.
        default: return []
        }
    }

    private mutating func greet(_ now: Int64) -> [WorkerEffect] {
        phase = .greeting
        mayStay = false
        nextHello = now + heartbeat
        claimed = Set(leases.map(\.token))
        return [.send(.hello(profile.hello(held: leases.map(\.token))))]
    }

    private mutating func welcome(_ body: PBWelcome, _ now: Int64) -> [WorkerEffect] {
        guard phase == .greeting else { return [] }
        phase = .serving
        if body.heartbeatMs > 0 { heartbeat = min(max(Int64(body.heartbeatMs), 100), 60_000) }
        nextHeartbeat = now + heartbeat
        var effects: [WorkerEffect] = []
        // Leases that this worker named and the coordinator no longer knows are dropped, except results: only ack or
        // stale ends those.
        for lease in leases where claimed.contains(lease.token) && !body.adopted.contains(lease.token) {
            if case .spooled = lease.state { continue }
            effects += dropLease(lease.token)
        }
        claimed = []
        effects += resend(now, all: true)
        return effects + advance(now) + [ready(now)]
    }

    private mutating func accept(_ offer: PBOffer, _ now: Int64) -> [WorkerEffect] {
        // A token that is not above the last one is an old offer, delivered late or again.
        guard offer.token > lastToken else { return [] }
        lastToken = offer.token
        // Offers that were under way when the credit was renewed are additional, at most the same number again.
        let hasRoom = active < 2 * (policy.slots + 1) || offer.isMerge && merges == 0
        guard phase != .draining, !isLeaving, now >= pausedUntil, hasRoom else {
            return [.send(.return(.make { $0.tokens = [offer.token] }))]
        }
        idleSince = nil
        leases.append(Lease(token: offer.token, isMerge: offer.isMerge, state: .queued(offer)))
        return advance(now)
    }

    /// Handles the request of a pong to leave: gives back the leases that have not started, finishes the running ones,
    /// and takes no more.
    private mutating func leave(_ isAsked: Bool) -> [WorkerEffect] {
        guard isAsked else {
            if mayStay { isAskedToLeave = false }
            return []
        }
        mayStay = true
        guard !isAskedToLeave else { return [] }
        isAskedToLeave = true
        return giveBackQueued()
    }

    /// Drops a lease, by order of the coordinator.
    ///
    /// Its blob stays: another attempt may have produced the same bytes.
    private mutating func dropLease(_ token: UInt64) -> [WorkerEffect] {
        guard let index = leases.firstIndex(where: { $0.token == token }) else { return [] }
        let lease = leases.remove(at: index)
        if case .running = lease.state { return [.cancel(token)] }
        return []
    }

    // MARK: - Work

    private mutating func finish(_ token: UInt64, outcome: WorkOutcome, now: Int64) -> [WorkerEffect] {
        guard let index = leases.firstIndex(where: { $0.token == token }), case .running = leases[index].state else {
            return advance(now)
        }
        switch outcome {
        case .done(let commit):
            longestWork = max(longestWork, now - (leases[index].began ?? now))
            leases[index].state = .spooled(commit, resendAt: now + heartbeat)
            return [.send(.commit(commit))] + afterLeaseEnd(now)
        case .cancelled:
            leases.remove(at: index)
            return [.send(.return(.make { $0.tokens = [token] }))] + afterLeaseEnd(now)
        case .failed(let failure):
            leases.remove(at: index)
            var effects: [WorkerEffect] = [
                .send(
                    .fail(
                        .make {
                            $0.token = token
                            $0.cause = failure.cause.rawValue
                            $0.detail = failure.detail
                            $0.retriable = failure.retriable
                            $0.lostShards = failure.lostShards.map { Data($0.bytes) }
                        }))
            ]
            if failure.isLocal {
                // This machine cannot work now, so other workers should.
                pausedUntil = now + WorkerPolicy.localPause
                effects += giveBackQueued()
            }
            return effects + afterLeaseEnd(now)
        }
    }

    /// Starts queued work while slots are free.
    ///
    /// One merge needs no slot, so that a finished package does not wait for the fetches of a slow origin.
    private mutating func advance(_ now: Int64) -> [WorkerEffect] {
        guard phase != .draining, now >= pausedUntil else { return [] }
        var effects: [WorkerEffect] = []
        for index in leases.indices {
            guard case .queued(let offer) = leases[index].state else { continue }
            let runningMerges = leases.count { $0.isMerge && $0.isRunning }
            guard offer.isMerge && runningMerges == 0 || running - min(runningMerges, 1) < policy.slots else {
                continue
            }
            leases[index].state = .running
            leases[index].began = now
            effects.append(.run(offer))
        }
        return effects
    }

    mutating func giveBackQueued() -> [WorkerEffect] {
        giveBack { if case .queued = $0.state { true } else { false } }
    }

    private mutating func giveBack(_ isMeant: (Lease) -> Bool) -> [WorkerEffect] {
        let given = leases.filter(isMeant)
        guard !given.isEmpty else { return [] }
        leases.removeAll(where: isMeant)
        let cancels = given.compactMap { lease -> WorkerEffect? in
            if case .running = lease.state { .cancel(lease.token) } else { nil }
        }
        return cancels + [.send(.return(.make { $0.tokens = given.map(\.token) }))]
    }

    /// After the end of a lease: starts the next one, updates the credit, or leaves when draining is done.
    mutating func afterLeaseEnd(_ now: Int64) -> [WorkerEffect] {
        switch phase {
        case .serving where isLeaving && leases.isEmpty, .draining where leases.isEmpty:
            return [.send(.bye(.make { $0.reason = "drained" }))] + end(isOutOfTime ? .outOfTime : drainReason)
        case .serving: return advance(now) + [ready(now)]
        case .draining: return []
        case .greeting, .ended: return advance(now)
        }
    }

    /// The leases by their state.
    var held: LeaseCounts {
        var held = LeaseCounts()
        for lease in leases {
            switch lease.state {
            case .queued: held.queued += 1
            case .running: held.running += 1
            case .spooled: held.spooled += 1
            }
        }
        return held
    }

    private var running: Int { leases.count(where: \.isRunning) }

    /// Leases that use or will use a slot.
    private var active: Int { leases.count { !$0.isSpooled } }

    /// Merges that run or wait.
    private var merges: Int { leases.count { $0.isMerge && !$0.isSpooled } }

    private func ready(_ now: Int64) -> WorkerEffect {
        // Too many spooled results mean that the coordinator does not accept them. No more work is taken until it does.
        let isPaused = isLeaving || now < pausedUntil || leases.count - active > policy.spool
        let credit = isPaused ? 0 : max(0, policy.slots + 1 - (active - min(merges, 1)))
        return .send(
            .ready(
                .make {
                    $0.credit = UInt32(clamping: credit)
                    $0.mergeCredit = isPaused || merges > 0 ? 0 : 1
                }))
    }

    // MARK: - Time

    private mutating func tick(_ counters: [UInt64: WorkCounters], _ now: Int64) -> [WorkerEffect] {
        for index in leases.indices { leases[index].counters = counters[leases[index].token] ?? leases[index].counters }
        if now >= drainEnd { return [.send(.bye(.make { $0.reason = "drain limit" }))] + end(drainReason) }
        if let effects = endByItself(now) { return effects }
        let silence = now - (lastHeard ?? now)
        if silence >= policy.orphaned, phase != .draining { return end(.orphaned) }
        if silence >= WorkerPolicy.silence, now - lastReconnect >= WorkerPolicy.silence, phase != .draining {
            lastReconnect = now
            return [.reconnect] + greet(now)
        }
        if phase == .greeting { return now >= nextHello ? greet(now) : [] }
        var effects = resend(now, all: false)
        if now >= nextHeartbeat {
            nextHeartbeat = now + heartbeat
            effects.append(.send(.progress(.make { $0.leases = progress })))
            if phase == .serving { effects += advance(now) + [ready(now)] }
        }
        return effects
    }

    private var progress: [PBLeaseProgress] {
        leases.prefix(1024).map { lease in
            .make {
                $0.token = lease.token
                $0.done = lease.counters.done
                $0.bytes = lease.counters.bytes
            }
        }
    }

    private mutating func resend(_ now: Int64, all: Bool) -> [WorkerEffect] {
        var effects: [WorkerEffect] = []
        for index in leases.indices {
            guard case .spooled(let commit, let resendAt) = leases[index].state, all || now >= resendAt else {
                continue
            }
            leases[index].state = .spooled(commit, resendAt: now + heartbeat)
            effects.append(.send(.commit(commit)))
        }
        return effects
    }

    mutating func drain(_ now: Int64) -> [WorkerEffect] {
        guard phase != .draining else { return [] }
        let wasServing = phase == .serving
        phase = .draining
        drainEnd = now + WorkerPolicy.drain
        let effects = giveBack { if case .spooled = $0.state { false } else { true } }
        // Without a coordinator the results cannot be delivered now. They are durable, and the work will be offered
        // again.
        guard wasServing else { return effects + end(drainReason) }
        return effects + resend(now, all: true) + afterLeaseEnd(now)
    }

    mutating func end(_ reason: WorkerEnd) -> [WorkerEffect] {
        phase = .ended
        let cancels = leases.compactMap { lease -> WorkerEffect? in
            if case .running = lease.state { .cancel(lease.token) } else { nil }
        }
        return cancels + [.end(reason)]
    }
}

extension PBOffer {
    fileprivate var isMerge: Bool { if case .merge = work { true } else { false } }
}

extension PBCommit {
    /// SHA-256 of the shard or package.
    var digest: Data {
        switch result {
        case .fetch(let fetch): fetch.shard
        case .merge(let merge): merge.package
        case nil: Data()
        }
    }
}
