/// Stops the requests to an origin that refuses nearly all of them, until the next grant contains the accepted rate.
///
/// A report to the coordinator and its answer take a fraction of a second, in which a fast worker would be refused
/// thousands of times.
struct ThrottleGuard: Sendable {
    /// The number of refusals since the last grant that stops requests, if they are also at least this share of all
    /// answers.
    private static let refusals = 16
    private static let share = 0.8
    /// Longest time without requests: a grant may be lost.
    private static let longest = Duration.milliseconds(500)

    private var answered = 0
    private var refused = 0
    private var until: ContinuousClock.Instant?

    /// Whether no request may start.
    func holds(at now: ContinuousClock.Instant) -> Bool { until.map { now < $0 } ?? false }

    mutating func update(_ reception: OriginBudget.Reception, at now: ContinuousClock.Instant) {
        if let until, now >= until { self = ThrottleGuard() }
        switch reception {
        case .answered: answered += 1
        // A refusal with Retry-After already stops all requests.
        case .throttled(retryAfter: nil): refused += 1
        // A 503 is a refusal only while other requests are answered.
        case .busy: if answered > 0 { refused += 1 }
        case .throttled, .failed, .none: return
        }
        guard until == nil, refused >= Self.refusals else { return }
        if Double(refused) >= Self.share * Double(answered + refused) { until = now + Self.longest }
    }
}
