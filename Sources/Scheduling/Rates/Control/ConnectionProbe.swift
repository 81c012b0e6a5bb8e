/// The search for a limit of connections: whether there is one, and where.
struct ConnectionProbe: Sendable {
    /// Accepted without refusals, last.
    private var good: Int?
    /// What is tried now.
    private var tried: Int?
    private var triedAt = Tick(milliseconds: 0)
    private var pause = Self.shortest
    private var refutedUntil: Tick?
    private static let shortest: Int64 = 5_000
    private static let longest: Int64 = 60_000
    /// A limit that does not help is not tried again for so long.
    private static let distrust: Int64 = 120_000

    /// The limit after an overload; `nil` = it is no limit of connections.
    mutating func limit(
        _ occupied: Double, busy: Double, isSoon: Bool, now: Tick, _ policy: ControlPolicy
    ) -> Int? {
        if let refutedUntil, refutedUntil > now { return nil }
        if let good, let tried, tried > good {
            // One more was too many.
            pause = min(pause * 2, Self.longest)
            (self.tried, triedAt) = (good, now)
            return good
        }
        guard busy > 0.5, occupied >= 1.5 else { return refute(now) }
        let limit = max(1, Int(occupied.rounded()))
        if let good, isSoon, limit >= good { return refute(now) }
        (good, tried, triedAt) = (limit, limit, now)
        return limit
    }

    private mutating func refute(_ now: Tick) -> Int? {
        if good != nil { refutedUntil = now + Self.distrust }
        (good, tried, pause) = (nil, nil, Self.shortest)
        return nil
    }

    /// One connection more, when the last number did well for long enough.
    mutating func more(_ now: Tick) -> Int? {
        guard let last = tried, now - triedAt >= pause else { return nil }
        if let good, last > good { pause = Self.shortest }
        good = last
        tried = last + max(1, last / 20)
        triedAt = now
        return tried
    }
}
