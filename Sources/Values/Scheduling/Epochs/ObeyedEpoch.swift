/// Which coordinator a worker obeys: the one with the highest epoch that it has heard.
///
/// A coordinator that was frozen or cut off does not know that another one was restored from its backup. Its messages have a
/// lower epoch: it offers work that was done, and grants shares of origins that others have.
public struct ObeyedEpoch: Hashable, Sendable {
    /// The highest epoch of a message so far; 0 before the first.
    public private(set) var highest: UInt32 = 0
    /// Messages of lower epochs.
    public private(set) var ignored: UInt64 = 0

    /// No message has come.
    public init() {}

    /// Whether a message with this epoch is obeyed.
    public mutating func obeys(_ epoch: UInt32) -> Bool {
        guard epoch >= highest else {
            ignored += 1
            return false
        }
        highest = epoch
        return true
    }
}
