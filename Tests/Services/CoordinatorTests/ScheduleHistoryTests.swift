import Foundation
import GRDB
import Notifications
import Scheduling
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Coordinator

/// The history of a schedule, and what follows a firing that failed: a real coordinator and its state file.
@Suite(.timeLimit(.minutes(15)))
struct ScheduleHistoryTests {
    private static func wanted(retry: String) throws -> PBSchedule {
        let frame = try Frame(session: 1, seq: 0, .submit(try Fixture.submission())).encoded()
        return PBSchedule.make {
            $0.id = "monthly"
            $0.every = "hourly 0"
            $0.retry = retry
            $0.submission = Data(frame)
        }
    }

    private func change(_ fixture: Fixture, _ sql: String) async throws {
        let store = try StateStore(folder: fixture.options.data)
        try await store.perform { try $0.execute(sql: sql) }
        await store.close()
    }

    private func detail(_ talker: Talker) async throws -> PBScheduleDetail {
        guard case .scheduleDetail(let answer) = try await talker.ask(.getSchedule(.make { $0.id = "monthly" })) else {
            throw Talker.Silence()
        }
        return answer
    }

    private func add(_ fixture: Fixture, retry: String) async throws {
        let wanted = try Self.wanted(retry: retry)
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            _ = try await talker.ask(.putSchedule(.make { $0.schedule = wanted }))
            #expect(try await detail(talker).schedule.retry == retry)
            #expect(try await detail(talker).firings.isEmpty)
            let unknown = try await talker.problem(.getSchedule(.make { $0.id = "weekly" }))
            #expect(unknown.code == "unknown-schedule")
        }
    }

    @Test func theEndOfAJobIsInTheHistoryAfterARestart() async throws {
        let fixture = try Fixture()
        try await add(fixture, retry: "")
        try await change(fixture, "UPDATE schedule SET next = next - 100 * 3600 * 1000")
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
            let status = try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await worker.work() }
                defer { group.cancelAll() }
                return try await talker.watch(1) { ["done", "failed", "cancelled"].contains($0.state) }
            }
            #expect(status.state == "done", "\(status.reason)")
            let ran = try await talker.submit(.make { $0.schedule = "monthly" })
            #expect(try await detail(talker).firings.map(\.result) == ["running", "published"])
            _ = try await talker.ask(.cancelJob(.make { $0.job = ran.job }))
        }
        try await fixture.withCoordinator { service in
            let firings = try await detail(try Talker(service.controlEndpoint)).firings
            #expect(firings.map(\.number) == [2, 1] && firings.map(\.job) == [2, 1])
            #expect(firings.map(\.startedBy) == ["hand", "rule"])
            #expect(firings.map(\.result) == ["cancelled", "published"])
            #expect(firings[0].dueMs == 0 && firings[1].dueMs > 0 && firings[1].atMs > firings[1].dueMs)
        }
        #expect(try await StateFile.check(fixture.options.data).problems == [])
    }

    @Test func aFiringThatFailsIsTriedAgainAndThenThereIsOneNotification() async throws {
        let fixture = try Fixture()
        try await add(fixture, retry: "2,1m")
        // The stored submission cannot be read. Nothing of the rule is due before the attempts are over.
        try await change(
            fixture,
            "UPDATE schedule SET next = next - 100 * 3600 * 1000, every = 'monthly 31 00:00', spec = x'00'")
        for attempt in 1...3 {
            try await fixture.withCoordinator { service in
                let talker = try Talker(service.controlEndpoint)
                let found = try await Eventually.get("attempt \(attempt) failed") {
                    let found = try await detail(talker)
                    return found.firings.count == attempt ? found : nil
                }
                #expect(found.firings.first?.result == "failed" && found.firings.first?.cause == "bad-request")
                #expect(found.firings.first?.startedBy == (attempt == 1 ? "rule" : "retry"))
                #expect(found.schedule.failures == (attempt < 3 ? UInt32(attempt) : 0))
                #expect((found.schedule.retryMs > 0) == (attempt < 3))
                guard case .health(let health) = try await talker.ask(.ping(PBPing())),
                    case .events(let events) = try await talker.ask(.getEvents(.make { $0.notifications = true }))
                else { throw Talker.Silence() }
                #expect(health.findings.contains { $0.code == "schedule-failed" } == (attempt == 3))
                let sent = try events.events.map { try EventNotification(json: $0.notification) }
                #expect(sent.map(\.kind) == (attempt == 3 ? ["schedule-failed"] : []))
                #expect(sent.allSatisfy { $0.schedule == "monthly" && $0.reason?.hasPrefix("bad-request: ") == true })
            }
            try await change(fixture, "UPDATE schedule SET retry_at = retry_at - 60 * 60 * 1000 WHERE retry_at > 0")
        }
    }

    /// The files are read at the firing; one that is wrong is in the history, and the stored submission stays.
    @Test func aFiringWithAWrongFileFailsAndNamesIt() async throws {
        let isWrong = Atomic<Bool>(false)
        let fixture = try Fixture { options in
            options.readFiles = { stored in
                guard isWrong.load(ordering: .relaxed) else { return .success(stored) }
                return .failure(ScheduleFileProblem(text: "'maps.yaml' entry 2: unknown key", hint: ""))
            }
        }
        var submission = try Fixture.submission()
        submission.follows.packages = "/srv/maps.yaml"
        let frame = try Frame(session: 1, seq: 0, .submit(submission)).encoded()
        let wanted = PBSchedule.make {
            $0.id = "monthly"
            $0.every = "hourly 0"
            $0.submission = Data(frame)
        }
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            isWrong.store(true, ordering: .relaxed)
            let refused = try await talker.problem(.putSchedule(.make { $0.schedule = wanted }))
            #expect(refused.code == "bad-file" && refused.text.contains("entry 2"), "\(refused.text)")
            isWrong.store(false, ordering: .relaxed)
            _ = try await talker.ask(.putSchedule(.make { $0.schedule = wanted }))
        }
        try await change(fixture, "UPDATE schedule SET next = next - 100 * 3600 * 1000")
        isWrong.store(true, ordering: .relaxed)
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let firing = try await Eventually.get("the firing fails") { try await detail(talker).firings.first }
            #expect(firing.result == "failed" && firing.cause == "bad-file" && firing.job == 0)
            #expect(firing.detail == "'maps.yaml' entry 2: unknown key")
            isWrong.store(false, ordering: .relaxed)
            #expect(try await talker.submit(.make { $0.schedule = "monthly" }).job == 1)
        }
    }

    /// A run by hand with a wrong file is in the history, and the answer does not say that it may work later.
    @Test func aRunByHandWithAWrongFileIsInTheHistory() async throws {
        let isWrong = Atomic<Bool>(false)
        let fixture = try Fixture { options in
            options.readFiles = { stored in
                guard isWrong.load(ordering: .relaxed) else { return .success(stored) }
                return .failure(ScheduleFileProblem(text: "'maps.yaml' entry 2: unknown key", hint: "mend it"))
            }
        }
        var wanted = try Self.wanted(retry: "2,1m")
        var submission = try Fixture.submission()
        submission.follows.packages = "/srv/maps.yaml"
        wanted.submission = Data(try Frame(session: 1, seq: 0, .submit(submission)).encoded())
        try await fixture.withCoordinator { [wanted] service in
            let talker = try Talker(service.controlEndpoint)
            _ = try await talker.ask(.putSchedule(.make { $0.schedule = wanted }))
            isWrong.store(true, ordering: .relaxed)
            let refused = try await talker.problem(.submit(.make { $0.schedule = "monthly" }))
            #expect(refused.code == "bad-file" && !refused.retriable, "\(refused)")
        }
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let found = try await detail(talker)
            #expect(found.firings.map(\.startedBy) == ["hand"] && found.firings.map(\.result) == ["failed"])
            #expect(found.firings.first?.detail == "'maps.yaml' entry 2: unknown key; mend it")
            #expect(found.schedule.cause == "bad-file" && found.schedule.failures == 0 && found.schedule.skipped == 0)
            #expect(found.schedule.packagesFile == "/srv/maps.yaml")
        }
    }

    @Test func someOfAScheduleCanBeChanged() async throws {
        let fixture = try Fixture { options in
            options.readFiles = { stored in
                var body = stored
                body.label = "read again"
                return .success(body)
            }
        }
        try await add(fixture, retry: "2,1m")
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            func edit(_ change: (inout PBScheduleEdit) -> Void) -> Message {
                var edit = PBScheduleEdit()
                change(&edit)
                return .scheduleOrder(
                    .make {
                        $0.order = "edit"
                        $0.id = "monthly"
                        $0.edit = edit
                    })
            }
            func edited(_ change: (inout PBScheduleEdit) -> Void) async throws -> PBSchedule {
                guard case .ordered = try await talker.ask(edit(change)) else { throw Talker.Silence() }
                return try await detail(talker).schedule
            }
            #expect(try await edited { $0.timeZone = "Asia/Kolkata" }.every == "hourly 0 Asia/Kolkata")
            #expect(try await edited { $0.jitter = "30m" }.every == "hourly 0 Asia/Kolkata jitter 30m")
            let times = try await edited { $0.times = "daily 04:00" }
            #expect(times.every == "daily 04:00 Asia/Kolkata jitter 30m" && times.retry == "2,1m")
            let bare = try await edited {
                ($0.timeZone, $0.jitter, $0.retry) = ("UTC", "none", "none")
            }
            #expect(bare.every == "daily 04:00" && bare.retry.isEmpty)
            let following = try await edited { $0.packages = "/srv/maps.yaml" }
            #expect(following.packagesFile == "/srv/maps.yaml" && following.tilesetFile.isEmpty)
            #expect(try await edited { $0.tileset = "/srv/tiles.yaml" }.packagesFile == "/srv/maps.yaml")
            let fixed = try await edited { $0.unfollows = true }
            #expect(fixed.packagesFile.isEmpty && fixed.tilesetFile.isEmpty)
            #expect(try await edited { $0.labels = ["gpu-free", "big"] }.labels == ["big", "gpu-free"])
            #expect(try await edited { $0.retry = "none" }.labels.count == 2, "labels stay when others change")
            #expect(try await edited { $0.unlabelled = true }.labels.isEmpty)
            let ran = try await talker.submit(.make { $0.schedule = "monthly" })
            guard case .jobStatus(let job) = try await talker.ask(.getJob(.make { $0.job = ran.job })) else {
                throw Talker.Silence()
            }
            #expect(job.label == "read again", "what the files said stays")
            let wrong = try await talker.problem(edit { $0.times = "now and then" })
            #expect(wrong.code == "bad-schedule")
            let nowhere = try await talker.problem(edit { $0.catalog = "elsewhere" })
            #expect(nowhere.text.contains("elsewhere"), "\(nowhere)")
            let unknown = try await talker.problem(
                .scheduleOrder(
                    .make {
                        $0.order = "edit"
                        $0.id = "weekly"
                    }))
            #expect(unknown.code == "unknown-schedule")
        }
        #expect(try await StateFile.check(fixture.options.data).problems == [])
    }

    /// Two commands read a schedule and change it: the second one is refused, and what the first one changed stays.
    @Test func theSecondOfTwoChangesIsRefused() async throws {
        let fixture = try Fixture()
        try await add(fixture, retry: "2,1m")
        @Sendable func edit(_ revision: UInt64, _ change: (inout PBScheduleEdit) -> Void) -> Message {
            .scheduleOrder(
                .make {
                    ($0.order, $0.id, $0.edit.revision) = ("edit", "monthly", revision)
                    change(&$0.edit)
                })
        }
        let stale = try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let read = try await detail(talker).schedule.revision
            guard case .ordered = try await talker.ask(edit(read) { $0.jitter = "30m" }) else { throw Talker.Silence() }
            let refused = try await talker.problem(edit(read) { $0.times = "daily 04:00" })
            #expect(refused.code == "schedule-changed" && refused.hint.contains("schedule show monthly"), "\(refused)")
            let now = try await detail(talker).schedule
            #expect(now.every == "hourly 0 jitter 30m" && now.revision > read)
            // A pause is no change of what the schedule says.
            _ = try await talker.ask(.scheduleOrder(.make { ($0.order, $0.id) = ("pause", "monthly") }))
            #expect(try await detail(talker).schedule.revision == now.revision)
            return now.revision
        }
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            #expect(try await detail(talker).schedule.revision == stale, "it is durable")
            // A schedule that was removed and added again is another one.
            _ = try await talker.ask(.scheduleOrder(.make { ($0.order, $0.id) = ("drop", "monthly") }))
            _ = try await talker.ask(.putSchedule(.make { $0.schedule = try Self.wanted(retry: "") }))
            let refused = try await talker.problem(edit(stale) { $0.times = "daily 04:00" })
            #expect(refused.code == "schedule-changed")
            // Without a revision nothing is compared.
            guard case .ordered = try await talker.ask(edit(0) { $0.times = "daily 04:00" }) else {
                throw Talker.Silence()
            }
        }
        #expect(try await StateFile.check(fixture.options.data).problems == [])
    }

    @Test func aHistoryHasAHundredRowsAndGoesWithItsSchedule() async throws {
        let fixture = try Fixture()
        try await add(fixture, retry: "")
        let store = try StateStore(folder: fixture.options.data)
        for number in 1...UInt64(130) {
            let firing = PastFiring(
                schedule: "monthly", number: number, at: Int64(number), due: 1, trigger: .retry, result: .failed,
                trouble: Trouble(cause: "c", detail: String(repeating: "ä", count: 5_000)), build: "b")
            try await store.apply([.firing(firing)], wall: 1)
            if number == 130 { #expect(try await store.firings(of: "monthly").first == firing) }
        }
        #expect(try await store.firings(of: "monthly").map(\.number) == (31...130).reversed())
        try await store.apply([.dropSchedule("monthly")], wall: 1)
        #expect(try await store.firings(of: "monthly").isEmpty)
        await store.close()
    }
}
