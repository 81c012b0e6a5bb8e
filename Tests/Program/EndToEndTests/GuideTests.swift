import Foundation
import Testing

/// The commands of README.md and of the guides, executed with the program that was built (ops/guides/run).
struct GuideTests {
    /// README.md and all documents below docs/ that have commands to execute.
    private static let guides: [String] =
        (["README.md"]
        + (FileManager.default.enumerator(atPath: "docs")?.compactMap { $0 as? String } ?? []).map { "docs/" + $0 })
        .filter { $0.hasSuffix(".md") && !$0.hasPrefix("docs/decisions/") }.sorted()
        .filter { (try? String(contentsOf: URL(filePath: $0), encoding: .utf8))?.contains("```sh\n") ?? false }

    private static func run(_ guide: String, in scratch: Scratch) async throws -> Program.Outcome {
        try await Program.run(
            URL(filePath: "ops/guides/run"), ["--program", Program.packhorse.path, guide], in: scratch)
    }

    @Test(.timeLimit(.programs), arguments: guides)
    func everyCommandOfAGuideSucceeds(guide: String) async throws {
        let scratch = try Scratch()
        let outcome = try await Self.run(guide, in: scratch)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.hasPrefix("\(guide): ") && outcome.output.contains(" commands in "))
    }

    @Test func noGuideIsLeftOut() {
        #expect(Self.guides.count >= 12, "\(Self.guides)")
        #expect(Self.guides.contains("README.md") && Self.guides.contains("docs/operating/backup.md"))
    }

    /// A guide that is wrong fails, with the line of the guide.
    @Test(
        .timeLimit(.programs),
        arguments: [
            ("packhorse verify no-such.mbtiles\ntrue", 4, "exit code 66"),
            ("true\npackhorse help | false", 5, "exit code 1"),
            (
                "packhorse worker --blobs no-such-folder --log-level loud &\nsleep 1", nil,
                "in the background ended with 64"
            ),
            ("exit 0\nfalse", nil, "the shell ended before the last command"),
        ])
    func aWrongCommandIsNamed(commands: String, line: Int?, words: String) async throws {
        let scratch = try Scratch()
        let guide = scratch.url("guide.md")
        try Data("# Guide\n\n```sh\n\(commands)\n```\n".utf8).write(to: guide)
        let outcome = try await Self.run(guide.path, in: scratch)
        #expect(outcome.status == 1)
        let said = line.map { "\(guide.path):\($0): \(words)" } ?? words
        #expect(outcome.errors.contains(said), "\(outcome.errors)")
    }
}
