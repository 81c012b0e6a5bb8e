/// Metrics in the text format of Prometheus, version 0.0.4.
///
/// No package that is available here writes it: swift-metrics has the names of instruments, and no exporter.
package struct MetricsText: Sendable {
    package enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    /// The value of `Content-Type` for this format.
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"
    /// The beginning of every name.
    package static let prefix = "packhorse_"

    package private(set) var text = ""

    package init() {}

    /// Begins a family.
    ///
    /// - Parameter name: Without the prefix `packhorse_`.
    package mutating func family(_ name: String, _ kind: Kind, help: String) {
        text += "# HELP \(Self.prefix)\(name) \(help)\n# TYPE \(Self.prefix)\(name) \(kind.rawValue)\n"
    }

    /// One sample of a family.
    package mutating func sample(_ name: String, _ labels: [(String, String)] = [], value: Double) {
        let list = labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
        text += "\(Self.prefix)\(name)\(list.isEmpty ? "" : "{\(list)}") \(Self.number(value))\n"
    }

    /// The samples of a histogram.
    package mutating func histogram(_ name: String, _ labels: [(String, String)], histogram: Histogram) {
        var sum: UInt64 = 0
        for (bound, count) in zip(Histogram.bounds, histogram.counts) {
            sum += count
            sample("\(name)_bucket", labels + [("le", Self.number(bound))], value: Double(sum))
        }
        sample("\(name)_bucket", labels + [("le", "+Inf")], value: Double(histogram.count))
        sample("\(name)_sum", labels, value: histogram.sum)
        sample("\(name)_count", labels, value: Double(histogram.count))
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    private static func number(_ value: Double) -> String {
        value.rounded() == value && abs(value) < 1e15 ? String(Int64(value)) : "\(value)"
    }
}

extension MetricsText {
    /// Begins the family of a table's row.
    package mutating func family(_ metric: some MetricTable) {
        family(metric.rawValue, metric.family.kind, help: metric.family.help)
    }

    /// One sample of a table's row.
    ///
    /// - Parameter labels: The values of its labels, in the order of the table.
    package mutating func sample(_ metric: some MetricTable, _ labels: String..., value: Double) {
        sample(metric.rawValue, Self.pairs(metric, labels), value: value)
    }

    /// The samples of a histogram of a table's row.
    package mutating func histogram(_ metric: some MetricTable, _ labels: String..., histogram: Histogram) {
        self.histogram(metric.rawValue, Self.pairs(metric, labels), histogram: histogram)
    }

    /// A family without labels.
    package mutating func single(_ metric: some MetricTable, _ value: Double) {
        family(metric)
        sample(metric, value: value)
    }

    /// A family whose only label has a closed list of values; a value without a number is 0.
    package mutating func each(_ metric: some MetricTable, _ values: [String: Double]) {
        family(metric)
        for label in metric.family.labels.first?.values ?? [] {
            sample(metric, label, value: values[label, default: 0])
        }
    }

    private static func pairs(_ metric: some MetricTable, _ values: [String]) -> [(String, String)] {
        let names = metric.family.labels.map(\.name)
        precondition(names.count == values.count, "the labels of \(metric.rawValue) are \(names)")
        return Array(zip(names, values))
    }
}
