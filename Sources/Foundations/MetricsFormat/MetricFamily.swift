/// The description of a family of metrics: a row of a ``MetricTable``.
package struct MetricFamily: Sendable, Hashable {
    /// A label, and which values it has.
    package struct Label: Sendable, Hashable {
        package let name: String
        /// All values that it can have; empty when ``note`` says how they are bounded.
        package let values: [String]
        package let note: String

        /// A label with a closed list of values.
        package static func closed(_ name: String, _ values: [String]) -> Label {
            Label(name: name, values: values, note: "")
        }

        /// A label whose number of values is bounded in another way.
        ///
        /// - Parameter note: Says how.
        package static func bounded(_ name: String, _ note: String) -> Label {
            Label(name: name, values: [], note: note)
        }
    }

    package let kind: MetricsText.Kind
    package let labels: [Label]
    /// One line: what is counted, with its unit where the name has none.
    package let help: String

    package static func counter(_ help: String, _ labels: Label...) -> MetricFamily {
        MetricFamily(kind: .counter, labels: labels, help: help)
    }

    package static func gauge(_ help: String, _ labels: Label...) -> MetricFamily {
        MetricFamily(kind: .gauge, labels: labels, help: help)
    }

    package static func histogram(_ help: String, _ labels: Label...) -> MetricFamily {
        MetricFamily(kind: .histogram, labels: labels, help: help)
    }
}

/// All families of a program: the single description of their names, types, labels and meanings.
///
/// The raw value is the name without the prefix `packhorse_`. Programs write only rows of a table, and
/// docs/reference/metrics.md is made of the tables. No label holds a job, package, token, tile or client, so the number of series is
/// bounded.
package protocol MetricTable: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
    var family: MetricFamily { get }
}

/// The programs and the tables of what they serve.
package enum MetricTables {
    /// A program, its word in documents, and its families, those of its process included.
    package static let all: [(program: String, rows: [(name: String, family: MetricFamily)])] = [
        ("coordinator", rows(CoordinatorMetric.self)), ("worker", rows(WorkerMetric.self)),
        ("gateway", rows(GatewayMetric.self)), ("process", rows(ProcessMetric.self)),
    ]

    /// The families of a page of a program.
    package static func page(of program: String) -> [(name: String, family: MetricFamily)] {
        all.filter { $0.program == program || $0.program == "process" }.flatMap(\.rows)
    }

    private static func rows<Table: MetricTable>(_ table: Table.Type) -> [(name: String, family: MetricFamily)] {
        table.allCases.map { (MetricsText.prefix + $0.rawValue, $0.family) }
    }
}
