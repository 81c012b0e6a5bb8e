import Foundation
import Testing

/// The programs of docs/any-language.md in Python, JavaScript and Java, against a catalog that packhorse publishes (ops/any-language-test).
struct AnyLanguageTests {
    @Test(.timeLimit(.programs))
    func everyProgramInstallsContinuesUpdatesAndRefuses() async throws {
        let scratch = try Scratch()
        let outcome = try await Program.run(
            URL(filePath: "ops/any-language-test"), ["--program", Program.packhorse.path], in: scratch)
        #expect(outcome.status == 0, "\(outcome.output.suffix(6_000))\(outcome.errors.suffix(2_000))")
        #expect(outcome.output.hasSuffix("failed\n") && outcome.output.contains("any-language-test: 0 of "))
        // A language that is not installed is told, with what it needs.
        for line in outcome.output.split(separator: "\n") where line.hasPrefix("skipped") { print(line) }
    }
}
