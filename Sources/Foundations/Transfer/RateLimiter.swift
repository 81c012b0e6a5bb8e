/// A token bucket that keeps any window of one second within the limit plus one.
///
/// A window can contain the bucket's content and one second's refill. A bucket of one token would be exact, but loses
/// every microsecond by which the caller is late. So 2 % of the limit are moved from the refill to the bucket: the sum
/// stays limit + 1. The caller supplies the time; the limiter never reads a clock.
public struct RateLimiter: Sendable {
    /// The requested permits per second.
    public let perSecond: Double
    private let refill: Double
    private let capacity: Double
    private var tokens: Double
    private var last: ContinuousClock.Instant?

    /// Creates a full bucket.
    ///
    /// The lowest limit is one permit in a thousand seconds.
    public init(perSecond: Double) {
        let limit = perSecond.isFinite ? max(perSecond, 0.001) : 1e9
        self.perSecond = limit
        refill = limit * 0.98
        capacity = 1 + limit * 0.02
        tokens = capacity
    }

    /// Takes a permit.
    ///
    /// - Returns: `nil` when the permit was taken; otherwise the time until the next permit, and none is taken.
    public mutating func takePermit(at now: ContinuousClock.Instant) -> Duration? {
        if let last, now > last { tokens = min(capacity, tokens + (now - last) / .seconds(1) * refill) }
        last = max(last ?? now, now)
        guard tokens < 1 else {
            tokens -= 1
            return nil
        }
        return .seconds((1 - tokens) / refill)
    }
}
