/// The limits for requests to an origin.
public struct OriginLimits: Hashable, Sendable {
    /// Requests started per second; `nil` = no limit.
    public var perSecond: Double?
    /// Requests in flight at the same time; at least 1.
    public var concurrency: Int
    /// Bytes received per second; `nil` = no limit.
    public var bytesPerSecond: Double?

    /// Limits.
    ///
    /// A value that is not a rate is replaced by the nearest valid one.
    public init(perSecond: Double?, concurrency: Int, bytesPerSecond: Double? = nil) {
        self.bytesPerSecond = bytesPerSecond.flatMap { $0.isFinite ? max($0, 1) : nil }
        self.perSecond = perSecond.flatMap { $0.isFinite ? max($0, 0.001) : nil }
        self.concurrency = min(max(concurrency, 1), 1_000_000)
    }

    /// The stricter value of the two, for each kind.
    public func strictest(_ other: OriginLimits) -> OriginLimits {
        let rates = [perSecond, other.perSecond].compactMap(\.self)
        let bytes = [bytesPerSecond, other.bytesPerSecond].compactMap(\.self)
        return OriginLimits(
            perSecond: rates.min(), concurrency: min(concurrency, other.concurrency), bytesPerSecond: bytes.min())
    }

    /// The share of the byte rate for some of the connections; `nil` without a byte limit.
    ///
    /// The granted connections never exceed ``concurrency`` in total, so the shares never exceed ``bytesPerSecond``.
    func bytesPerSecond(ofConnections connections: Int) -> Double? {
        bytesPerSecond.map { $0 * Double(connections) / Double(concurrency) }
    }

    /// The number of workers that may hold a share: one for each ten requests per second plus one, and at most one per
    /// connection.
    ///
    /// One worker is fast enough for any polite rate, and each further worker costs one request of burst.
    public var maxHolders: Int { min(concurrency, perSecond.map { 1 + Int(min($0, 1e7) / 10) } ?? concurrency) }

    /// In any window of one second the whole cluster starts at most `perSecond` + `burst` requests.
    ///
    /// The burst is one request per holder. `nil` without a rate.
    public var burst: Double? { perSecond.map { _ in Double(maxHolders) } }

    /// The limit for the sum of all shares, for each kind.
    ///
    /// A bucket of one token loses every microsecond by which its owner is late, so 2 % of the rate are moved into the
    /// buckets. Pool rate + pool burst is exactly `perSecond` + `burst`.
    var pool: Share.Amount {
        guard let perSecond, let burst else { return Share.Amount(rate: nil, burst: 0, concurrency: concurrency) }
        return Share.Amount(rate: perSecond * 0.98, burst: burst + perSecond * 0.02, concurrency: concurrency)
    }
}

/// The sessions that may hold shares of each origin's budget, ascending.
public typealias ShareHolders = [String: [SessionID]]

/// The origin whose budget a job's requests use.
public struct JobOrigin: Hashable, Sendable {
    /// Lower-case `host[:port]`.
    public var name: String
    /// The limits of the job's tileset.
    public var limits: OriginLimits

    /// An origin as named by a job's tileset.
    public init(name: String, limits: OriginLimits) {
        self.name = name
        self.limits = limits
    }
}

/// What one worker did to one origin since its last report, and the results.
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
    /// The sum of the durations of the answered requests in milliseconds; 0 = unknown.
    public var occupied: UInt64 = 0
    /// The largest received Retry-After in milliseconds; 0 = none.
    public var retryAfter: Int64 = 0
    /// Requests that wait for a permit now.
    public var waiting: UInt64 = 0
    /// What it still holds of a grant of an earlier run.
    public var held: HeldShare?

    /// No requests to `origin`.
    public init(origin: String) { self.origin = origin }
}

/// A valid share of an origin's budget that was granted by an earlier run.
public struct HeldShare: Hashable, Sendable {
    /// Requests started per second; `nil` = unlimited.
    public var perSecond: Double?
    /// The capacity of its token bucket.
    public var burst: Double
    /// Requests in flight at the same time.
    public var concurrency: Int

    /// A share.
    ///
    /// A value that is not a rate means none.
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
    /// Requests started per second; `nil` = not limited by a rate, only by connections.
    public var perSecond: Double?
    /// The capacity of its token bucket.
    ///
    /// The bucket of a new grant is empty.
    public var burst: Double
    /// Requests in flight at the same time; 0 = none may start.
    public var concurrency: Int
    /// Its time to live in milliseconds.
    public var ttl: Int64
    /// Rises with every change, over all origins and workers, over the lifetime of a data folder.
    public var round: UInt64
    /// Largest interval between two reports in milliseconds; 0 = the worker's own interval.
    public var reportEvery: Int64 = 0
    /// Rises when an operator removes a block: waits for a Retry-After end then.
    public var opened: UInt64 = 0
    /// Bytes received per second; `nil` = no limit.
    public var bytesPerSecond: Double?
}
