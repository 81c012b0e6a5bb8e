/// Speed and remaining time of a job, measured over the last half minute.
///
/// Pure: the caller supplies the time.
package struct RateMeter {
    private var samples: [(seconds: Double, done: UInt64)] = []

    package init() {}

    /// Adds a sample.
    ///
    /// - Parameters:
    ///   - done: Tiles completed so far. A smaller value, after a worker was lost, restarts the measurement.
    ///   - seconds: Monotonic time.
    package mutating func add(done: UInt64, at seconds: Double) {
        if let last = samples.last, last.done > done { samples = [] }
        samples.append((seconds, done))
        while samples.count > 2, seconds - samples[0].seconds > 30 { samples.removeFirst() }
    }

    /// Tiles per second, or `nil` before two samples.
    package var rate: Double? {
        guard let first = samples.first, let last = samples.last, last.seconds > first.seconds else { return nil }
        return Double(last.done - first.done) / (last.seconds - first.seconds)
    }

    /// Seconds until `total`, or `nil` without progress.
    package func remaining(to total: UInt64) -> Double? {
        guard let rate, rate > 0, let last = samples.last else { return nil }
        return Double(total - min(total, last.done)) / rate
    }
}
