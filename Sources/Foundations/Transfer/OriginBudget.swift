import Synchronization

/// A share of an origin's budget that is granted from outside, and its use.
///
/// Clients of the same origin share one. Without a live grant no request starts. When a grant expires, requests in
/// flight are cancelled. The bucket of a new grant is empty, and the bucket of an expired grant is emptied, so that a
/// share that moves between machines transfers no burst.
public final class OriginBudget: Sendable {
    /// The permitted use and its end.
    public struct Grant: Sendable, Hashable {
        /// Requests started per second; 0 = limited only by the connections.
        public var perSecond: Double
        /// Capacity of the bucket in requests.
        public var burst: Double
        /// Requests in flight at the same time; 0 = none may start.
        public var concurrency: Int
        /// The end of the grant.
        public var until: ContinuousClock.Instant
        /// Largest interval between reports of its use; `nil` = the worker's own interval.
        public var reportEvery: Duration?
        /// A number higher than that of the last grant ends every wait for a Retry-After.
        public var opened: UInt64
        /// Bytes of answers received per second; `nil` = no limit.
        public var bytesPerSecond: Double?

        /// A grant.
        public init(
            perSecond: Double, burst: Double, concurrency: Int, until: ContinuousClock.Instant,
            reportEvery: Duration? = nil, opened: UInt64 = 0, bytesPerSecond: Double? = nil
        ) {
            self.bytesPerSecond = bytesPerSecond
            self.reportEvery = reportEvery
            self.opened = opened
            self.perSecond = perSecond
            self.burst = burst
            self.concurrency = concurrency
            self.until = until
        }
    }

    /// The use so far, and the results.
    public struct Use: Sendable, Hashable {
        /// Requests started, retries included.
        public var requests: UInt64 = 0
        /// Answers that are neither throttling nor failure.
        public var answered: UInt64 = 0
        /// 429, and 503 with Retry-After.
        public var throttled: UInt64 = 0
        /// Other 5xx, no connection, timeouts.
        public var failed: UInt64 = 0
        /// Of these, 503 without Retry-After: the origin refuses this request, or all requests.
        public var busy: UInt64 = 0
        /// The sum of the durations of the answered requests.
        public var occupied = Duration.zero

        /// No use.
        public init() {}
    }

    /// The origin's reaction to a request.
    enum Reception {
        case answered
        case throttled(retryAfter: Duration?)
        case failed
        /// 503 without Retry-After.
        case busy
        /// Cancelled by us.
        case none
    }

    fileprivate struct State {
        var grant: Grant?
        var tokens = 0.0
        /// Received bytes that the byte rate has not yet compensated.
        var debt = 0.0
        var filledAt: ContinuousClock.Instant?
        /// The connections of an earlier, larger grant, and until when those may continue.
        var ceiling: (concurrency: Int, until: ContinuousClock.Instant)?
        var inFlight = 0
        var use = Use()
        var retryAfter = Duration.zero
        var brake = ThrottleGuard()
        var waiting: [ObjectIdentifier: Int] = [:]
        var wakers: [ObjectIdentifier: @Sendable () -> Void] = [:]
    }
    private let state = Mutex(State())
    /// The limit of the whole process, beside the grant.
    private let limit: ReceiveLimit?

    /// A budget without a grant.
    ///
    /// - Parameter limit: For the bytes of all origins together; `nil` = none.
    public init(limit: ReceiveLimit? = nil) { self.limit = limit }

    // MARK: - Granting

    /// Replaces the grant, or extends one that differs only in its end.
    ///
    /// Waiting requests start as the grant allows.
    public func apply(_ grant: Grant, at now: ContinuousClock.Instant = .now) {
        let wakers = state.withLock { state in
            state.fill(at: now)
            if let old = state.grant, old.until > now, old.concurrency > grant.concurrency {
                state.ceiling = (old.concurrency, old.until)
            }
            state.grant = grant
            state.brake = ThrottleGuard()
            state.filledAt = max(state.filledAt ?? now, now)
            state.tokens = min(state.tokens, grant.burst)
            return state.wakers.values.map(\.self)
        }
        for wake in wakers { wake() }
    }

    /// The grant under which requests may start now.
    public func live(at now: ContinuousClock.Instant = .now) -> Grant? {
        state.withLock { state in state.grant.flatMap { $0.until > now && $0.concurrency > 0 ? $0 : nil } }
    }

    /// The use so far.
    public var use: Use { state.withLock { $0.use } }

    /// The largest Retry-After since the last call; zero = none.
    public func takeRetryAfter() -> Duration {
        state.withLock { state in
            defer { state.retryAfter = .zero }
            return state.retryAfter
        }
    }

    /// How often an operator has removed a block.
    var opened: UInt64 { state.withLock { $0.grant?.opened ?? 0 } }

    /// Whether no request starts because nearly all were refused since the last grant.
    ///
    /// A report is due then.
    public func isBraked(at now: ContinuousClock.Instant = .now) -> Bool { state.withLock { $0.brake.holds(at: now) } }

    /// Requests that wait for a permit.
    public var waiting: Int { state.withLock { $0.waiting.values.reduce(0, +) } }

    /// Requests that did not end.
    public var inFlight: Int { state.withLock { $0.inFlight } }

