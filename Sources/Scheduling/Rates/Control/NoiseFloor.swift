/// What share of refusals an origin answers whatever the rate is.
struct NoiseFloor: Sendable {
    private var found: (share: Double, until: Tick)?
    /// Cuts in a row that did not help: the rate and the share before the first, and how many.
    private var row: (rate: Double, share: Double, count: Int)?
    /// A share above this is no noise.
    private static let most = 0.3
    /// How long a share found is believed.
    private static let memory: Int64 = 60_000

    func noise(at now: Tick, _ policy: ControlPolicy) -> Double {
        max(policy.noise, found.flatMap { $0.until > now ? $0.share : nil } ?? 0)
    }

    /// Notes a cut.
    ///
    /// - Returns: The rate before the cuts that did not help, when the share stays the same whatever the rate is.
    mutating func cut(_ rate: Double, _ share: Double, isSoon: Bool, now: Tick) -> Double? {
        guard isSoon, let row, share < Self.most, share > row.share * 0.6, share < row.share * 1.6 else {
            row = (rate, share, 1)
            return nil
        }
        self.row = (row.rate, row.share, row.count + 1)
        guard row.count >= 2, rate < row.rate * 0.9 else { return nil }
        found = (share * 1.3, now + Self.memory)
        self.row = nil
        return row.rate
    }
}
