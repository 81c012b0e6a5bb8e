import Foundation
import GRDB
import Scheduling
import Testing
import Tiles
import Wire

@testable import Coordinator

/// Jobs that were forgotten are still listed, page by page and within a bound.
@Suite(.timeLimit(.minutes(15)))
struct HistoryTests {
    private func page(_ talker: Talker, _ question: PBListJobs) async throws -> PBJobs {
        guard case .jobs(let page) = try await talker.ask(.listJobs(question)) else { throw Talker.Silence() }
        return page
    }

    /// Every page of a question, and the numbers in them, newest first.
    private func pages(_ talker: Talker, _ question: PBListJobs) async throws -> (count: Int, jobs: [UInt64]) {
        var question = question
        var jobs: [UInt64] = []
        var count = 0
        repeat {
            let page = try await page(talker, question)
            jobs += page.jobs.map(\.job).reversed()
            question.before = page.next
            count += 1
        } while question.before != 0
        return (count, jobs)
    }

    @Test func aForgottenJobIsListedAndShownInSummary() async throws {
        let fixture = try Fixture { $0.keptJobs = 2 }
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            for number in 1...6 {
                var body = try Fixture.submission(request: "r\(number)", id: "P\(number)")
                body.label = "Größe \(number)"
                let job = try await talker.submit(body).job
                if number < 6 { _ = try await talker.ask(.cancelJob(.make { $0.job = job })) }
            }
            let deadline = ContinuousClock.now + .seconds(60)
            while try await page(talker, PBListJobs()).jobs.count(where: \.summary) < 3, ContinuousClock.now < deadline
            {}
            let all = try await page(talker, PBListJobs())
            #expect(all.jobs.map(\.job) == [1, 2, 3, 4, 5, 6] && all.next == 0)
            #expect(all.jobs.map(\.summary) == [true, true, true, false, false, false])
            for job in all.jobs {
                #expect(job.label == "Größe \(job.job)" && job.tiles == 21 && job.submittedMs > 1_000_000_000_000)
                #expect(job.packagesTotal == 1 && job.startedMs == 0)
                #expect((job.endedMs >= job.submittedMs) == (job.job < 6))
            }
            for limit in 1...4 {
                let (_, jobs) = try await pages(talker, .make { $0.limit = UInt32(limit) })
                #expect(jobs == [6, 5, 4, 3, 2, 1], "\(limit) at a time")
            }
            #expect(try await pages(talker, .make { $0.before = 5 }).jobs == [4, 3, 2, 1])
            #expect(try await pages(talker, .make { $0.states = ["cancelled"] }).jobs == [5, 4, 3, 2, 1])
            #expect(try await pages(talker, .make { $0.states = ["fetching", "done"] }).jobs == [6])
            #expect(try await pages(talker, .make { $0.label = "GRÖSSE 2" }).jobs.isEmpty)
            #expect(try await pages(talker, .make { $0.label = "GRÖßE 2" }).jobs == [2])
            #expect(try await pages(talker, .make { $0.sinceMs = all.jobs[1].submittedMs }).jobs.contains(1) == false)
            #expect(try await pages(talker, .make { $0.sinceMs = .max }).jobs.isEmpty)
            guard case .jobStatus(let old) = try await talker.ask(.getJob(.make { $0.job = 2 })) else {
                throw Talker.Silence()
            }
            #expect(old == all.jobs[1] && old.state == "cancelled" && old.reason == "cancelled by request")
            _ = try await talker.ask(.jobOrder(.make { ($0.job, $0.order) = (6, "pause") }))
            #expect(try await pages(talker, .make { $0.states = ["paused"] }).jobs == [6])
            #expect(try await talker.problem(.getJob(.make { $0.job = 7 })).code == "unknown-job")
        }
        let report = try await StateFile.check(fixture.options.data)
        #expect(report.jobs == 3 && report.forgotten == 3 && report.problems == [])
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            #expect(try await pages(talker, PBListJobs()).jobs == [6, 5, 4, 3, 2, 1])
        }
    }

    @Test func theFirstLeaseIsTheStart() async throws {
        let fixture = try Fixture()
        let times = try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let job = try await talker.submit(try Fixture.submission()).job
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await worker.work() }
                defer { group.cancelAll() }
                _ = try await talker.watch(job) { $0.state == "done" }
            }
            let status = try #require(try await page(talker, PBListJobs()).jobs.first)
            #expect(status.submittedMs > 0 && status.startedMs >= status.submittedMs)
            #expect(status.endedMs >= status.startedMs)
            return status.startedMs
        }
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let status = try #require(try await page(talker, PBListJobs()).jobs.first)
            #expect(abs(status.startedMs - times) < 5_000, "it is stored")
        }
    }

    /// A store with `count` forgotten jobs; one in `rare` is called rare.
    private func store(_ folder: URL, jobs count: Int64, rare: Int64) async throws -> StateStore {
        let store = try StateStore(folder: folder)
        try await store.perform { db in
            for id in 1...count {
                let status = PBJobStatus.make {
                    $0.job = UInt64(id)
                    $0.state = "done"
                    $0.label = id % rare == 0 ? "rare" : "often"
                    $0.submittedMs = id
                    $0.summary = true
                }
                try db.cachedStatement(sql: "INSERT INTO history VALUES (?, ?, ?, ?, ?)").execute(arguments: [
                    id, status.state, status.label, id, Data(try StateStore.encoded(status)),
                ])
                try db.cachedStatement(sql: "INSERT INTO event (wall, job, kind, data) VALUES (0, ?, ?, ?)")
                    .execute(arguments: [
                        id, EventKind.jobForgotten.rawValue,
                        Data(try ChangeCodec.encode(.forget(JobID(key: id)))),
                    ])
            }
            try db.execute(sql: "INSERT INTO sqlite_sequence (name, seq) VALUES ('job', ?)", arguments: [count])
        }
        return store
    }

    @Test func aQuestionLooksAtABoundedNumberOfJobsAndThePagesHoldAll() async throws {
        let fixture = try Fixture()
        let count: Int64 = 25_000
        await (try await store(fixture.options.data, jobs: count, rare: 24_999)).close()
        #expect(try await StateFile.check(fixture.options.data).problems == [])
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let rare = try await pages(talker, .make { $0.label = "rare" })
            #expect(rare.jobs == [24_999])
            #expect(rare.count == 3, "10,000 numbers a question")
            let (_, all) = try await pages(talker, .make { $0.limit = 1_000 })
            #expect(all == (1...UInt64(count)).reversed())
            // The next job's number follows those of the forgotten ones.
            #expect(try await talker.submit(try Fixture.submission()).job == UInt64(count) + 1)
            #expect(try await page(talker, .make { $0.limit = 2 }).jobs.map(\.job) == [25_000, 25_001])
        }
    }

    @Test func theHistoryIsBoundedAndCheckedAgainstTheLog() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "packhorse-history-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await store(folder, jobs: 5, rare: 2)
        try await store.perform { db in
            try db.execute(
                sql: "UPDATE sqlite_sequence SET seq = ? WHERE name = 'job'", arguments: [StateStore.historyJobs + 3])
        }
        // Any job that is forgotten takes the oldest summaries along.
        try await store.apply([.forget(99)], wall: 0)
        let page = try await store.history(before: JobID(.max), limit: 10, JobFilter())
        #expect(page.jobs.map(\.job) == [5, 4])
        let lines = try await store.events(after: 0, limit: 100, job: nil).events
        #expect(lines.map(\.job) == [4, 5, 99])
        #expect(try await store.historyProblems().problems == [])
        try await store.perform { try $0.execute(sql: "DELETE FROM event WHERE job = 4") }
        try await store.perform { try $0.execute(sql: "UPDATE history SET state = 'failed' WHERE id = 5") }
        #expect(try await store.historyProblems().problems.count == 2)
        await store.close()
    }
}
