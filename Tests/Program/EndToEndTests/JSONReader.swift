import Foundation
import Testing

/// Runs commands and records what they print with `--json`.
struct JSONReader {
    let reference: JSONReference
    let scratch: Scratch

    /// - Parameter anchor: The document that is printed; without one, `--json` is not added.
    @discardableResult
    func run(
        _ anchor: String?, _ arguments: [String], at coordinator: String? = nil, status: Int32 = 0
    ) async throws -> String {
        let address = coordinator.map { ["--coordinator", $0] } ?? []
        let outcome = try await Program.run(arguments + (anchor == nil ? [] : ["--json"]) + address, in: scratch)
        #expect(outcome.status == status, "\(arguments): \(outcome.output)\(outcome.errors)")
        if let anchor { try reference.read(outcome.output, as: anchor) }
        return outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Each document has been printed with all of its keys.
    func expectAll(_ anchors: [String], but rare: Set<String> = []) {
        for anchor in anchors { #expect(reference.unprinted(anchor).subtracting(rare).isEmpty, "\(anchor)") }
    }
}
