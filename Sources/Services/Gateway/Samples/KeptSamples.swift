/// Which samples are known or being made, as a value.
///
/// Equal maps are sampled once in ``freshness``, also when the sample failed. At most ``mostOpen`` are made at a time, so that many
/// people at the page ask a tile server no more than two programs would.
struct KeptSamples<Value> {
    /// What happens with a question.
    enum Turn {
        /// It was asked before; the value may still be on its way.
        case known(Value)
        /// The caller makes it, begins with ``keep(_:_:now:)`` and ends with ``end(_:isGood:now:)``.
        case make
        /// Others are being made.
        case later
    }

    private struct Kept {
        let value: Value
        /// Unit: seconds of the caller's clock.
        var until: Double
        let number: UInt64
    }

    /// Unit: seconds.
    static var freshness: Double { 3_600 }
    /// The same for a sample that failed.
    static var failureFreshness: Double { 60 }
    static var mostOpen: Int { 2 }
    static var most: Int { 500 }

    private var kept: [String: Kept] = [:]
    private var open = 0
    private var next: UInt64 = 0

    /// - Parameter now: Seconds of a clock that never goes back.
    mutating func turn(_ key: String, now: Double) -> Turn {
        if let known = kept[key], known.until > now { return .known(known.value) }
        guard open < Self.mostOpen else { return .later }
        return .make
    }

    /// Begins a sample.
    mutating func keep(_ value: Value, _ key: String, now: Double) {
        open += 1
        next += 1
        kept[key] = Kept(value: value, until: now + Self.freshness, number: next)
        if kept.count > Self.most, let oldest = kept.min(by: { $0.value.number < $1.value.number }) {
            kept[oldest.key] = nil
        }
    }

    /// A sample has ended.
    mutating func end(_ key: String, isGood: Bool, now: Double) {
        open -= 1
        if !isGood { kept[key]?.until = now + Self.failureFreshness }
    }
}
