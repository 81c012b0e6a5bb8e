internal import TextFormats

/// Decides whether and when a request is retried.
///
/// Full jitter: the wait before attempt n + 1 is uniform in 0 … min(cap, base · 2ⁿ⁻¹), so that many workers that failed
/// at the same time do not retry at the same time (AWS Architecture Blog, "Exponential Backoff And Jitter", 2015).
public struct RetryPolicy: Sendable, Hashable {
    /// Number of attempts, including the first.
    ///
    /// At least 1, default 5.
    public var maxAttempts = 5
    /// The upper bound of the first wait.
    ///
    /// Default 250 ms.
    public var base: Duration = .milliseconds(250)
    /// The upper bound of any wait except Retry-After.
    ///
    /// Default 30 s.
    public var cap: Duration = .seconds(30)
    /// The longest wait accepted from a server's Retry-After.
    ///
    /// Default 120 s.
    public var retryAfterCap: Duration = .seconds(120)

    /// The defaults.
    public init() {}

    /// Whether an answer with this status may be different next time: 408, 425, 429, 500, 502, 503, 504.
    public static func isRetriable(status: Int) -> Bool {
        switch status {
        case 408, 425, 429, 500, 502, 503, 504: true
        default: false
        }
    }

    /// The wait after the failed attempt `attempt` (1 = the first), or `nil` when it was the last one allowed.
    ///
    /// A Retry-After is a lower bound, limited to ``retryAfterCap``; the jitter is added to it.
    public func wait(
        afterAttempt attempt: Int, retryAfter: Duration? = nil, using generator: inout some RandomNumberGenerator
    ) -> Duration? {
        guard attempt < maxAttempts else { return nil }
        let doubled = base * (1 << min(max(attempt - 1, 0), 20))
        // 53 random bits are a uniform number below 1. Double.random may call a generator any number of times.
        let jitter = min(cap, doubled) * (Double(generator.next() >> 11) * 0x1p-53)
        return max(.zero, min(retryAfter ?? .zero, retryAfterCap)) + jitter
    }

    /// Parses a Retry-After value: seconds or an HTTP date.
    ///
    /// - Parameters:
    ///   - serverDate: The answer's own `Date`. It is preferred to the local clock, because clocks differ.
    ///   - now: The local clock, seconds since 1970.
    /// - Returns: How long to wait, at least zero; `nil` when the value is neither.
    public static func retryAfter(_ value: String?, serverDate: String?, now: Int64) -> Duration? {
        guard let value else { return nil }
        if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return .seconds(Int64(value) ?? Int64(Int32.max))
        }
        guard let date = HTTPDate.secondsSince1970(value) else { return nil }
        let reference = serverDate.flatMap(HTTPDate.secondsSince1970) ?? now
        return .seconds(max(0, date - reference))
    }
}
