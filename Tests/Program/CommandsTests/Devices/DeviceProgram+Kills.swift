import Foundation
import TestSupport
import Testing
import Tiles

extension DeviceProgram {
    /// Updates the store, then does it again and again from the start with updates that are killed at random moments and finished by
    /// another one.
    ///
    /// - Parameters:
    ///   - count: How many must be killed.
    ///   - copy: Where a copy of the store before the update is kept.
    ///   - installed: The bytes of the installed file.
    ///   - old: What they are before an update; `new` after one, and nothing else at any time.
    func killUpdates(
        _ count: Int, seed: UInt64, copy: URL, installed: () async throws -> Data,
        old: Data, new: Data
    ) async throws {
        try FileManager.default.copyItem(at: store, to: copy)
        let calm = ContinuousClock.now
        #expect(try await run("update").status == 0)
        var whole = ContinuousClock.now - calm
        #expect(try await installed() == new)
        var random = SplitMix(state: seed)
        var killed = 0
        for _ in 0..<count * 5 / 2 where killed < count {
            try FileManager.default.removeItem(at: store)
            try FileManager.default.copyItem(at: copy, to: store)
            let process = try begin("update")
            try await Task.sleep(for: whole * (Double(random.next() % 1_000) / 1_000))
            if process.isRunning {
                kill(process.processIdentifier, SIGKILL)
                killed += 1
            } else {
                // The machine was busier when the calm run was measured.
                whole = whole * 0.7
            }
            process.waitUntilExit()
            let between = try await installed()
            #expect(between == old || between == new)
            let update = try await run("update")
            #expect(update.status == 0, "\(update.errors)")
            #expect(try await installed() == new)
            #expect(names("parts").isEmpty)
        }
        #expect(killed == count)
    }
}
