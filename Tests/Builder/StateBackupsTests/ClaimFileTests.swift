import Errors
import Foundation
import Testing

@testable import StateBackups

/// The claim in a folder that a coordinator and its successor share.
@Suite(.timeLimit(.minutes(15))) struct ClaimFileTests {
    private static func file(_ url: URL, epoch: UInt32, lineage: UInt64 = 5) -> ClaimFile {
        ClaimFile(url, own: PlaceClaim(epoch: epoch, run: 1, lineage: lineage))
    }

    private static func code(_ body: () throws -> Void) -> BackupErrorCode? {
        do { try body() } catch { return (error as? BackupError)?.code }
        return nil
    }

    @Test func aHigherClaimReplacesALowerOne() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "claim-\(UUID().uuidString)")
        defer { unlink(url.path) }
        let (old, new) = (Self.file(url, epoch: 3), Self.file(url, epoch: 1_004))
        try old.check()
        try old.announce()
        try old.check()
        try new.announce()
        try new.check()
        #expect(Self.code { try old.check() } == .replaced)
        #expect(Self.code { try old.announce() } == .replaced)
        #expect(throws: Never.self) { try new.check() }
        // A state that was made from nothing takes the folder over, and does not end the other one.
        try Self.file(url, epoch: 1, lineage: 6).announce()
        try new.check()
        try Data("not a claim, and longer than one is: \(String(repeating: "x", count: 300))".utf8).write(to: url)
        try old.check()
    }

    /// A frozen coordinator keeps its lock; its successor must not wait for ever.
    @Test func aChangeThatIsUnderWayIsWaitedForNotForEver() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "claim-\(UUID().uuidString)")
        defer { unlink(url.path) }
        let handle = open(url.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        defer { close(handle) }
        #expect(flock(handle, LOCK_EX) == 0)
        try Self.file(url, epoch: 1_004).announce(within: .milliseconds(50))
        #expect(Self.code { try Self.file(url, epoch: 3).check() } == .replaced)
    }
}
