internal import Foundation
internal import Wire

/// A lease that a worker holds.
struct WorkerLease: Sendable {
    enum State: Sendable {
        case queued(PBOffer)
        /// Since a time in milliseconds.
        case running(since: Int64)
        /// The work is done and durable, and the coordinator has not acknowledged it.
        case spooled(PBCommit, resendAt: Int64)
    }

    let token: UInt64
    let isMerge: Bool
    /// Whether its ranges are known, so that it waits for its server most of the time.
    let isPlanned: Bool
    fileprivate(set) var state: State
    fileprivate var counters = WorkCounters()

    var isQueued: Bool { if case .queued = state { true } else { false } }
    var isRunning: Bool { if case .running = state { true } else { false } }
    var isSpooled: Bool { if case .spooled = state { true } else { false } }
}

/// The leases of a worker in the order of their offers.
///
/// A lease is queued, running or spooled. Times are milliseconds.
struct WorkerLeases: Sendable {
    /// Numbers of leases.
    struct Counts: Hashable, Sendable {
        var queued = 0
        var running = 0
        /// Done, and not acknowledged by the coordinator.
        var spooled = 0
    }

    private(set) var all: [WorkerLease] = []
    private let slots: Int

    /// - Parameter slots: How many run at the same time, without one merge; two of planned ranges count as one.
    init(slots: Int) { self.slots = slots }

    /// The leases by their state.
    var counts: Counts {
        var counts = Counts()
        for lease in all {
            switch lease.state {
            case .queued: counts.queued += 1
            case .running: counts.running += 1
            case .spooled: counts.spooled += 1
            }
        }
        return counts
    }

    /// The slots that leases use or will use.
    private var used: Int { Self.slots(of: all.filter { !$0.isSpooled }) }

    /// The slots that leases use.
    ///
    /// Two leases of planned ranges share one: while one of them is checked, the ranges of the other are under way. They hold no more
    /// bytes than one lease without a plan.
    private static func slots(of leases: [WorkerLease]) -> Int {
        let planned = leases.count(where: \.isPlanned)
        return leases.count - planned + (planned + 1) / 2
    }

    /// Merges that run or wait.
    private var merges: Int { all.count { $0.isMerge && !$0.isSpooled } }

    /// How many offers are asked for: of any work, and of merges in addition.
    var credit: (work: Int, merges: Int) {
        (max(0, slots + 1 - (used - min(merges, 1))), merges > 0 ? 0 : 1)
    }

    /// Whether an offer can be accepted.
    ///
    /// Offers that were under way when the credit was renewed are additional, at most the same number again.
    func hasRoom(for offer: PBOffer) -> Bool { used < 2 * (slots + 1) || offer.isMerge && merges == 0 }

    mutating func add(_ offer: PBOffer) {
        all.append(
            WorkerLease(
                token: offer.token, isMerge: offer.isMerge, isPlanned: offer.isPlanned, state: .queued(offer)))
    }

    /// Removes a lease.
    ///
    /// - Returns: The lease as it was; `nil` for an unknown token.
    @discardableResult mutating func remove(_ token: UInt64) -> WorkerLease? {
        guard let index = all.firstIndex(where: { $0.token == token }) else { return nil }
        return all.remove(at: index)
    }

    /// Removes leases.
    ///
    /// - Returns: The leases as they were.
    mutating func remove(where isMeant: (WorkerLease) -> Bool) -> [WorkerLease] {
        let removed = all.filter(isMeant)
        all.removeAll(where: isMeant)
        return removed
    }

    /// Removes a result that the coordinator has acknowledged.
    mutating func acknowledge(_ token: UInt64, digest: Data) {
        all.removeAll { lease in
            guard lease.token == token, case .spooled(let commit, _) = lease.state else { return false }
            return commit.digest == digest
        }
    }

    /// Begins queued work while slots are free.
    ///
    /// One merge needs no slot, so that a finished package does not wait for the fetches of a slow origin.
    ///
    /// - Returns: The work to run.
    mutating func begin(_ now: Int64) -> [PBOffer] {
        var offers: [PBOffer] = []
        for index in all.indices {
            guard case .queued(let offer) = all[index].state else { continue }
            let running = all.filter(\.isRunning)
            let merges = running.count(where: \.isMerge)
            let used = Self.slots(of: running + [all[index]]) - min(merges + (offer.isMerge ? 1 : 0), 1)
            guard used <= slots else { continue }
            all[index].state = .running(since: now)
            offers.append(offer)
        }
        return offers
    }

    /// Since when the work of a lease runs; `nil` when it does not.
    func start(of token: UInt64) -> Int64? {
        guard case .running(let since)? = all.first(where: { $0.token == token })?.state else { return nil }
        return since
    }

    /// Keeps the result of a lease until the coordinator acknowledges it.
    mutating func spool(_ token: UInt64, _ commit: PBCommit, resendAt: Int64) {
        guard let index = all.firstIndex(where: { $0.token == token }) else { return }
        all[index].state = .spooled(commit, resendAt: resendAt)
    }

    /// The next time at which a result is sent again.
    var nextResend: Int64 {
        var next = Int64.max
        for case .spooled(_, let resendAt) in all.map(\.state) { next = min(next, resendAt) }
        return next
    }

    /// The results whose time has come, which are due again after an interval.
    ///
    /// - Parameter isAll: Also those whose time has not come.
    mutating func due(_ now: Int64, again interval: Int64, isAll: Bool) -> [PBCommit] {
        var commits: [PBCommit] = []
        for index in all.indices {
            guard case .spooled(let commit, let resendAt) = all[index].state, isAll || now >= resendAt else { continue }
            all[index].state = .spooled(commit, resendAt: now + interval)
            commits.append(commit)
        }
        return commits
    }

    /// Notes how far running work is.
    mutating func note(_ counters: [UInt64: WorkCounters]) {
        for index in all.indices { all[index].counters = counters[all[index].token] ?? all[index].counters }
    }

    /// How far each lease is, for the coordinator.
    var progress: [PBLeaseProgress] {
        all.prefix(1024).map { lease in
            .make {
                $0.token = lease.token
                $0.done = lease.counters.done
                $0.bytes = lease.counters.bytes
            }
        }
    }
}

extension PBOffer {
    fileprivate var isMerge: Bool { if case .merge = work { true } else { false } }
    fileprivate var isPlanned: Bool { if case .fetch(let fetch) = work { fetch.hasPart } else { false } }
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
