import Foundation
import Testing

/// The fault table of the client library with the program that was built (ops/device-faults); `make device-faults` runs all of it.
struct DeviceFaultTests {
    @Test(.timeLimit(.programs))
    func theShortFormHoldsAndEveryCheckFindsItsWrong() async throws {
        let scratch = try Scratch()
        let outcome = try await Program.run(
            URL(filePath: "ops/device-faults"), ["--program", Program.packhorse.path, "--short", "--self-test"],
            in: scratch)
        #expect(outcome.status == 0, "\(outcome.output.suffix(6_000))\(outcome.errors.suffix(2_000))")
        #expect(outcome.output.contains(", 0 failed"))
        #expect(outcome.output.contains("self-test: 0 of 11 failed"))
    }
}
