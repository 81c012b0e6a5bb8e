import Foundation
import GRDB
import Scheduling
import Testing
import Wire

@testable import Coordinator

/// A forgotten job is gone at once; its rows are removed in slices, also after a crash.
@Suite(.timeLimit(.minutes(15)))
struct ForgottenJobTests {
    /// The folders of a stopped coordinator with one ended job, all of whose batches have failed.
    private func fixture() async throws -> Fixture {
        let fixture = try Fixture { $0.keepShards = true }
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let job = try await talker.submit(try Fixture.submission(request: "one", side: 8)).job
            _ = try await talker.ask(.cancelJob(.make { $0.job = job }))
        }
        try await fixture.failAllBatches()
        return fixture
    }

    /// Every copy is what a crash at that moment leaves: the file and its write-ahead log.
    @Test func aCrashBetweenTwoSlicesNeitherLosesNorRestoresTheJob() async throws {
        let fixture = try await fixture()
        let store = try StateStore(folder: fixture.options.data)
        let rows = try await store.rows(of: 1)
        #expect(rows.allSatisfy { $0 > 0 })
        try await store.apply([.forget(1)], wall: 2)
        #expect(try await store.rows(of: 1) == rows, "the write that forgets the job removes no row")
        var slices = 0
        repeat {
            let crashed = fixture.folder.appending(path: "crash-\(slices)")
            try FileManager.default.copyItem(at: fixture.options.data, to: crashed)
            let report = try await StateFile.check(crashed)
            #expect(report.jobs == 0 && report.forgotten == 1 && report.problems == [], "after \(slices) slices")
            let copy = try StateStore(folder: crashed)
            #expect(try await copy.load().jobs.isEmpty)
            #expect(try await copy.history(of: 1)?.state == "cancelled")
            #expect(try await copy.failedWork(StateStore.FailedPlace(job: 0), limit: 10, named: 1).isEmpty)
            try await copy.removeForgottenJobs()
            #expect(try await copy.rows(of: 1).allSatisfy { $0 == 0 })
            #expect(try await copy.events(after: 0, limit: 10, job: 1).events.map(\.kind) == ["job-forgotten"])
            await copy.close()
            slices += 1
        } while try await store.removeForgottenSlice(most: 20)
        #expect(slices > 5)
        await store.close()
    }

    @Test func theNextStartRemovesTheRest() async throws {
        let fixture = try await fixture()
        let store = try StateStore(folder: fixture.options.data)
        try await store.apply([.forget(1)], wall: 2)
        _ = try await store.removeForgottenSlice(most: 20)
        await store.close()
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            guard case .jobStatus(let old) = try await talker.ask(.getJob(.make { $0.job = 1 })) else {
                throw Talker.Silence()
            }
            #expect(old.summary && old.state == "cancelled")
            #expect(try await talker.submit(try Fixture.submission(request: "one")).job == 2, "its request id is free")
            while try await service.environment.store.rows(of: 1) != [0, 0, 0, 0, 0, 0] {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        #expect(try await StateFile.check(fixture.options.data).problems == [])
    }

    /// Beyond the limit of the history nothing but the summary keeps a job from its return, until its rows are gone.
    @Test func theSummaryStaysUntilTheRowsAreGone() async throws {
        let fixture = try await fixture()
        let store = try StateStore(folder: fixture.options.data)
        try await store.perform { db in
            try db.execute(
                sql: "UPDATE sqlite_sequence SET seq = ? WHERE name = 'job'", arguments: [StateStore.historyJobs + 3])
        }
        try await store.apply([.forget(1)], wall: 2)
        #expect(try await store.history(of: 1) != nil)
        try await store.removeForgottenJobs(most: 20)
        #expect(try await store.history(of: 1) == nil)
        #expect(try await store.events(after: 0, limit: 10, job: 1).events.isEmpty)
        #expect(try await store.replay().jobs.isEmpty)
        await store.close()
    }
}
