import Errors
import Foundation
import GRDB
import Logging
import Notifications
import Scheduling
import Testing
import Wire

@testable import Coordinator

/// A disk can change any byte of the state file: every reader says so in the same way, and none traps.
@Suite(.timeLimit(.minutes(15)))
struct DamagedStateTests {
    /// The state of a coordinator with an ended job, a failed one and an open one.
    private func state(of fixture: Fixture) async throws -> URL {
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await worker.work() }
                defer { group.cancelAll() }
                for id in ["P0", "P1"] {
                    let job = try await talker.submit(try Fixture.submission(request: id, id: id)).job
                    _ = try await talker.watch(job) { $0.state == "done" }
                }
            }
            _ = try await talker.submit(try Fixture.submission(request: "open", id: "P2", zooms: 10...13, side: 4))
        }
        return fixture.options.data.appending(path: "state.sqlite")
    }

    /// Everything that a coordinator and `state check` read; the error that ended it.
    private func readAll(_ folder: URL) async -> (any Error)? {
        do {
            _ = try await StateFile.check(folder)
            let store = try StateStore(folder: folder)
            do {
                _ = try await InheritedState.load(store)
                _ = try await store.events(after: 0, limit: 10_000, job: nil)
                _ = try await StateNotifications(store: store, catalogs: .test()).notifications(
                    after: 0, kinds: [.jobDone, .packagePublished], limit: 1_000)
                await store.close()
            } catch {
                await store.close()
                return error
            }
            return nil
        } catch {
            return error
        }
    }

    @Test func aFlippedByteIsDamageWithANameOrHarmless() async throws {
        let fixture = try Fixture()
        let file = try await state(of: fixture)
        let whole = try Data(contentsOf: file)
        var random = Randomness(state: 909)
        var found = 0
        for _ in 0..<400 {
            var bytes = whole
            for _ in 0..<[1, 4, 64][Int.random(in: 0...2, using: &random)] {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
            }
            for suffix in ["-wal", "-shm", "-journal"] { unlink(file.path + suffix) }
            try bytes.write(to: file)
            guard let error = await readAll(file.deletingLastPathComponent()) else { continue }
            found += 1
            let damage = try #require(error as? CoordinatorError, "\(error)")
            // A flipped name of a migration can look like another version.
            #expect([.damagedState, .newerState, .unreleasedState].contains(damage.code), "\(damage)")
            guard damage.code == .damagedState else { continue }
            #expect(damage.message.contains("'\(file.path)'"), "\(damage)")
            #expect(damage.hint?.contains("packhorse state check --data") == true, "\(damage)")
            #expect(damage.hint?.contains("packhorse state restore FILE") == true, "\(damage)")
        }
        #expect(found > 20, "the bytes that were flipped are read: \(found)")
    }

    /// Seed 909 of `make chaos`: the line of the event log is read when somebody asks for it, long after the start.
    @Test func aDamagedLineOfTheEventLogEndsTheCoordinatorWithItsName() async throws {
        let fixture = try Fixture()
        let file = try await state(of: fixture)
        let edited = try DatabaseQueue(path: file.path)
        try await edited.write {
            try $0.execute(sql: "UPDATE event SET data = x'FFFFFFFF' WHERE seq = (SELECT max(seq) FROM event)")
        }
        try edited.close()
        let error = await #expect(throws: CoordinatorError.self) {
            try await fixture.withCoordinatorUntilItsEnd { service in
                let talker = try Talker(service.controlEndpoint)
                let problem = try await talker.problem(.getEvents(.make { $0.limit = 100 }))
                #expect(problem.code == "damaged-state" && problem.text.contains(file.path), "\(problem)")
            }
        }
        #expect(error?.code == .damagedState && error?.exitStatus == .badData, "\(String(describing: error))")
        #expect(error?.message.contains("'\(file.path)' is damaged") == true, "\(String(describing: error))")
        #expect(error?.hint?.contains("state check") == true && error?.hint?.contains("state restore") == true)
    }

    /// A value of another type, which the file's check at the start cannot see later, does not end the process.
    @Test func aColumnOfAnotherTypeIsDamage() async throws {
        let fixture = try Fixture()
        let file = try await state(of: fixture)
        let edited = try DatabaseQueue(path: file.path)
        try await edited.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA writable_schema = ON")
            try db.execute(sql: "UPDATE sqlite_master SET sql = replace(sql, ') STRICT', ')') WHERE name = 'event'")
            try db.execute(sql: "PRAGMA writable_schema = RESET")
        }
        try edited.close()
        let other = try DatabaseQueue(path: file.path)
        try await other.write { try $0.execute(sql: "UPDATE event SET job = 'a text', kind = x'00', wall = 'b'") }
        try other.close()
        let error = try #require(await readAll(file.deletingLastPathComponent()) as? CoordinatorError)
        #expect(error.code == .damagedState, "\(error)")
    }
}

/// SplitMix64.
private struct Randomness: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension Fixture {
    /// Runs a coordinator until it ends by itself.
    ///
    /// - Throws: Its error.
    func withCoordinatorUntilItsEnd(_ body: @escaping @Sendable (CoordinatorService) async throws -> Void) async throws
    {
        let service = try CoordinatorService(options, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await service.run() }
            group.addTask {
                try await body(service)
                try await Task.sleep(for: .seconds(60))
                Issue.record("the coordinator goes on")
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
