import Foundation
import Testing

/// libofflinemaps from C, Python and Java, against a signed catalog (ops/bindings-test).
struct BindingsTests {
    @Test(.timeLimit(.programs))
    func everyLanguageInstallsUpdatesReadsAndGoesOn() async throws {
        let library = Program.packhorse.deletingLastPathComponent().appending(path: "libofflinemaps.so")
        guard FileManager.default.fileExists(atPath: library.path) else {
            print("skipped: there is no \(library.path); `make library` builds it, as `make test` does")
            return
        }
        let scratch = try Scratch()
        let outcome = try await Program.run(
            URL(filePath: "ops/bindings-test"), ["--library", library.path, "--program", Program.packhorse.path],
            in: scratch)
        #expect(outcome.status == 0, "\(outcome.output.suffix(6_000))\(outcome.errors.suffix(2_000))")
        #expect(outcome.output.contains("bindings-test: 0 of "))
        // A language whose tools are missing is told, with what it needs.
        for line in outcome.output.split(separator: "\n") where line.hasPrefix("skipped") { print(line) }
    }
}
