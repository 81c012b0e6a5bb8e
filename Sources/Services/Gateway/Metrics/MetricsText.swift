/// Metrics in the text format of Prometheus, version 0.0.4.
///
/// No package that is available here writes it: swift-metrics has the names of instruments, and no exporter.
struct MetricsText {
    enum Kind: String {
        case counter, gauge, histogram
    }

    private(set) var text = ""

    /// Begins a family.
    ///
    /// - Parameter name: Without the prefix `packhorse_`.
    mutating func family(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP packhorse_\(name) \(help)\n# TYPE packhorse_\(name) \(kind.rawValue)\n"
    }

    /// One sample of a family.
    mutating func sample(_ name: String, _ labels: [(String, String)] = [], _ value: Double) {
        let list = labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
        text += "packhorse_\(name)\(list.isEmpty ? "" : "{\(list)}") \(Self.number(value))\n"
    }

    /// The samples of a histogram.
    mutating func histogram(_ name: String, _ labels: [(String, String)], _ histogram: Histogram) {
        var sum: UInt64 = 0
        for (bound, count) in zip(Histogram.bounds, histogram.counts) {
            sum += count
            sample("\(name)_bucket", labels + [("le", Self.number(bound))], Double(sum))
        }
        sample("\(name)_bucket", labels + [("le", "+Inf")], Double(histogram.count))
        sample("\(name)_sum", labels, histogram.sum)
        sample("\(name)_count", labels, Double(histogram.count))
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    private static func number(_ value: Double) -> String {
        value.rounded() == value && abs(value) < 1e15 ? String(Int64(value)) : "\(value)"
    }
}

/// Counts of times, in seconds.
struct Histogram: Sendable {
    /// Upper bounds of the buckets; what is above them is in the last one, without a bound.
    static let bounds = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10, 60]

    private(set) var counts = [UInt64](repeating: 0, count: bounds.count)
    private(set) var count: UInt64 = 0
    private(set) var sum = 0.0

    mutating func add(_ seconds: Double) {
        if let index = Self.bounds.firstIndex(where: { seconds <= $0 }) { counts[index] += 1 }
        count += 1
        sum += seconds
    }
}
