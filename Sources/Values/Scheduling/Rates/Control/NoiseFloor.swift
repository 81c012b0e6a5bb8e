/// The share of requests that an origin refuses at any rate.
struct NoiseFloor: Sendable {
    private var found: (share: Double, until: Tick)?
    /// Consecutive reductions that did not help: the rate and the share before the first one, and their number.
    private var row: (rate: Double, share: Double, count: Int)?
    /// A larger share is not noise.
    private static let maxShare = 0.3
    /// How long a found share is used.
    ///
    /// Milliseconds.
    private static let memory: Int64 = 60_000

    func noise(at now: Tick, policy: ControlPolicy) -> Double {
        max(policy.noise, found.flatMap { $0.until > now ? $0.share : nil } ?? 0)
    }

    /// Records a reduction.
    ///
    /// - Returns: The rate before the reductions that did not help, if the share of refusals does not depend on the
    ///   rate.
    mutating func cut(_ rate: Double, share: Double, isSoon: Bool, now: Tick) -> Double? {
        guard isSoon, let row, share < Self.maxShare, share > row.share * 0.6, share < row.share * 1.6 else {
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
