/// How long the rate stays below the limit.
///
/// The time grows each time the limit is found at the same value.
struct HoldPace: Sendable {
    private(set) var hold: Int64 = 0

    mutating func cut(_ accepted: Double, known: Double?, isSoon: Bool, policy: ControlPolicy) {
        let isSame = known.map { accepted > $0 * 0.85 && accepted < $0 * 1.15 } ?? false
        hold = isSame && !isSoon ? min(hold + 2_000, ControlPolicy.longestHold) : policy.hold
    }
}
