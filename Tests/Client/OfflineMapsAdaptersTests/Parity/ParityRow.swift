import Foundation
import OfflineMaps
import TestSupport
import Testing
import Tiles

/// The test of one row of `docs/reference/offline-maps-parity.md`.
struct ParityRow: Sendable, CustomTestStringConvertible {
    /// The id of the row: `A1` to `E49`.
    let id: String
    let run: @Sendable (MapWorld) async throws -> Void

    init(_ id: String, _ run: @escaping @Sendable (MapWorld) async throws -> Void) {
        self.id = id
        self.run = run
    }

    var testDescription: String { id }

    /// The test of a row that needs nothing: its reason is in the decision record.
    static func notApplicable(_ id: String) -> ParityRow {
        ParityRow(id) { _ in
            let hasReason = try ParityTable.hasReason(id)
            #expect(hasReason)
        }
    }

    /// The tests of all rows.
    static let all = carto + cartoTasks + concepts + quotas + storage + packs + cache + tiles + loader + updates
}

/// The rows of the document.
struct ParityTable {
    struct Row {
        var id: String
        var promise: String
        var place: String
    }
    let rows: [Row]

    init() throws {
        let text = try Self.document("docs/reference/offline-maps-parity.md")
        rows = text.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 3, let first = cells.first, let table = first.first, "ABCDE".contains(table),
                Int(first.dropFirst()) != nil
            else { return nil }
            return Row(id: first, promise: cells[1], place: cells[2])
        }
    }

    static func document(_ path: String) throws -> String {
        try String(contentsOf: Checkout.folder.appending(path: path), encoding: .utf8)
    }

    /// Whether a row is not applicable, and the decision record has its reason.
    static func hasReason(_ id: String) throws -> Bool {
        let row = try ParityTable().rows.first { $0.id == id }
        let reasons = try document("docs/decisions/0053-offline-maps-parity.md")
        return row?.place.hasPrefix("Not applicable") ?? false && reasons.contains("| \(id) |")
    }

    /// Whether a command of the builder has an option, by the reference that is made from the commands.
    static func builder(_ command: String, has option: String) throws -> Bool {
        let text = try document("docs/reference/cli.md")
        guard let start = text.range(of: "\n## packhorse \(command)\n") else { return false }
        let rest = text[start.upperBound...]
        return rest[..<(rest.range(of: "\n## ")?.lowerBound ?? rest.endIndex)].contains(option)
    }
}

/// Everything that OfflineMaps promises of five other systems.
@Suite(.timeLimit(.minutes(15)))
struct ParityTests {
    @Test func everyRowOfTheTableHasOneTest() throws {
        let rows = try ParityTable().rows.map(\.id)
        #expect(rows.count == 236 && Set(rows).count == rows.count)
        let tests = ParityRow.all.map(\.id)
        #expect(Set(tests).count == tests.count, "two tests of one row")
        #expect(Set(rows).subtracting(tests).sorted() == [], "rows without a test")
        #expect(Set(tests).subtracting(rows).sorted() == [], "tests without a row")
    }

    @Test func everyRowThatIsNotApplicableHasItsReason() throws {
        for row in try ParityTable().rows where row.place.hasPrefix("Not applicable") {
            #expect(try ParityTable.hasReason(row.id), "row \(row.id)")
        }
    }

    @Test(arguments: ParityRow.all)
    func row(_ row: ParityRow) async throws { try await row.run(try MapWorld()) }
}
