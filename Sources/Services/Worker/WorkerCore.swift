internal import Blobs
internal import Digests
internal import Errors
internal import Files
internal import Foundation
internal import Wire

/// The worker's rules: its reaction to each message, result and tick.
///
/// Pure: no clock, no socket, no disk. A spooled lease is dropped only by a message of the coordinator.
struct WorkerCore: Sendable {
    enum Phase: Hashable, Sendable {
        /// No welcome yet, or none since the coordinator forgot this worker.
        case greeting
        case serving
        /// Leases are given back. Only results are still sent.
        case draining
        case ended
    }

    let profile: WorkerProfile
    let policy: WorkerPolicy
    private(set) var phase = Phase.greeting
    private var held: WorkerLeases
    private var ownEnd: OwnEnd
    private(set) var session: UInt64
    private var lastToken: UInt64 = 0
    private var heartbeat: Int64
    private var nextHeartbeat: Int64 = 0
    private var nextHello: Int64 = 0
    private var lastHeard: Int64?
    private var lastReconnect: Int64 = 0
    private var pausedUntil: Int64 = 0
    private var drainEnd = Int64.max
    /// The limit of this machine that is reached: running work goes on, and no more is taken; empty = none.
    private var reachedLimit = ""
    private var claimed: Set<UInt64> = []
    /// The coordinator asked this worker to finish its running work and leave.
    private(set) var isAskedToLeave = false
    /// Whether a pong without that request cancels it.
    ///
    /// False when the coordinator was restarted since.
    private var mayStay = false
    /// Whether no more work is taken, and the worker ends with its last lease.
    private var isLeaving: Bool { isAskedToLeave || isOutOfTime }
    /// Whether the time limit is so near that no more work is taken.
    var isOutOfTime: Bool { ownEnd.isOutOfTime }
    /// The leases in the order of their offers.
    var leases: [WorkerLease] { held.all }
    /// The numbers of leases.
    var counts: WorkerLeases.Counts { held.counts }

    init(session: UInt64, profile: WorkerProfile, policy: WorkerPolicy = WorkerPolicy()) {
        self.session = session
        self.profile = profile
        self.policy = policy
        heartbeat = policy.heartbeat
        held = WorkerLeases(slots: policy.slots)
        ownEnd = OwnEnd(policy)
    }

    /// The latest time for ``WorkerEvent/tick(_:)``.
    var nextTick: Int64 {
        let next = min(nextHeartbeat, drainEnd, held.nextResend)
        switch phase {
        case .greeting: return min(next, ownEnd.next, nextHello)
        case .serving: return min(next, ownEnd.next)
        case .draining, .ended: return next
        }
    }

