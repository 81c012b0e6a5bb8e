internal import Foundation
internal import MetricsFormat

/// A page of metrics as a client reads it.
public struct MetricsPage: Sendable {
    /// A sample: a number with its name and labels.
    public struct Sample: Hashable, Sendable {
        /// The name, with the prefix and the ending of a histogram.
        public let name: String
        /// The labels in the order of the page, as written.
        public let labels: [String: String]
        /// The number.
        public let value: Double
    }

    /// The line is not of the text format.
    public struct Malformed: Error {
        let line: String
    }

    /// All samples in the order of the page.
    public let samples: [Sample]
    /// The type and the help of each family.
    public let families: [String: (type: String, help: String)]

    /// Reads a page.
    ///
    /// - Throws: ``Malformed``.
    public init(_ text: String) throws {
        var (samples, types, helps): ([Sample], [String: String], [String: String]) = ([], [:], [:])
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            let words = line.split(separator: " ", maxSplits: 3)
            if line.hasPrefix("# HELP "), words.count == 4 {
                helps[String(words[2])] = String(words[3])
            } else if line.hasPrefix("# TYPE "), words.count == 4 {
                guard types.updateValue(String(words[3]), forKey: String(words[2])) == nil else {
                    throw Malformed(line: String(line))
                }
            } else {
                samples.append(try Self.sample(line))
            }
        }
        guard text.hasSuffix("\n"), types.keys == helps.keys else { throw Malformed(line: "the end") }
        self.samples = samples
        families = types.reduce(into: [:]) { $0[$1.key] = ($1.value, helps[$1.key] ?? "") }
    }

    private static func sample(_ line: Substring) throws -> Sample {
        guard let match = line.wholeMatch(of: /([a-z_]+)(?:\{(.*)\})? (\S+)/), let value = Double(match.3) else {
            throw Malformed(line: String(line))
        }
        var labels: [String: String] = [:]
        for pair in (match.2 ?? "").matches(of: /([a-z_]+)="((?:[^"\\]|\\.)*)"(?:,|$)/) {
            labels[String(pair.1)] = String(pair.2)
        }
        return Sample(name: String(match.1), labels: labels, value: value)
    }

    /// The number of one sample; `nil` when the page has none.
    ///
    /// - Parameter name: Without `packhorse_`.
    public func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        samples.first { $0.name == MetricsText.prefix + name && $0.labels == labels }?.value
    }

    /// The sum of all samples of a name.
    ///
    /// - Parameter name: Without `packhorse_`.
    public func sum(_ name: String) -> Double {
        samples.reduce(0) { $0 + ($1.name == MetricsText.prefix + name ? $1.value : 0) }
    }

    /// What differs from the table of a program; empty = nothing.
    public func problems(of program: String) -> [String] {
        let rows = MetricTables.page(of: program)
        var found = Set(families.keys).subtracting(rows.map(\.name)).map { "\($0) is in no table" }
        for (name, family) in rows {
            guard let (type, help) = families[name] else { continue }
            if type != family.kind.rawValue || help != family.help { found.append("\(name): \(type) \(help)") }
        }
        for sample in samples {
            guard let (_, family) = rows.first(where: { row in Self.names(row.name, row.family).contains(sample.name) })
            else {
                found.append("\(sample.name) is of no family")
                continue
            }
            let bucket: Set<String> = sample.name.hasSuffix("_bucket") && family.kind == .histogram ? ["le"] : []
            if Set(sample.labels.keys) != Set(family.labels.map(\.name)).union(bucket) {
                found.append("\(sample.name) has the labels \(sample.labels)")
            }
            for label in family.labels where !label.values.isEmpty {
                if let value = sample.labels[label.name], !label.values.contains(value) {
                    found.append("\(sample.name) has \(label.name) '\(value)'")
                }
            }
        }
        return found.sorted()
    }

    /// The families of a program that the page lacks.
    public func missing(of program: String) -> [String] {
        MetricTables.page(of: program).map(\.name).filter { families[$0] == nil }
    }

    /// The counters, buckets and sums that are smaller than in an earlier page, or gone.
    public func fallen(since earlier: MetricsPage) -> [String] {
        let now = Dictionary(uniqueKeysWithValues: samples.map { (Key($0), $0.value) })
        return earlier.samples.filter { earlier.isRising($0) }.compactMap { sample in
            guard let value = now[Key(sample)] else { return "\(sample.name)\(sample.labels) is gone" }
            return value < sample.value ? "\(sample.name)\(sample.labels) fell from \(sample.value) to \(value)" : nil
        }
    }

    private struct Key: Hashable {
        let name: String
        let labels: [String: String]
        init(_ sample: Sample) { (name, labels) = (sample.name, sample.labels) }
    }

    private func isRising(_ sample: Sample) -> Bool {
        families[sample.name]?.type == "counter"
            || ["_bucket", "_sum", "_count"].contains { ending in
                sample.name.hasSuffix(ending)
                    && families[String(sample.name.dropLast(ending.count))]?.type == "histogram"
            }
    }

    private static func names(_ name: String, _ family: MetricFamily) -> [String] {
        family.kind == .histogram ? ["_bucket", "_sum", "_count"].map { name + $0 } : [name]
    }
}
