/// Stops the requests to an origin that refuses nearly all of them, until the next grant says what it accepts.
///
/// A report to the coordinator and its answer take a fraction of a second, in which a fast worker is refused thousands of times.
struct RefusalBrake: Sendable {
    /// Refusals since the last grant, and at least this share of all answers, that stop it.
    private static let refusals = 16
    private static let share = 0.8
    /// It holds no longer than this: a grant may be lost.
    private static let longest = Duration.milliseconds(500)

    private var answered = 0
    private var refused = 0
    private var until: ContinuousClock.Instant?

    /// Whether nothing may start.
    func holds(at now: ContinuousClock.Instant) -> Bool { until.map { now < $0 } ?? false }

    mutating func take(_ reception: OriginBudget.Reception, at now: ContinuousClock.Instant) {
        if let until, now >= until { self = RefusalBrake() }
        switch reception {
        case .answered: answered += 1
        // One with Retry-After stops everything already.
        case .throttled(retryAfter: nil): refused += 1
        // A 503 is one refusal only where others are answered.
        case .busy: if answered > 0 { refused += 1 }
        case .throttled, .failed, .none: return
        }
        guard until == nil, refused >= Self.refusals else { return }
        if Double(refused) >= Self.share * Double(answered + refused) { until = now + Self.longest }
    }
}