    /// Whether the requests in flight are within the last grant.
    public var isWithinGrant: Bool { state.withLock { $0.inFlight <= $0.grant?.concurrency ?? 0 } }

    /// Whether a client uses the budget.
    public var isUsed: Bool { state.withLock { !$0.wakers.isEmpty } }

    // MARK: - Clients

    /// Adds a client.
    ///
    /// It is woken when more requests may start.
    func attach(_ client: AnyObject, wake: @escaping @Sendable () -> Void) {
        state.withLock { $0.wakers[ObjectIdentifier(client)] = wake }
    }

    /// Removes a client without requests in flight.
    func detach(_ client: AnyObject) {
        state.withLock { state in
            state.wakers[ObjectIdentifier(client)] = nil
            state.waiting[ObjectIdentifier(client)] = nil
        }
    }

    /// Takes a permit for one request.
    ///
    /// - Returns: `nil` when it may start; otherwise the longest time until the next call is useful. A new grant wakes
    ///   the client earlier.
    func takePermit(at now: ContinuousClock.Instant) -> Duration? {
        state.withLock { state in
            state.fill(at: now)
            guard let grant = state.grant, grant.until > now, state.inFlight < grant.concurrency else {
                return .seconds(1)
            }
            if state.brake.holds(at: now) { return .milliseconds(50) }
            if let rate = grant.bytesPerSecond, state.debt > 0 { return .seconds(min(state.debt / rate, 1)) }
            if let delay = limit?.delay(at: now) { return delay }
            if grant.perSecond > 0 {
                guard state.tokens >= 1 else { return .seconds(min((1 - state.tokens) / grant.perSecond, 1)) }
                state.tokens -= 1
            }
            state.inFlight += 1
            state.use.requests &+= 1
            limit?.begin()
            return nil
        }
    }

    /// Counts received bytes.
    ///
    /// With a byte limit no request starts until the limit has compensated them.
    func received(_ bytes: Int, at now: ContinuousClock.Instant = .now) {
        limit?.received(bytes, at: now)
        state.withLock { state in
            guard state.grant?.bytesPerSecond != nil else { return }
            state.fill(at: now)
            state.debt += Double(bytes)
        }
    }

    /// Bytes per second that each request in flight may receive; `nil` = no limit.
    var pace: Double? {
        let own = state.withLock { state in state.grant?.bytesPerSecond.map { $0 / Double(max(state.inFlight, 1)) } }
        return [own, limit?.pace].compactMap(\.self).min()
    }

    /// Ends a request.
    ///
    /// - Parameter begun: When it started. Its duration counts if it was answered.
    func endRequest(
        _ reception: Reception, begun: ContinuousClock.Instant? = nil, at now: ContinuousClock.Instant = .now
    ) {
        limit?.end()
        let wakers = state.withLock { state in
            state.inFlight -= 1
            state.brake.update(reception, at: now)
            switch reception {
            case .answered:
                state.use.answered &+= 1
                if let begun { state.use.occupied += now - begun }
            case .failed: state.use.failed &+= 1
            case .busy:
                state.use.failed &+= 1
                state.use.busy &+= 1
            case .throttled(let retryAfter):
                state.use.throttled &+= 1
                state.retryAfter = max(state.retryAfter, retryAfter ?? .zero)
            case .none: break
            }
            // Another client may wait for this connection.
            return state.wakers.count > 1 && !state.waiting.isEmpty ? state.wakers.values.map(\.self) : []
        }
        for wake in wakers { wake() }
    }

    /// The number of requests that must be cancelled now.
    func excess(at now: ContinuousClock.Instant) -> Int {
        state.withLock { state in
            guard state.inFlight > 0 else { return 0 }
            var bound = state.grant.map { $0.until > now ? $0.concurrency : 0 } ?? 0
            if let ceiling = state.ceiling {
                if ceiling.until > now { bound = max(bound, ceiling.concurrency) } else { state.ceiling = nil }
            }
            return max(0, state.inFlight - bound)
        }
    }

    /// The time until ``excess(at:)`` may change without an event; `nil` = nothing is in flight.
    func nextEnd(at now: ContinuousClock.Instant) -> Duration? {
        state.withLock { state in
            guard state.inFlight > 0 else { return nil }
            return [state.grant?.until, state.ceiling?.until].compactMap(\.self).filter { $0 > now }.min().map {
                $0 - now
            }
        }
    }

    /// Sets the number of a client's requests that wait for a permit.
    func setWaiting(_ count: Int, of client: AnyObject) {
        state.withLock { $0.waiting[ObjectIdentifier(client)] = count > 0 ? count : nil }
    }
}

extension OriginBudget.State {
    /// Refills the bucket under the grant that was valid since the last call.
    fileprivate mutating func fill(at now: ContinuousClock.Instant) {
        guard let grant else { return }
        if let filledAt, min(now, grant.until) > filledAt {
            let gain = (min(now, grant.until) - filledAt) / .seconds(1) * grant.perSecond
            tokens = min(grant.burst, tokens + gain)
        }
        if let filledAt, now > filledAt, let rate = grant.bytesPerSecond {
            debt = max(0, debt - (now - filledAt) / .seconds(1) * rate)
        }
        filledAt = max(filledAt ?? now, now)
        if grant.until <= now { tokens = 0 }
    }
}
