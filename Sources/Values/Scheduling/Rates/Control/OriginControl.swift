/// Finds the rate and the number of connections that an origin accepts, from the refusals of the whole cluster.
///
/// A pure value: ``take(_:from:now:)`` gets the report of each worker, and nothing else changes it. There is no limit
/// before the first overload.
///
/// - *Overload* is a share of refusals above the noise, with a minimum number of refusals. It is a cumulative sum, so
///   that neither the length of a report nor the number of workers matters.
/// - While an origin is overloaded, the rate that it still accepts is its limit: the rate is set a little lower.
/// - Then the rate stays near the limit (``Phase/hold``). Later it rises slightly above the limit until more was
///   accepted than the origin's burst explains (``Phase/probe``), and only then it grows fast (``Phase/search``). Far
///   below the limit it grows fast too (``Phase/recover``).
/// - Refusals by 503 of an origin with many requests in flight are first treated as a limit of connections; if that
///   does not help, as a limit of the rate.
struct OriginControl: Sendable {
    /// The report of one worker.
    struct Sample: Sendable {
        /// Requests that got an answer other than a refusal.
        var answered = 0.0
        /// 429, and 503.
        var refused = 0.0
        /// Of the refused ones, 503 without Retry-After.
        var busy = 0.0
        /// The sum of the durations of the answered requests in milliseconds; 0 = unknown.
        var occupied = 0.0
        /// Whether requests waited for a permit.
        var isWaiting = false
    }
    enum Phase: Sendable { case free, recover, hold, probe, search }

    let policy: ControlPolicy
    /// The largest allowed number of requests in flight.
    ///
    /// If a search reaches it, the origin has no limit.
    var maxConnections = 256
    /// Requests per second; `nil` = no limit known.
    private(set) var rate: Double?
    /// Requests in flight; `nil` = no limit known.
    private(set) var connections: Int?
    /// The rate that was accepted at the last overload.
    private(set) var known: Double?
    private(set) var phase = Phase.free
    private var meter = RateMeter()
    private var overload = OverloadDetector()
    /// When the rate or the connections were last reduced.
    private var cutAt: Tick?
    private var steppedAt = Tick(milliseconds: 0)
    private var probedAt = Tick(milliseconds: 0)
    /// Requests accepted beyond ``known`` since the last reduction, and the number that the origin accepted before it
    /// refused.
    private var credit = 0.0
    private var burst: Double?
    private var pace = HoldPace()
    private var floor = NoiseFloor()
    private var probeOfConnections = ConnectionProbe()

    init(_ policy: ControlPolicy = ControlPolicy()) { self.policy = policy }

    /// Whether a limit is in force.
    var isLimiting: Bool { rate != nil || connections != nil }

    // MARK: - Reports

    mutating func addSample(_ sample: Sample, from session: SessionID, of workers: Int, now: Tick) {
        guard meter.addSample(sample, from: session, of: workers, now: now) else { return }
        overload.addSample(sample, noise: floor.noise(at: now, policy: policy))
        // Cheap checks first: this runs for each report of each worker.
        if overload.sum > policy.evidence(rate ?? 0), overload.sum > policy.evidence(rate ?? meter.answered),
            meter.hasMeasured(ControlPolicy.minSpan)
        {
            cut(now)
        } else if now - steppedAt >= ControlPolicy.step, meter.hasMeasured(ControlPolicy.minSpan) {
            step(now)
        }
    }

    /// Requests that are delayed by a Retry-After say nothing about the origin's limit.
    mutating func pause(until end: Tick) { meter.restart(at: end) }

    /// An origin that was down starts at a part of its earlier rate; 0 = unknown.
    mutating func restart(at perSecond: Double, now: Tick) {
        guard perSecond > 0 else { return }
        rate = min(rate ?? .infinity, max(perSecond, ControlPolicy.minRate))
        phase = known == nil ? .search : .recover
        change(now)
    }

    /// Adds a share that is still valid from before a restart of the coordinator.
    mutating func remember(_ perSecond: Double, now: Tick) {
        guard perSecond > 0 else { return }
        let sum = (rate ?? 0) + perSecond
        (rate, known, phase) = (sum, sum, .hold)
        change(now)
    }

    // MARK: - Down

