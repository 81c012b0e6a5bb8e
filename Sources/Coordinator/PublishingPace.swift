/// When packages that wait are published: at once when the lists were not written lately, together with later ones otherwise.
///
/// Lists are written as a whole, whatever changed in them. After a writing that took some time the next begins four times that later, so that
/// they take a fifth of the time of a disk at most; but no package waits longer than ``longest`` to be in the lists because of that.
struct PublishingPace: Sendable {
    /// The longest that a package waits for others, the writing of the lists included.
    static let longest = Duration.seconds(1)
    /// The time between two writings, in multiples of the time that the first one took.
    private static let rest = 4

    private var next: ContinuousClock.Instant?
    private var cost = Duration.zero

    /// When to publish.
    ///
    /// - Parameters:
    ///   - oldest: Since when the oldest package waits.
    ///   - isFull: Whether as many wait as are published together.
    /// - Returns: A time that has passed, possibly.
    func due(oldest: ContinuousClock.Instant, isFull: Bool) -> ContinuousClock.Instant {
        guard let next, !isFull else { return oldest }
        return max(oldest, min(next, oldest + max(.zero, Self.longest - cost)))
    }

    /// Notes that lists were written.
    ///
    /// - Parameter cost: The time that it took.
    mutating func wrote(until end: ContinuousClock.Instant, cost: Duration) {
        self.cost = cost
        next = end + min(cost * Self.rest, Self.longest)
    }
}
