import Digests
import Errors
import Foundation
import GRDB
import Scheduling
import Testing
import Tiles
import Wire

@testable import Coordinator

@Suite(.timeLimit(.minutes(15)))
struct EventLogTests {
    private func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "packhorse-log-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    private func submission(_ name: String) throws -> JobSubmission {
        let zooms = try #require(ZoomRange(min: 0, max: 3))
        let batches = (0..<4).compactMap { x in
            TileID(zoom: 2, x: x, y: 1).map { PlannedBatch(cell: $0, zooms: zooms, tiles: 5) }
        }
        return JobSubmission(
            requestID: name, allowedMissing: 0.5, batches: batches, packages: [Package(id: name, tiles: 20)],
            payload: [1, 2, 3])
    }

    /// A job with every kind of result: done batches, failed tiles, losses, a manual end; its log gives the same state
    /// as its tables.
    @Test func theLogReplaysToTheState() async throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try StateStore(folder: folder)
        var scheduler = Scheduler(epoch: store.epoch, now: Tick(milliseconds: 0))
        var writes: [StoreWrite] = []
        var offers: [Offer] = []
        var clock: Int64 = 0
        func feed(_ event: Event) {
            clock += 10
            for effect in scheduler.handle(event, now: Tick(milliseconds: clock)) {
                switch effect {
                case .store(let write): writes.append(write)
                case .send(_, .offer(let offer)): offers.append(offer)
                default: break
                }
            }
        }
        let profile = SessionProfile(
            name: "w", host: "h", processID: 1, build: "b", canFetch: true, canMerge: true)
        feed(.hello(7, profile, held: []))
        feed(.submit(try submission("a")))
        feed(.submit(try submission("b")))
        feed(.ready(7, credit: 3))
        let taken = offers
        #expect(taken.count == 3)
        let digest = try #require(Digest(bytes: (0..<32).map { UInt8($0) }))
        let tile = try #require(TileID(zoom: 2, x: 0, y: 1))
        feed(
            .commit(
                7, taken[0].token,
                .fetch(
                    digest, FetchCounts(stored: 3, empty: 1, failed: 1, bodyBytes: 99, shardBytes: 50, footer: digest),
                    failures: [FailedTile(tile: tile, trouble: Trouble(cause: "bad-mvt", detail: "torn"))])))
        feed(.fail(7, taken[1].token, Trouble(cause: "timeout", detail: "slow"), retriable: true))
        feed(.cancel(2))
        try await store.apply(writes, wall: 1_000)

        let kept = try await store.load()
        let replayed = try await store.replay()
        #expect(kept.jobs.count == 2)
        #expect(StateFile.differences(kept.jobs, replayed) == [])
        #expect(replayed.failures[1]?.values.first?.first?.trouble.cause == "bad-mvt")

        // What is rolled up, and what is lost, still agrees.
        try await store.markReleased(2)
        #expect(StateFile.differences(try await store.load().jobs, try await store.replay()) == [])
        let lines = try await store.events(after: 0, limit: 100, job: 1)
        #expect(lines.events.first?.kind == "job-inserted")
        #expect(lines.events.contains { $0.text.contains("3 stored, 1 empty, 1 failed") })
        #expect(lines.events.map(\.seq) == lines.events.map(\.seq).sorted())
        #expect(try await store.events(after: lines.last, limit: 10, job: nil).events.isEmpty)

        // As many lines as are asked for, whatever lines are gone: the numbers have gaps since the job's lines were rolled up.
        let whole = try await store.events(after: 0, limit: 100, job: nil).events.map(\.seq)
        #expect(UInt64(whole.count) < lines.last)
        for count in 1...whole.count + 1 {
            let newest = try await store.events(after: .max, newest: count, limit: 100, job: nil).events.map(\.seq)
            #expect(newest == Array(whole.suffix(count)))
        }
        let own = try await store.events(after: 0, newest: 3, limit: 100, job: 1).events
        #expect(own.map(\.seq) == lines.events.suffix(3).map(\.seq))
        let submitted = try await store.events(after: 0, limit: 100, job: nil).events.map(\.text).filter {
            $0.contains("submitted")
        }
        #expect(submitted.count == 2 && submitted.allSatisfy { $0.contains("20 tiles in 4 batches") }, "\(submitted)")

        // A state that was changed behind the log's back is found.
        try await store.perform { try $0.execute(sql: "UPDATE batch SET attempts = 3 WHERE job = 1 AND idx = 0") }
        #expect(StateFile.differences(try await store.load().jobs, try await store.replay()).count == 1)
        await store.close()
    }

    /// Changes are committed between the slices of a backup, and the backup has the state of one moment.
    @Test func aBackupOfAChangingStateIsWhole() async throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try StateStore(folder: folder)
        let isOver = Flag()
        let backup = try await withThrowingTaskGroup(of: URL?.self) { group in
            group.addTask {
                defer { isOver.set() }
                return try await store.backUp(
                    named: "one", into: folder.appending(path: "backups"), wall: 0, pages: 1)
            }
            group.addTask {
                var scheduler = Scheduler(epoch: store.epoch, now: Tick(milliseconds: 0))
                repeat {
                    let next = try submission(UUID().uuidString)
                    let effects = scheduler.handle(.submit(next), now: Tick(milliseconds: 0))
                    let writes = effects.compactMap { if case .store(let write) = $0 { write } else { nil } }
                    try await store.apply(writes, wall: 5)
                } while !isOver.isSet
                return nil
            }
            var made: URL?
            while let next = try await group.next() { made = next ?? made }
            return try #require(made)
        }
        let jobs = try await store.load().jobs.count
        await store.close()
        _ = try await StateFile.restore(backup, into: folder)
        let report = try await StateFile.check(folder)
        #expect(report.problems == [])
        #expect(report.jobs <= jobs)
        let left = try FileManager.default.contentsOfDirectory(atPath: backup.deletingLastPathComponent().path)
        #expect(left == ["one.sqlite"])
    }

    @Test func aBackupIsWholeAndRestoringItJumpsTheEpoch() async throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try StateStore(folder: folder)
        var scheduler = Scheduler(epoch: store.epoch, now: Tick(milliseconds: 0))
        func submit(_ name: String) async throws {
            let effects = scheduler.handle(.submit(try submission(name)), now: Tick(milliseconds: 0))
            let writes = effects.compactMap { if case .store(let write) = $0 { write } else { nil } }
            try await store.apply(writes, wall: 5)
        }
        try await submit("before")
        let backups = folder.appending(path: "backups")
        let backup = try await store.backUp(named: "one", into: backups, wall: 0)
        try await submit("after")
        await #expect(throws: CoordinatorError.self) { try await store.backUp(named: "one", into: backups, wall: 0) }
        await #expect(throws: CoordinatorError.self) { try await store.backUp(named: "../x", into: backups, wall: 0) }
        let unnamed = [
            try await store.backUp(named: "", into: backups, wall: 0),
            try await store.backUp(named: "", into: backups, wall: 0),
        ]
        #expect(unnamed[0] != unnamed[1] && unnamed[1].path.hasSuffix("-2.sqlite"))
        let epoch = store.epoch
        await #expect(throws: CoordinatorError.self) { try await StateFile.restore(backup, into: folder) }
        await store.close()

        #expect(try await StateFile.check(folder).jobs == 2)
        let former = try await StateFile.restore(backup, into: folder)
        #expect(former.map { FileManager.default.fileExists(atPath: $0.path) } == true)
        let second = try await StateFile.restore(backup, into: folder)
        #expect(second != former, "two in one second are kept both")
        let report = try await StateFile.check(folder)
        #expect(report.jobs == 1)
        #expect(report.problems == [])
        let restored = try StateStore(folder: folder)
        #expect(restored.epoch > epoch + 1_000)
        await restored.close()

        try Data("not a database at all, but long enough to look at".utf8).write(
            to: backups.appending(path: "bad.sqlite"))
        let error = await #expect(throws: CoordinatorError.self) {
            try await StateFile.restore(backups.appending(path: "bad.sqlite"), into: folder)
        }
        #expect(error?.code == .damagedState && error?.message.contains("backups/bad.sqlite") == true)
        #expect(try await StateFile.check(folder).jobs == 1, "a damaged backup replaces nothing")
        let fresh = backups.appending(path: "fresh")
        await #expect(throws: CoordinatorError.self) {
            try await StateFile.restore(backups.appending(path: "bad.sqlite"), into: fresh)
        }
        #expect(!FileManager.default.fileExists(atPath: fresh.path), "and leaves no folder")
    }
}