    private mutating func cut(_ now: Tick) {
        let share = overload.share
        let measured = max(meter.answered, 0)
        var accepted = rate.map { min($0 * (1 - share), measured * 1.1) } ?? measured
        // The rate was just below the found limit and nothing was refused, so the limit is not lower now.
        if let known, policy.hasMemory, phase == .probe || phase == .search, share < ControlPolicy.collapse {
            accepted = max(accepted, known * ControlPolicy.below)
        }
        let isSoon = cutAt.map { now - $0 < ControlPolicy.soon } ?? false
        if let limit = probeOfConnections.limit(
            meter.occupied, busy: overload.busyShare, isSoon: isSoon, now: now)
        {
            connections = limit
            rate = max(accepted * ControlPolicy.guardFactor, ControlPolicy.minRate)
            (known, phase) = (accepted, .hold)
        } else {
            connections = nil
            if let before = floor.cut(rate ?? measured, share: share, isSoon: isSoon, now: now) {
                // The share of refusals does not depend on the rate.
                (rate, known, phase, cutAt) = (before, before, .hold, now)
                return change(now)
            }
            learnBurst(accepted)
            pace.cut(accepted, known: known, isSoon: isSoon, policy: policy)
            // Workers whose requests are nearly all refused stop sending, also at the first overload. The accepted rate
            // at that time is not a measurement.
            if share < ControlPolicy.collapse, rate != nil { known = max(accepted, ControlPolicy.minRate) }
            rate = max(accepted * ControlPolicy.below, ControlPolicy.minRate)
            phase = (rate ?? 0) < (known ?? 0) * ControlPolicy.near || !policy.hasMemory ? .recover : .hold
        }
        cutAt = now
        credit = 0
        change(now)
    }

    private mutating func learnBurst(_ accepted: Double) {
        guard let known, phase == .probe || phase == .search else { return }
        // The limit is unchanged: what was accepted beyond it was the burst.
        if accepted < known * 1.15 { burst = min(max(credit, (burst ?? 0) * 0.8), known * 2) }
    }

    /// The rate has changed, so earlier measurements do not apply.
    private mutating func change(_ now: Tick) {
        steppedAt = now
        overload = OverloadDetector()
        meter.restart(at: now + ControlPolicy.settlingTime)
    }

    // MARK: - Up

    private mutating func step(_ now: Tick) {
        let span = Double(now - steppedAt) / 1_000
        defer {
            steppedAt = now
            meter.startWindow()
        }
        guard let rate else { return }
        let offered = meter.answered + meter.refused
        guard let known else { return stepFast(rate, offered: offered, now: now) }
        if connections != nil { return stepConnections(now) }
        // When the demand is lower than the rate, nothing is learned about a higher rate.
        guard offered >= rate * ControlPolicy.demand || rate < ControlPolicy.slow && meter.isWaiting else { return }
        credit += max(0, min(offered, rate) - known) * min(span, 1)
        let before = rate
        switch phase {
        case .free: return
        case .recover:
            self.rate = rate * ControlPolicy.recovery
            if rate * ControlPolicy.recovery >= known * ControlPolicy.below, policy.hasMemory {
                self.rate = known * ControlPolicy.below
                phase = .hold
                cutAt = now
            }
        case .hold:
            if cutAt.map({ now - $0 >= pace.hold }) ?? true { (phase, probedAt) = (.probe, now) }
        case .probe:
            // A limit that was found too low has a small excess, so the increase grows with the time without refusals.
            let late = Double(max(0, now - probedAt - ControlPolicy.patience)) / 1_000
            let most = known * (ControlPolicy.above + ControlPolicy.rise * late)
            self.rate = max(rate, min(rate * 1.01 + 0.01 * known, most))
            let likely = burst ?? max(known * 0.15, min(known, ControlPolicy.usualBurst))
            let wanted = min(likely * 1.3 + known * 0.1, max(known * 0.4, ControlPolicy.usualBurst * 1.4))
            if credit > wanted { phase = .search }
        case .search: self.rate = rate * ControlPolicy.growth
        }
        if self.rate ?? 0 > before * 1.05 {
            overload = OverloadDetector()
            meter.restart(at: now)
        }
    }

    /// No limit is known.
    ///
    /// The rate that is left after an outage or many refusals grows, and the limit is removed when the demand is lower.
    private mutating func stepFast(_ rate: Double, offered: Double, now: Tick) {
        let isAskedFor = offered >= rate * ControlPolicy.demand || rate < ControlPolicy.slow && meter.isWaiting
        self.rate = isAskedFor ? rate * ControlPolicy.recovery : nil
        if !isAskedFor { phase = .free }
        meter.restart(at: now)
    }

    /// When no request waits for a connection, nothing is learned about more connections.
    private mutating func stepConnections(_ now: Tick) {
        guard meter.isWaiting, let before = connections else { return }
        rate = max(
            (rate ?? 0) * ControlPolicy.below, meter.answered * ControlPolicy.guardFactor, ControlPolicy.minRate)
        switch probeOfConnections.next(now, most: maxConnections) {
        case .stay: return
        case .tryNext(let limit):
            connections = limit
            rate = rate.map { $0 * Double(limit) / Double(max(before, 1)) }
        case .noLimit:
            (connections, rate, known, phase) = (nil, nil, nil, .free)
            change(now)
        }
    }
}
