/// An instant on the coordinator's monotonic clock, supplied by the caller: this module never reads a clock.
///
/// Unit: milliseconds since a zero point that changes with every start of the process, so a tick is never stored.
public struct Tick: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Milliseconds since the zero point.
    public var milliseconds: Int64

    /// An instant `milliseconds` after the zero point.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// `milliseconds ms`.
    public var description: String { "\(milliseconds) ms" }

    /// Whether `left` comes before `right`.
    public static func < (left: Tick, right: Tick) -> Bool { left.milliseconds < right.milliseconds }

    /// The instant `span` milliseconds after `tick`, saturating.
    public static func + (tick: Tick, span: Int64) -> Tick {
        let (sum, overflow) = tick.milliseconds.addingReportingOverflow(span)
        return Tick(milliseconds: overflow ? .max : sum)
    }

    /// Milliseconds from `right` to `left`, saturating.
    public static func - (left: Tick, right: Tick) -> Int64 {
        let (difference, overflow) = left.milliseconds.subtractingReportingOverflow(right.milliseconds)
        return overflow ? .max : difference
    }
}
