/// Decides when waiting packages are published: at once if the lists were not written recently, otherwise together with
/// later packages.
///
/// Lists are written as a whole, whatever changed in them. After a write that took some time, the next one begins four
/// times that time later. So writing lists takes at most a fifth of the time of a disk. No package waits longer than
/// ``longest`` for that reason.
struct PublishingPace: Sendable {
    /// The longest time that a package waits for others, including the writing of the lists.
    static let longest = Duration.seconds(1)
    /// The pause between two writes, in multiples of the duration of the first one.
    private static let rest = 4

    private var next: ContinuousClock.Instant?
    private var cost = Duration.zero

    /// When to publish.
    ///
    /// - Parameters:
    ///   - oldest: Since when the oldest package waits.
    ///   - isFull: Whether the largest number of packages that are published together is waiting.
    /// - Returns: An instant, which may be in the past.
    func due(oldest: ContinuousClock.Instant, isFull: Bool) -> ContinuousClock.Instant {
        guard let next, !isFull else { return oldest }
        return max(oldest, min(next, oldest + max(.zero, Self.longest - cost)))
    }

    /// Records that lists were written.
    ///
    /// - Parameter cost: The duration of the write.
    mutating func wrote(until end: ContinuousClock.Instant, cost: Duration) {
        self.cost = cost
        next = end + min(cost * Self.rest, Self.longest)
    }
}
