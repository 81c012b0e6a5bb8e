/// A token bucket that keeps any window of one second within the limit plus one.
///
/// A window can hold the bucket's content and one second's refill. A bucket of one token would be exact but loses every
/// microsecond the caller is late, so 2 % of the limit moves from the refill to the bucket: the sum stays limit + 1.
/// The caller supplies the time; the limiter never reads a clock.
public struct RateLimiter: Sendable {
    /// Permits per second asked for.
    public let perSecond: Double
    private let refill: Double
    private let capacity: Double
    private var tokens: Double
    private var last: ContinuousClock.Instant?

    /// Makes a full bucket; a limit below one permit in a thousand seconds counts as that.
    public init(perSecond: Double) {
        let limit = perSecond.isFinite ? max(perSecond, 0.001) : 1e9
        self.perSecond = limit
        refill = limit * 0.98
        capacity = 1 + limit * 0.02
        tokens = capacity
    }

    /// Takes a permit.
    ///
    /// - Returns: `nil` when the permit was taken; otherwise how long until the next one, and nothing is taken.
    public mutating func take(at now: ContinuousClock.Instant) -> Duration? {
        if let last, now > last { tokens = min(capacity, tokens + (now - last) / .seconds(1) * refill) }
        last = max(last ?? now, now)
        guard tokens < 1 else {
            tokens -= 1
            return nil
        }
        return .seconds((1 - tokens) / refill)
    }
}
