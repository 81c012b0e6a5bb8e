/// Searches for an origin's limit of connections: whether there is one, and its value.
///
/// The number at the first overload is a rough guess. It grows by half until it is refused (``bad``). Then the interval
/// is halved until the limit is found. After that the number stays, and from time to time one more connection is tried.
struct ConnectionProbe: Sendable {
    /// The last number that was accepted without refusals.
    private var good: Int?
    /// The last number that was refused; `nil` = none since the number last grew.
    private var bad: Int?
    /// The number that is being tried.
    private var tried: Int?
    private var triedAt = Tick(milliseconds: 0)
    /// The next increase after a number succeeded that was refused before; it doubles.
    private var step: Int?
    private var pause = Self.shortest
    private var refutedUntil: Tick?
    /// How long a number is tried while the limit is searched.
    ///
    /// Milliseconds.
    private static let quick: Int64 = 1_000
    /// The same for a number that was refused before.
    private static let careful: Int64 = 2_500
    /// How long the found number stays: at first, and when the limit proved to be stable.
    private static let shortest: Int64 = 8_000
    private static let longest: Int64 = 60_000
    /// A limit that does not help is not tried again for this long.
    ///
    /// Milliseconds.
    private static let distrust: Int64 = 120_000

    /// The limit after an overload; `nil` = the overload is not caused by the number of connections.
    mutating func limit(_ occupied: Double, busy: Double, isSoon: Bool, now: Tick) -> Int? {
        if let refutedUntil, refutedUntil > now { return nil }
        if let good, let tried, tried > good {
            // This number was too high.
            if tried <= good + Self.least(good) { pause = min(pause * 2, Self.longest) }
            (bad, self.tried, triedAt) = (tried, good, now)
            return good
        }
        guard busy > 0.5, occupied >= 1.5 else { return refute(now) }
        let limit = max(1, Int(occupied.rounded()))
        if let good, isSoon, limit >= good { return refute(now) }
        (good, bad, tried, step, triedAt) = (limit, nil, limit, nil, now)
        return limit
    }

    private mutating func refute(_ now: Tick) -> Int? {
        if good != nil { refutedUntil = now + Self.distrust }
        forget()
        return nil
    }

    /// Removes the limit.
    mutating func forget() { (good, bad, tried, step, pause) = (nil, nil, nil, nil, Self.shortest) }

    /// The next step after the current number succeeded for long enough.
    enum Step: Hashable {
        case stay
        case tryNext(Int)
        case noLimit
    }

    /// More connections, at most half as many more, or none to try.
    ///
    /// - Parameter most: The largest number that is allowed for other reasons. When it succeeds, the origin has no
    ///   relevant limit.
    mutating func next(_ now: Tick, most: Int) -> Step {
        guard let last = tried, now - triedAt >= patience else { return .stay }
        guard last < most else {
            forget()
            return .noLimit
        }
        if let bad, last >= bad { (self.bad, step, pause) = (nil, Self.least(last), Self.shortest) }
        (good, triedAt) = (last, now)
        var next: Int
        if let bad {
            next = max(last + Self.least(last), (last + bad) / 2)
        } else {
            let widest = max(1, last / 2)
            next = last + min(step ?? widest, widest)
            step = step.map { min($0 * 2, widest) }
        }
        next = min(next, most)
        tried = next
        return .tryNext(next)
    }

    /// How long the current number must succeed.
    private var patience: Int64 {
        guard let tried, let bad else { return step == nil ? Self.quick : Self.careful }
        if tried >= bad { return Self.careful }
        return bad <= tried + Self.least(tried) ? pause : Self.quick
    }

    /// The smallest increase from a number.
    private static func least(_ number: Int) -> Int { max(1, number / 20) }
}
