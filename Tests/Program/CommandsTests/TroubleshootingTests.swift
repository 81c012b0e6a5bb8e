import Errors
import Foundation
import Testing

/// docs/operating/troubleshooting.md quotes messages that the program has, and names the causes that nothing reports.
struct TroubleshootingTests {
    private static func document() throws -> String {
        try String(contentsOf: URL(filePath: "docs/operating/troubleshooting.md"), encoding: .utf8)
    }

    /// All sources, without the list of causes and without generated code.
    private static func sources() throws -> String {
        let root = URL(filePath: "Sources")
        let names = try #require(FileManager.default.enumerator(atPath: root.path)).compactMap { $0 as? String }
        return try names.filter { $0.hasSuffix(".swift") && !$0.hasSuffix(".pb.swift") }
            .filter { !$0.hasSuffix("FailureCause.swift") && !$0.hasPrefix("Client/") }
            .map { try String(contentsOf: root.appending(path: $0), encoding: .utf8) }.joined(separator: "\n")
    }

    @Test func quotedMessagesAreThoseOfTheProgram() throws {
        let cases = try #require(
            Self.document().components(separatedBy: "## Frequent cases").last?.components(separatedBy: "\n## ").first)
        let sources = try Self.sources().lowercased()
        var count = 0
        for row in cases.split(separator: "\n").filter({ $0.hasPrefix("| ") }).dropFirst() {
            let symptom = String(row.split(separator: "|")[0])
            let quotes = symptom.matches(of: /`([^`]+)`|'([^']+)'(?!\w)/).map { $0.1 ?? $0.2 ?? "" }
            // A quote with a space is a message; others are codes.
            for part in quotes.filter({ $0.contains(" ") }).flatMap({ $0.split(separator: "…") }) {
                let words = part.trimmingCharacters(in: .whitespaces).lowercased()
                count += 1
                #expect(sources.contains(words), "no source says '\(words)': \(symptom)")
            }
        }
        #expect(count >= 6)
    }

    @Test func causesThatNothingReportsAreNamedAndNoOthers() throws {
        let sentence = try #require(
            Self.document().split(separator: "\n").first { $0.contains("no part of this build reports") })
        let named = Set(sentence.matches(of: /`([a-z-]+)`/).map { String($0.1) })
        let (sources, names) = (try Self.sources(), try Self.names())
        // Made from a state: Scheduler+Jobs.
        let built = ["job-failed", "job-cancelled"]
        #expect(sources.contains(#"cause: "job-\(state.rawValue)""#))
        // Causes of origins are assigned one by one (FailureCause+Origins); none is made from text.
        #expect(!sources.contains(#"named: "origin-"#))
        // Reported as the status, http-NNN.
        let statuses: Set<FailureCause> = [.serverError, .passingRefusal, .refused]
        let silent = FailureCause.allCases.filter { cause in
            let isWritten = sources.contains("\"\(cause)\"") || sources.contains("case \(cause)\n")
            let name = names[cause.rawValue] ?? cause.rawValue
            let isUsed = ["cause: .\(name)", ": .\(name)\n", "CauseCode(.\(name))", "FailureCause.\(name).rawValue"]
                .contains {
                    sources.contains($0)
                }
            return !isWritten && !isUsed && !built.contains(cause.rawValue) && !statuses.contains(cause)
                && cause != .unknown
        }
        #expect(Set(silent.map(\.rawValue)) == named)
    }

    /// The name of a case in the source: `badCoding` for `bad-coding`, unless it is named otherwise.
    private static func names() throws -> [String: String] {
        let text = try String(contentsOf: URL(filePath: "Sources/Values/Errors/FailureCause.swift"), encoding: .utf8)
        return Dictionary(
            text.matches(of: /case `?(\w+)`? = "([a-z-]+)"/).map { (String($0.2), String($0.1)) },
            uniquingKeysWith: { first, _ in first })
    }
}
