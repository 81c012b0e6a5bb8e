import Errors
import Foundation
import Testing

/// docs/operating/troubleshooting.md says of each cause of a failure what the code says.
struct FailureCauseReferenceTests {
    /// A cause in a table: the heading above it, and the cells of its row.
    private struct Row {
        let cause: FailureCause
        let heading: String
        let cells: [String]
        /// Whether the cause is marked as final.
        let isFinal: Bool
    }

    private static let headings: [FailureCause.Fault: String] = [
        .tile: "The tile", .origin: "The server", .job: "The job", .worker: "The worker's machine",
        .packhorse: "Packhorse", .noFault: "Orders",
    ]

    private static func text() throws -> String {
        try String(contentsOf: URL(filePath: "docs/operating/troubleshooting.md"), encoding: .utf8)
    }

    private static func rows() throws -> [Row] {
        try text().components(separatedBy: "\n### ").dropFirst().flatMap { section in
            let lines = section.components(separatedBy: "\n")
            return lines.filter { $0.hasPrefix("| `") }.flatMap { line in
                let cells = line.components(separatedBy: "|").map { $0.trimmingCharacters(in: .whitespaces) }
                let parts = cells[1].components(separatedBy: "`")
                return stride(from: 1, to: parts.count, by: 2).compactMap { index in
                    FailureCause(rawValue: parts[index]).map {
                        Row(
                            cause: $0, heading: lines[0], cells: Array(cells.dropFirst().dropLast()),
                            isFinal: parts[index + 1].hasPrefix(" (final)"))
                    }
                }
            }
        }
    }

    @Test func everyCauseHasOneRow() throws {
        let causes = try Self.rows().map(\.cause)
        #expect(Set(causes).count == causes.count)
        let missing = Set(FailureCause.allCases).subtracting(causes).subtracting([.unknown])
        #expect(missing.isEmpty, "add a row to docs/operating/troubleshooting.md")
        #expect(try Self.text().contains("`unknown` is a code that this build does not know"))
    }

    @Test func rowsStandUnderTheComponentAtFault() throws {
        for row in try Self.rows() { #expect(row.heading == Self.headings[row.cause.fault], "\(row.cause)") }
    }

    @Test func rowsSayWhatIsTriedAgainAndWhatCounts() throws {
        for row in try Self.rows() {
            let again = row.cause.isRetriable ? "yes" : "no"
            let counts = row.cause.costsAttempt ? "yes" : "no"
            switch row.cause.fault {
            case .tile, .origin:
                #expect(row.cells[2] == again && row.cells[3] == counts, "\(row.cause)")
            case .worker:
                #expect(row.cells[2].hasPrefix(counts) && row.cause.isRetriable, "\(row.cause)")
            case .packhorse:
                #expect(row.isFinal != row.cause.isRetriable && row.cause.costsAttempt, "\(row.cause)")
            case .job, .noFault:
                break
            }
        }
    }
}
