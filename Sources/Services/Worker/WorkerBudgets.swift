internal import Synchronization
internal import Transfer
internal import Wire

/// The shares of origins' budgets that the coordinator grants this process, and their use.
///
/// The lifetime of a grant starts when the message that it answers was sent, not when the grant arrives. A grant that
/// the network delays for a minute has expired on arrival, so no delay makes two workers hold one share.
///
/// After a restart the coordinator does not know the grants. Reports then contain what is still held, until one of them
/// was answered.
final class WorkerBudgets: Sendable {
    fileprivate struct State {
        let receiveLimit: ReceiveLimit?
        var budgets: [String: OriginBudget] = [:]
        /// The last grant of each origin: its round, and when it ends.
        var granted: [String: (round: UInt64, until: ContinuousClock.Instant)] = [:]
        /// When our last messages were sent, by ascending number.
        var sent: [(seq: UInt64, at: ContinuousClock.Instant)] = []
        /// The highest round applied, and the highest that was reported to the coordinator.
        var applied: UInt64 = 0
        var acknowledged: UInt64 = 0
        /// The highest known epoch of the coordinator.
        var epoch: UInt32 = 0
        /// The last epoch of the coordinator that got a report of what is held.
        var toldEpoch: UInt32 = 0
        var answeredEpoch: UInt32 = 0
        /// The reports that contained it.
        var tellings: [UInt64] = []
        var reported: [String: OriginBudget.Use] = [:]
        var lastReport: ContinuousClock.Instant?
        /// Whether an answer came since the last unreported change of grants.
        var hasNews = false
    }
    private let state: Mutex<State>

    /// Budgets without grants.
    ///
    /// - Parameter receiveLimit: For the bytes of all origins together; `nil` = none.
    init(receiveLimit: ReceiveLimit? = nil) { state = Mutex(State(receiveLimit: receiveLimit)) }

    /// Number of messages whose time is remembered; a heartbeat is two or three.
    private static let remembered = 512
    /// Shortest interval of early reports, and of reports without which no work continues.
    fileprivate static let gap = Duration.milliseconds(200)
    private static let shortGap = Duration.milliseconds(50)
    /// Interval of reports while an origin is in use: a third of a grant's lifetime.
    fileprivate static let turn = Duration.seconds(2)

    /// The budget of an origin.
    ///
    /// It has no grant until the coordinator sends one.
    func budget(_ origin: String) -> OriginBudget { state.withLock { $0.budget(origin) } }

    /// The use of all origins so far, and their requests in flight.
    var total: (sum: OriginBudget.Use, inFlight: Int) {
        let budgets = state.withLock { Array($0.budgets.values) }
        var sum = OriginBudget.Use()
        for use in budgets.map(\.use) {
            sum.answered &+= use.answered
            sum.throttled &+= use.throttled
            sum.failed &+= use.failed
        }
        return (sum, budgets.reduce(0) { $0 + $1.inFlight })
    }

    /// Records a message of a coordinator run that answers our message `re`.
    func recordAnswer(epoch: UInt32, re: UInt64) {
        state.withLock { state in
            if epoch > state.epoch {
                state.epoch = epoch
                state.tellings = []
            } else if epoch == state.epoch, state.tellings.contains(re) {
                state.answeredEpoch = epoch
                state.tellings = []
            }
        }
    }

