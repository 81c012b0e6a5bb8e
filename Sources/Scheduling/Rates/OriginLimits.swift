/// What an origin may be asked to bear.
public struct OriginLimits: Hashable, Sendable {
    /// Requests started per second; `nil` = no limit.
    public var perSecond: Double?
    /// Requests in flight at once; at least 1.
    public var concurrency: Int
    /// Bytes received per second; `nil` = no limit.
    public var bytesPerSecond: Double?

    /// Limits; what is no rate counts as the nearest one.
    public init(perSecond: Double?, concurrency: Int, bytesPerSecond: Double? = nil) {
        self.bytesPerSecond = bytesPerSecond.flatMap { $0.isFinite ? max($0, 1) : nil }
        self.perSecond = perSecond.flatMap { $0.isFinite ? max($0, 0.001) : nil }
        self.concurrency = min(max(concurrency, 1), 1_000_000)
    }

    /// Of both, what asks less.
    public func strictest(_ other: OriginLimits) -> OriginLimits {
        let rates = [perSecond, other.perSecond].compactMap(\.self)
        let bytes = [bytesPerSecond, other.bytesPerSecond].compactMap(\.self)
        return OriginLimits(
            perSecond: rates.min(), concurrency: min(concurrency, other.concurrency), bytesPerSecond: bytes.min())
    }

    /// The part of the bytes that go with some of the connections; `nil` without a limit of bytes.
    ///
    /// The connections granted are never more than ``concurrency`` together, so the parts are never more than ``bytesPerSecond``.
    func bytesPerSecond(ofConnections connections: Int) -> Double? {
        bytesPerSecond.map { $0 * Double(connections) / Double(concurrency) }
    }

    /// How many workers may hold a share: one for each ten requests per second, one more, and one for each connection at most.
    ///
    /// A worker is fast enough for any polite rate, and each further one costs a request of burst.
    public var mostHolders: Int { min(concurrency, perSecond.map { 1 + Int(min($0, 1e7) / 10) } ?? concurrency) }

    /// The promise: in any window of one second the whole cluster starts at most `perSecond` + `burst` requests.
    ///
    /// One request a holder. `nil` without a rate.
    public var burst: Double? { perSecond.map { _ in Double(mostHolders) } }

    /// What the shares add up to at most, of each kind.
    ///
    /// A bucket of one token loses every microsecond its owner is late, so 2 % of the rate move into the buckets; pool rate + pool burst
    /// is `perSecond` + `burst` exactly.
    var pool: Share.Amount {
        guard let perSecond, let burst else { return Share.Amount(rate: nil, burst: 0, concurrency: concurrency) }
        return Share.Amount(rate: perSecond * 0.98, burst: burst + perSecond * 0.02, concurrency: concurrency)
    }
}

/// The sessions that may hold shares of each origin's budget, ascending.
public typealias ShareHolders = [String: [SessionID]]

/// Whose budget a job's requests draw from.
public struct JobOrigin: Hashable, Sendable {
    /// Lower-case `host[:port]`.
    public var name: String
    /// What the job's tileset allows.
    public var limits: OriginLimits

    /// An origin as one job's tileset names it.
    public init(name: String, limits: OriginLimits) {
        self.name = name
        self.limits = limits
    }
}

/// What one worker did to one origin since its last report, and how that was received.
public struct OriginUse: Hashable, Sendable {
    /// The origin's name.
    public var origin: String
    /// Requests started, retries included.
    public var requests: UInt64 = 0
    /// Answers that are neither throttling nor failure.
    public var answered: UInt64 = 0
    /// 429, and 503 with Retry-After.
    public var throttled: UInt64 = 0
    /// Other 5xx, no connection, timeouts.
    public var failed: UInt64 = 0
    /// Of these, 503 without Retry-After.
    public var busy: UInt64 = 0
    /// Milliseconds that the answered requests took, added up; 0 = not known.
    public var occupied: UInt64 = 0
    /// The largest Retry-After heard, in milliseconds; 0 = none.
    public var retryAfter: Int64 = 0
    /// Requests that wait for a permit now.
    public var waiting: UInt64 = 0
    /// What it still holds of an earlier incarnation's grant.
    public var held: HeldShare?

    /// Nothing done to `origin`.
    public init(origin: String) { self.origin = origin }
}

/// A live share of an origin's budget that an earlier incarnation granted.
public struct HeldShare: Hashable, Sendable {
    /// Requests started per second; `nil` = unlimited.
    public var perSecond: Double?
    /// What its bucket holds at most.
    public var burst: Double
    /// Requests in flight at once.
    public var concurrency: Int

    /// A share; what is no rate counts as none.
    public init(perSecond: Double?, burst: Double, concurrency: Int) {
        self.perSecond = perSecond.map { $0.isFinite ? max($0, 0) : 0 }
        self.burst = burst.isFinite ? max(burst, 0) : 0
        self.concurrency = max(concurrency, 0)
    }
}

/// A worker's share of an origin's budget.
public struct RateGrant: Hashable, Sendable {
    /// The origin's name.
    public var origin: String
    /// Requests started per second; `nil` = as many as its connections carry.
    public var perSecond: Double?
    /// What its bucket holds at most; the bucket of a new grant is empty.
    public var burst: Double
    /// Requests in flight at once; 0 = none may start.
    public var concurrency: Int
    /// Milliseconds it lives.
    public var ttl: Int64
    /// Rises with every change, over all origins and workers, for the life of a data folder.
    public var round: UInt64
    /// Milliseconds between two reports at most; 0 = the worker's own pace.
    public var reportEvery: Int64 = 0
    /// Rises when an operator lifts a block: waits for a Retry-After end.
    public var opened: UInt64 = 0
    /// Bytes received per second; `nil` = no limit.
    public var bytesPerSecond: Double?
}
