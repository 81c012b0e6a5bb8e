/// What a coordinator may still do, from what the place of its backups has answered.
///
/// Another coordinator that is restored from there has a higher epoch and announces it in the place, also while this one is
/// frozen or cut off. Grants of rates reach workers without any place in between, so they depend on time: they end
/// before the successor makes its own.
///
/// Pure. Times are of a clock that goes on while the process or the machine stands still.
public struct Tenure: Hashable, Sendable {
    /// Between two questions to the place, in milliseconds.
    public static let question: Int64 = 5_000
    /// How long an answer permits grants, in milliseconds: several questions, so that some may be lost.
    public static let grants: Int64 = 20_000
    /// How long a successor waits before its first grant, in milliseconds.
    ///
    /// The last grant of the predecessor is made within ``grants`` and valid for ``RatePolicy/ttl``; the rest is for clocks that run
    /// at different speeds.
    public static let wait: Int64 = 30_000

    /// Whether a coordinator with a higher epoch was found.
    public private(set) var isReplaced = false
    /// When the last question left that was answered well; `nil` = none, or the process stood still since.
    private var confirmedAt: Tick?
    /// When no grant of a predecessor is valid any more; `nil` = this coordinator is not announced.
    private var grantsFrom: Tick?

    /// Nothing is announced.
    public init() {}

    /// The place has the claim of this coordinator.
    ///
    /// - Parameters:
    ///   - now: After the claim was durable.
    ///   - hasPredecessor: Whether a coordinator with a state file of its own used the place before: it may still run.
    public mutating func announced(at now: Tick, hasPredecessor: Bool) {
        guard grantsFrom == nil else { return }
        grantsFrom = hasPredecessor ? now + Self.wait : now
    }

    /// The place answered that no coordinator has a higher epoch.
    ///
    /// - Parameter asked: When the question left, not when the answer came.
    public mutating func confirmed(asked: Tick) { confirmedAt = max(confirmedAt ?? asked, asked) }

    /// A coordinator with a higher epoch was found.
    ///
    /// It is never taken back.
    public mutating func replaced() { isReplaced = true }

    /// The process stood still: earlier answers do not count.
    public mutating func stoodStill() { confirmedAt = nil }

    /// Whether workers may be granted shares of rates.
    public func mayGrant(_ now: Tick) -> Bool {
        guard !isReplaced, let confirmedAt, let grantsFrom else { return false }
        return now >= grantsFrom && now - confirmedAt <= Self.grants
    }

    /// Whether a change of what a successor would share may begin without another question.
    ///
    /// - Parameter age: How long an answer counts, in milliseconds.
    public func mayChange(_ now: Tick, within age: Int64) -> Bool {
        guard !isReplaced, let confirmedAt else { return false }
        return now - confirmedAt < age
    }
}
