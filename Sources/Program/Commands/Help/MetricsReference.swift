internal import MetricsFormat

/// All families of metrics as one Markdown document: docs/reference/metrics.md, which a test compares with this.
enum MetricsReference {
    /// The document; every program has a section.
    static func markdown() -> String {
        let head = """
            # Metrics

            Written by `packhorse manual --markdown docs/reference` from the tables in the
            [sources](../../Sources/Foundations/MetricsFormat); `make test` compares it with them. How to collect them:
            [monitoring](\(operating)/monitoring.md#metrics).

            - The format is the text format of Prometheus, version 0.0.4, at `GET /metrics`.
            - Units are seconds and bytes. Counters begin at 0 with each process and never fall.
            - No label holds a job, package, token, tile or client, so the number of series is bounded.
            - Every histogram has the buckets \(bounds) seconds.
            - `coordinator_*` of the coordinator is about its process; its other families are about the whole cluster.
            """
        let sections = MetricTables.all.map { table in
            (["## \(title(table.program))", "", "| Name | Type | Labels | Meaning |", "|---|---|---|---|"]
                + table.rows.map(row)).joined(separator: "\n")
        }
        return ([head] + sections).joined(separator: "\n\n") + "\n"
    }

    /// The folder of guides for operators, from the folder of the document.
    private static let operating = "../operating"

    private static var bounds: String { Histogram.bounds.map { "\($0)" }.joined(separator: ", ") }

    private static func title(_ program: String) -> String {
        switch program {
        case "coordinator": "Coordinator"
        case "worker": "Worker"
        case "gateway": "Gateway"
        default: "Every program"
        }
    }

    private static func row(_ name: String, _ family: MetricFamily) -> String {
        let labels = family.labels.map { label in
            // All causes are in another document.
            let values =
                label.name == "cause"
                ? "a [cause](\(operating)/troubleshooting.md#causes-of-failures)"
                : label.values.isEmpty ? label.note : label.values.map { "`\($0)`" }.joined(separator: ", ")
            return "`\(label.name)`: \(values)"
        }
        return "| `\(name)` | \(family.kind.rawValue) | \(labels.joined(separator: "; ")) | \(family.help) |"
    }
}
