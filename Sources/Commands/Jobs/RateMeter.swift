/// Speed and remaining time of a job from what was seen in the last half minute.
///
/// Pure: the caller hands in the time.
package struct RateMeter {
    private var samples: [(seconds: Double, done: UInt64)] = []

    package init() {}

    /// Takes a sample.
    ///
    /// - Parameters:
    ///   - done: tiles settled so far; falls when a worker was lost, which starts the measure anew.
    ///   - seconds: monotonic time.
    package mutating func add(done: UInt64, at seconds: Double) {
        if let last = samples.last, last.done > done { samples = [] }
        samples.append((seconds, done))
        while samples.count > 2, seconds - samples[0].seconds > 30 { samples.removeFirst() }
    }

    /// Tiles a second, or `nil` before two samples.
    package var rate: Double? {
        guard let first = samples.first, let last = samples.last, last.seconds > first.seconds else { return nil }
        return Double(last.done - first.done) / (last.seconds - first.seconds)
    }

    /// Seconds until `total`, or `nil` while nothing moves.
    package func remaining(to total: UInt64) -> Double? {
        guard let rate, rate > 0, let last = samples.last else { return nil }
        return Double(total - min(total, last.done)) / rate
    }
}
