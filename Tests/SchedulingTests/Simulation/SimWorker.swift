import Scheduling

/// A worker that follows the protocol: refuses old tokens, spools commits until they are answered, says hello when told to.
struct SimWorker {
    struct Work {
        let offer: Offer
        let begun: Int64
        let ends: Int64
    }
    static let slots = 2

    let index: Int
    var session: SessionID
    var isWelcome = false
    var held: [Work] = []
    var spool: [(offer: Offer, result: CommitResult)] = []
    var lastToken = LeaseToken(0)
    var nextBeat: Int64 = 0
    var pausedUntil: Int64 = 0

    var hello: Event {
        let profile = SessionProfile(
            name: "w\(index)", host: "sim", processID: session, build: "sim", canFetch: true, canMerge: true)
        return .hello(session, profile, held: held.map(\.offer.token) + spool.map(\.offer.token))
    }

    /// What the work loop says at a heartbeat.
    mutating func beat(now: Int64) -> [Event] {
        guard isWelcome else { return [hello] }
        let reports = held.map { work in
            let share = max(0, now - work.begun) * 85 / max(work.ends - work.begun, 1)
            return LeaseProgress(
                token: work.offer.token, done: UInt64(min(share, 85)), bytes: UInt64(max(now - work.begun, 0)))
        }
        var events: [Event] = [.progress(session, reports)]
        events += spool.map { .commit(session, $0.offer.token, $0.result) }
        events.append(.ready(session, credit: UInt32(max(SimWorker.slots + 1 - held.count, 0))))
        return events
    }

    /// Takes a message; answers with what it says at once.
    mutating func receive(_ message: Outgoing, now: Int64, random: inout SeededRandom) -> [Event] {
        switch message {
        case .welcome(let adopted):
            isWelcome = true
            held.removeAll { !adopted.contains($0.offer.token) }
            spool.removeAll { !adopted.contains($0.offer.token) }
            return [.ready(session, credit: UInt32(max(SimWorker.slots + 1 - held.count, 0)))]
        case .offer(let offer):
            guard offer.token > lastToken else { return [] }
            lastToken = offer.token
            if held.count > SimWorker.slots { return [.giveBack(session, [offer.token])] }
            held.append(Work(offer: offer, begun: now, ends: now + 500 + random.below(20_000)))
            return []
        case .ack(let token, let digest):
            spool.removeAll { $0.offer.token == token && Simulation.digest($0.result) == digest }
            return []
        case .stale(let token, _):
            held.removeAll { $0.offer.token == token }
            spool.removeAll { $0.offer.token == token }
            return []
        case .pong(let cancelled):
            held.removeAll { cancelled.contains($0.offer.token) }
            spool.removeAll { cancelled.contains($0.offer.token) }
            return []
        case .grants: return []
        case .unknownSession:
            isWelcome = false
            return [hello]
        }
    }
}
