/// Counts of times, in seconds.
package struct Histogram: Sendable, Hashable {
    /// Upper bounds of the buckets; what is above them is in the last one, without a bound.
    package static let bounds = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10, 60]

    package private(set) var counts = [UInt64](repeating: 0, count: bounds.count)
    package private(set) var count: UInt64 = 0
    package private(set) var sum = 0.0

    package init() {}

    package mutating func add(_ seconds: Double) {
        if let index = Self.bounds.firstIndex(where: { seconds <= $0 }) { counts[index] += 1 }
        count += 1
        sum += seconds
    }
}