    mutating func handle(_ event: WorkerEvent, now: Int64) -> [WorkerEffect] {
        guard phase != .ended else { return [] }
        if lastHeard == nil { lastHeard = now }
        let effects = react(to: event, now: now)
        // Time without a coordinator does not count: it may have work.
        ownEnd.note(isIdle: phase == .serving && leases.isEmpty, now)
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
        case .report: return phase == .serving ? [.send(.progress(.make { $0.leases = held.progress }))] : []
        case .finished(let token, let outcome): return finish(token, outcome: outcome, now: now)
        case .limited(let reason): return note(limit: reason, now)
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
            held.acknowledge(body.token, digest: body.digest)
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
            if !lease.isSpooled { effects += dropLease(lease.token) }
        }
        claimed = []
        if !reachedLimit.isEmpty { effects += giveBack(where: \.isQueued) }
        effects += resend(now, isAll: true)
        return effects + advance(now) + [ready(now)]
    }

    private mutating func accept(_ offer: PBOffer, _ now: Int64) -> [WorkerEffect] {
        // A token that is not above the last one is an old offer, delivered late or again.
        guard offer.token > lastToken else { return [] }
        lastToken = offer.token
        guard phase != .draining, !isLeaving, reachedLimit.isEmpty, now >= pausedUntil, held.hasRoom(for: offer) else {
            return [.send(.return(.make { $0.tokens = [offer.token] }))]
        }
        held.add(offer)
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
        return giveBack(where: \.isQueued)
    }

    /// Drops a lease, by order of the coordinator.
    ///
    /// Its blob stays: another attempt may have produced the same bytes.
    private mutating func dropLease(_ token: UInt64) -> [WorkerEffect] {
        held.remove(token)?.isRunning == true ? [.cancel(token)] : []
    }

    // MARK: - Work

    private mutating func finish(_ token: UInt64, outcome: WorkOutcome, now: Int64) -> [WorkerEffect] {
        guard let start = held.start(of: token) else { return advance(now) }
        switch outcome {
        case .done(let commit):
            ownEnd.note(work: now - start)
            held.spool(token, commit, resendAt: now + heartbeat)
            return [.send(.commit(commit))] + afterLeaseEnd(now)
        case .cancelled:
            held.remove(token)
            return [.send(.return(.make { $0.tokens = [token] }))] + afterLeaseEnd(now)
        case .failed(let failure):
            held.remove(token)
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
                effects += giveBack(where: \.isQueued)
            }
            return effects + afterLeaseEnd(now)
        }
    }

    /// Begins queued work while slots are free.
    private mutating func advance(_ now: Int64) -> [WorkerEffect] {
        phase != .draining && reachedLimit.isEmpty && now >= pausedUntil ? held.begin(now).map { .run($0) } : []
    }

    /// Gives back what has not begun and asks for no more work, or asks for work again.
    private mutating func note(limit reason: String, _ now: Int64) -> [WorkerEffect] {
        guard reason != reachedLimit else { return [] }
        reachedLimit = reason
        guard phase == .serving else { return [] }
        return (reason.isEmpty ? advance(now) : giveBack(where: \.isQueued)) + [ready(now)]
    }

    private mutating func giveBack(where isMeant: (WorkerLease) -> Bool) -> [WorkerEffect] {
        let given = held.remove(where: isMeant)
        guard !given.isEmpty else { return [] }
        return Self.cancels(given) + [.send(.return(.make { $0.tokens = given.map(\.token) }))]
    }

    /// After the end of a lease: starts the next one, updates the credit, or leaves when draining is done.
    private mutating func afterLeaseEnd(_ now: Int64) -> [WorkerEffect] {
        switch phase {
        case .serving where isLeaving && leases.isEmpty, .draining where leases.isEmpty:
            return [.send(.bye(.make { $0.reason = "drained" }))] + end(leaveReason)
        case .serving: return advance(now) + [ready(now)]
        case .draining: return []
        case .greeting, .ended: return advance(now)
        }
    }

    private func ready(_ now: Int64) -> WorkerEffect {
        // Too many spooled results mean that the coordinator does not accept them. No more work is taken until it does.
        let isPaused = isLeaving || !reachedLimit.isEmpty || now < pausedUntil || counts.spooled > policy.spool
        let credit = isPaused ? (work: 0, merges: 0) : held.credit
        return .send(
            .ready(
                .make {
                    $0.credit = UInt32(clamping: credit.work)
                    $0.mergeCredit = UInt32(clamping: credit.merges)
                    $0.full = reachedLimit
                }))
    }

    // MARK: - Time

    private mutating func tick(_ counters: [UInt64: WorkCounters], _ now: Int64) -> [WorkerEffect] {
        held.note(counters)
        if now >= drainEnd { return [.send(.bye(.make { $0.reason = "drain limit" }))] + end(leaveReason) }
        if phase != .draining, let step = ownEnd.step(now) { return take(step, now) }
        let silence = now - (lastHeard ?? now)
        if silence >= policy.orphaned, phase != .draining { return end(.orphaned) }
        if silence >= WorkerPolicy.silence, now - lastReconnect >= WorkerPolicy.silence, phase != .draining {
            lastReconnect = now
            return [.reconnect] + greet(now)
        }
        if phase == .greeting { return now >= nextHello ? greet(now) : [] }
        var effects = resend(now, isAll: false)
        if now >= nextHeartbeat {
            nextHeartbeat = now + heartbeat
            effects.append(.send(.progress(.make { $0.leases = held.progress })))
            if phase == .serving { effects += advance(now) + [ready(now)] }
        }
        return effects
    }

    private mutating func take(_ step: OwnEnd.Step, _ now: Int64) -> [WorkerEffect] {
        switch step {
        case .takeNoMore: giveBack(where: \.isQueued) + afterLeaseEnd(now)
        case .drain: drain(now)
        case .idle: [.send(.bye(.make { $0.reason = "idle" }))] + end(.idle)
        }
    }

    private mutating func resend(_ now: Int64, isAll: Bool) -> [WorkerEffect] {
        held.due(now, again: heartbeat, isAll: isAll).map { .send(.commit($0)) }
    }

    private mutating func drain(_ now: Int64) -> [WorkerEffect] {
        guard phase != .draining else { return [] }
        let wasServing = phase == .serving
        phase = .draining
        drainEnd = now + WorkerPolicy.drain
        let effects = giveBack { !$0.isSpooled }
        // Without a coordinator the results cannot be delivered now. They are durable, and the work will be offered
        // again.
        guard wasServing else { return effects + end(leaveReason) }
        return effects + resend(now, isAll: true) + afterLeaseEnd(now)
    }

    /// Why the worker ends in order.
    private var leaveReason: WorkerEnd { isOutOfTime ? .outOfTime : .drained }

    private mutating func end(_ reason: WorkerEnd) -> [WorkerEffect] {
        phase = .ended
        return Self.cancels(leases) + [.end(reason)]
    }

    /// Stops the work of leases.
    private static func cancels(_ leases: [WorkerLease]) -> [WorkerEffect] {
        leases.filter(\.isRunning).map { .cancel($0.token) }
    }
}
