import Foundation
import GRDB
import Scheduling
import TestSupport
import Testing
import Tilesets
import Wire

@testable import Coordinator

/// Firings of schedules whose source has a new address with each build: a real coordinator and a real server.
@Suite(.timeLimit(.minutes(15)))
struct NewestBuildServiceTests {
    private static func index(_ names: [String]) -> String {
        "[" + names.map { #"{"key":"\#($0).pmtiles"}"# }.joined(separator: ",") + "]"
    }

    /// A schedule over the newest build of an index.
    private static func schedule(_ server: BuildServer) throws -> PBSchedule {
        var submission = try Fixture.submission()
        submission.latest =
            #"{"id":"demo","latest":{"index":"\#(server.url)/builds.json","url":"\#(server.url)/{build}"}}"#
        let frame = try Frame(session: 1, seq: 0, .submit(submission)).encoded()
        return PBSchedule.make {
            $0.id = "newest"
            $0.every = "hourly 0"
            $0.submission = Data(frame)
        }
    }

    /// Makes the schedule due so many hours ago: each time at another instant, whose name no job has.
    private func makeDue(_ fixture: Fixture, hours: Int) async throws {
        let store = try StateStore(folder: fixture.options.data)
        try await store.perform { try $0.execute(sql: "UPDATE schedule SET next = next - \(hours) * 3600 * 1000") }
        await store.close()
    }

    private func schedule(_ talker: Talker) async throws -> PBSchedule {
        guard case .schedules(let list) = try await talker.ask(.listSchedules(PBListSchedules())) else {
            throw Talker.Silence()
        }
        return try #require(list.schedules.first)
    }

    private func jobs(_ talker: Talker) async throws -> [PBJobStatus] {
        guard case .jobs(let jobs) = try await talker.ask(.listJobs(PBListJobs())) else { throw Talker.Silence() }
        return jobs.jobs
    }

    private func finish(_ job: UInt64, _ service: CoordinatorService, _ fixture: Fixture) async throws -> PBJobStatus {
        let talker = try Talker(service.controlEndpoint)
        let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await worker.work() }
            defer { group.cancelAll() }
            return try await talker.watch(job) { ["done", "failed", "cancelled"].contains($0.state) }
        }
    }

    @Test func aFiringTakesTheNewestBuildAndEndsWithoutOne() async throws {
        let server = try BuildServer()
        defer { server.stop() }
        let fixture = try Fixture()
        server.put("/20261123.pmtiles", SampleArchive.bytes(layer: "old"))
        server.put("/builds.json", Self.index(["20261123"]))
        let wanted = try Self.schedule(server)
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            _ = try await talker.ask(.putSchedule(.make { $0.schedule = wanted }))
        }
        try await makeDue(fixture, hours: 100)
        try await fixture.withCoordinator { service in
            let status = try await finish(1, service, fixture)
            #expect(status.state == "done" && status.sourceBuild == "20261123" && status.dataDate == "2026-11-23")
            #expect(status.sourceURL == "\(server.url)/20261123.pmtiles" && status.sourceVersion.contains("ETag"))
            let index = try String(
                contentsOf: fixture.options.catalog.appending(path: "catalog.json"), encoding: .utf8)
            #expect(index.contains("source_build") && index.contains("2026-11-23"), "\(index)")
        }
        // Nothing new: the index and one header, and no job.
        try await makeDue(fixture, hours: 90)
        let before = server.requests.count
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            try await Eventually.holds("the firing ends") { try await schedule(talker).unchanged == 1 }
            let state = try await schedule(talker)
            #expect(state.fired == 1 && state.skipped == 0 && state.lastJob == 1 && state.unchangedMs > 0)
            #expect(state.sourceBuild == "20261123" && state.nextMs > 0)
            #expect(try await jobs(talker).count == 1)
        }
        #expect(server.requests.dropFirst(before).map(\.path) == ["/builds.json", "/20261123.pmtiles"])
        // A new build: a job again.
        server.put("/20261130.pmtiles", SampleArchive.bytes(layer: "new"))
        server.put("/builds.json", Self.index(["20261123", "20261130"]))
        try await makeDue(fixture, hours: 80)
        try await fixture.withCoordinator { service in
            let status = try await finish(2, service, fixture)
            #expect(status.state == "done" && status.sourceBuild == "20261130")
            let state = try await schedule(try Talker(service.controlEndpoint))
            #expect(state.fired == 2 && state.unchanged == 1 && state.unchangedMs == 0)
        }
    }

    @Test func aFiringWhoseIndexIsGoneIsRepeatedLater() async throws {
        let server = try BuildServer()
        defer { server.stop() }
        let fixture = try Fixture()
        let wanted = try Self.schedule(server)
        try await fixture.withCoordinator { service in
            _ = try await Talker(service.controlEndpoint).ask(.putSchedule(.make { $0.schedule = wanted }))
        }
        // Due a minute ago, so the day of attempts is not over.
        let store = try StateStore(folder: fixture.options.data)
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        try await store.perform { try $0.execute(sql: "UPDATE schedule SET next = \(now - 60_000)") }
        await store.close()
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            try await Eventually.holds("the health tells") {
                guard case .health(let health) = try await talker.ask(.ping(PBPing())) else { return false }
                return health.findings.contains {
                    $0.code == "schedule-failed" && $0.text.contains("document of builds answered 404")
                }
            }
            #expect(try await jobs(talker).isEmpty)
            let asked = server.requests.count
            #expect(asked >= 1)
            // By hand it is asked at once, and the answer is its own.
            let refused = try await talker.problem(.submit(.make { $0.schedule = "newest" }))
            #expect(refused.text.contains("answered 404"), "\(refused.text)")
            #expect(try await schedule(talker).skipped == 0)
        }
    }

    @Test func attemptsAreRarerAndRarer() {
        var lookups = FailedLookups()
        let trouble = Trouble(cause: "origin-unreachable", detail: "no answer")
        var now = Tick(milliseconds: 0)
        var pauses: [Int64] = []
        for _ in 0..<9 {
            lookups.fail("a", trouble, now: now)
            var pause: Int64 = 0
            while lookups.trouble(of: "a", now: now + pause) != nil { pause += 60_000 }
            pauses.append(pause / 60_000)
            now = now + pause
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60])
        lookups.end("a")
        #expect(lookups.trouble(of: "a", now: now) == nil)
    }
}