    /// Records that a message is sent now.
    func sent(_ seq: UInt64, at now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            if state.sent.count >= Self.remembered { state.sent.removeFirst(Self.remembered / 2) }
            state.sent.append((seq, now))
        }
    }

    /// Applies all grants of the coordinator that answer our message `re`.
    ///
    /// A grant is dropped when an earlier message brought a newer one of the same origin. Rounds of different origins are
    /// not compared: a renewal repeats the round of its grant, and another origin may have had a higher one since.
    /// An answer to an unknown message is dropped.
    func apply(_ grants: [PBRateGrant], re: UInt64, at now: ContinuousClock.Instant = .now) {
        let changes: [(OriginBudget, OriginBudget.Grant)] = state.withLock { state in
            guard let anchor = state.sent.last(where: { $0.seq == re })?.at else { return [] }
            return grants.compactMap { grant in
                state.change(grant, anchor: anchor).map { (state.budget(grant.origin), $0) }
            }
        }
        for (budget, grant) in changes { budget.apply(grant, at: now) }
    }

    /// The content of the next report, which is our message `seq`.
    func report(
        seq: UInt64 = 0, at now: ContinuousClock.Instant = .now
    ) -> (uses: [PBOriginUse], acknowledged: UInt64, namesHeld: Bool) {
        state.withLock { state in
            state.lastReport = now
            state.hasNews = false
            state.acknowledged = state.acknowledgeable
            let namesHeld = state.answeredEpoch < state.epoch
            if namesHeld {
                state.toldEpoch = state.epoch
                state.tellings = state.tellings.suffix(63) + [seq]
            }
            var uses: [PBOriginUse] = []
            for (name, budget) in state.budgets.sorted(by: { $0.key < $1.key }) {
                let use = budget.use
                let before = state.reported.updateValue(use, forKey: name) ?? OriginBudget.Use()
                let waiting = budget.waiting
                let held = namesHeld ? budget.live(at: now) : nil
                guard use != before || waiting > 0 || budget.isUsed || held != nil else { continue }
                uses.append(
                    .make {
                        $0.origin = name
                        $0.requests = use.requests - before.requests
                        $0.answered = use.answered - before.answered
                        $0.throttled = use.throttled - before.throttled
                        $0.failed = use.failed - before.failed
                        $0.busy = use.busy - before.busy
                        $0.occupiedMs = UInt64(max((use.occupied - before.occupied) / .milliseconds(1), 0).rounded())
                        $0.retryAfterMs = UInt64(max(budget.takeRetryAfter() / .milliseconds(1), 0).rounded(.up))
                        $0.waiting = UInt64(waiting)
                        if let held { $0.held = .make { $0.set(held) } }
                    })
            }
            return (uses, state.acknowledged, namesHeld)
        }
    }

    /// Whether a report should be sent early because work waits for its answer.
    func isUrgent(at now: ContinuousClock.Instant = .now) -> Bool {
        state.withLock { state in
            let since = state.lastReport.map { now - $0 } ?? Self.turn
            guard since >= Self.shortGap else { return false }
            if state.budgets.values.contains(where: { $0.isBraked(at: now) }) { return true }
            guard since >= Self.gap else { return false }
            if state.acknowledgeable > state.acknowledged { return true }
            if state.toldEpoch < state.epoch { return true }
            let isDue = since >= state.pace(at: now)
            if isDue, state.budgets.values.contains(where: \.isUsed) { return true }
            return state.budgets.contains { name, budget in
                let before = state.reported[name] ?? OriginBudget.Use()
                let use = budget.use
                if use.throttled > before.throttled || use.failed > before.failed { return true }
                return state.hasNews && use.answered > before.answered
            }
        }
    }

    /// The longest time until ``isUrgent(at:)`` should be called again.
    var pulse: Duration {
        state.withLock { state in
            guard state.budgets.values.contains(where: \.isUsed) else { return .seconds(1) }
            return state.pace(at: .now) < Self.turn ? .milliseconds(50) : .milliseconds(200)
        }
    }
}

extension WorkerBudgets.State {
    /// The interval of reports: the shortest interval requested by a live grant.
    fileprivate func pace(at now: ContinuousClock.Instant) -> Duration {
        let asked = budgets.values.compactMap { $0.isUsed ? $0.live(at: now)?.reportEvery : nil }.min()
        return min(max(asked ?? WorkerBudgets.turn, WorkerBudgets.gap), WorkerBudgets.turn)
    }

    /// Records a grant that answers a message sent at `anchor`; `nil` = a newer one of its origin is known.
    fileprivate mutating func change(
        _ grant: PBRateGrant, anchor: ContinuousClock.Instant
    ) -> OriginBudget.Grant? {
        let until = anchor + .milliseconds(Int64(grant.ttlMs))
        if let last = granted[grant.origin] {
            guard grant.round > last.round || grant.round == last.round && until >= last.until else { return nil }
        }
        granted[grant.origin] = (grant.round, until)
        if grant.round > applied {
            applied = grant.round
            hasNews = true
        }
        return OriginBudget.Grant(
            perSecond: grant.perSecond, burst: grant.burst, concurrency: Int(grant.concurrency), until: until,
            reportEvery: grant.reportMs > 0 ? .milliseconds(Int64(grant.reportMs)) : nil,
            opened: grant.opened,
            bytesPerSecond: grant.bytesPerSecond > 0 ? grant.bytesPerSecond : nil)
    }

    fileprivate mutating func budget(_ origin: String) -> OriginBudget {
        if let budget = budgets[origin] { return budget }
        let budget = OriginBudget(limit: receiveLimit)
        budgets[origin] = budget
        return budget
    }

    /// The round that may be acknowledged.
    ///
    /// When more is in flight than the grants allow, that must end first.
    fileprivate var acknowledgeable: UInt64 { budgets.values.allSatisfy(\.isWithinGrant) ? applied : acknowledged }
}

extension PBHeldShare {
    fileprivate mutating func set(_ grant: OriginBudget.Grant) {
        perSecond = grant.perSecond
        burst = grant.burst
        concurrency = UInt32(clamping: grant.concurrency)
    }
}
