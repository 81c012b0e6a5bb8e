import Foundation
import GRDB
import Scheduling
import Testing
import Wire

@testable import Coordinator

/// Orders, failed work and schedules over real sockets and files.
@Suite(.timeLimit(.minutes(15)))
struct OrderServiceTests {
    private func order(_ talker: Talker, _ job: UInt64, _ order: String, weight: UInt32 = 0) async throws -> PBOrdered {
        let body = PBJobOrder.make {
            $0.job = job
            $0.order = order
            $0.weight = weight
        }
        guard case .ordered(let answer) = try await talker.ask(.jobOrder(body)) else { throw Talker.Silence() }
        return answer
    }

    private func failedWork(_ talker: Talker, _ job: UInt64) async throws -> [PBFailedBatch] {
        guard case .failedWork(let answer) = try await talker.ask(.listFailed(.make { $0.job = job })) else {
            throw Talker.Silence()
        }
        return answer.batches
    }

    private func failedOrder(_ talker: Talker, _ job: UInt64, _ order: String, _ batches: [UInt64] = []) async throws
        -> PBOrdered
    {
        let body = PBFailedOrder.make {
            $0.job = job
            $0.order = order
            $0.batches = batches
        }
        guard case .ordered(let answer) = try await talker.ask(.failedOrder(body)) else { throw Talker.Silence() }
        return answer
    }

    /// Lets a worker do `count` offers and answer the next one with a permanent failure, which ends the job.
    private func fail(_ worker: FakeWorker, after count: Int) async throws {
        try await worker.talker.say(worker.hello())
        _ = try await worker.next { if case .welcome = $0 { true } else { nil } }
        for step in 0...count {
            try await worker.talker.say(.ready(.make { $0.credit = 1 }))
            let offer = try await worker.nextOffer()
            if step < count {
                try await worker.talker.say(.commit(try worker.result(of: offer)))
                _ = try await worker.next { if case .ack = $0 { true } else { nil } }
            } else {
                try await worker.talker.say(
                    .fail(
                        .make {
                            $0.token = offer.token
                            $0.cause = "bad-tileset"
                            $0.detail = "as it is"
                        }))
            }
        }
    }

    private func finish(_ job: UInt64, _ service: CoordinatorService, _ fixture: Fixture, _ talker: Talker) async throws
        -> PBJobStatus
    {
        let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await worker.work() }
            defer { group.cancelAll() }
            return try await talker.watch(job) { ["done", "failed", "cancelled"].contains($0.state) }
        }
    }

    @Test func aPauseReachesTheWorkerAndTheListsSayWhyNothingHappens() async throws {
        let fixture = try Fixture()
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let job = try await talker.submit(try Fixture.submission()).job
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
            try await worker.talker.say(worker.hello())
            _ = try await worker.next { if case .welcome = $0 { true } else { nil } }
            try await worker.talker.say(.ready(.make { $0.credit = 1 }))
            let offer = try await worker.nextOffer()
            #expect(try await order(talker, job, "pause").text == "job 1 is paused; 1 running batches were taken back")
            let cancelled = try await worker.next { message -> [UInt64]? in
                if case .pong(let pong) = message, !pong.cancelled.isEmpty { pong.cancelled } else { nil }
            }
            #expect(cancelled == [offer.token])
            let status = try await talker.watch(job) { _ in true }
            #expect(status.waiting == "paused")
            #expect(status.priority == -1)
            #expect(try await order(talker, job, "pause").changed == 0)
            #expect(try await order(talker, job, "weigh", weight: 1).text == "job 1 has weight 1 already")
            #expect(try await order(talker, job, "resume").text == "job 1 resumes with priority 0")
            #expect(try await finish(job, service, fixture, talker).state == "done")
            let late = try await talker.problem(
                .jobOrder(
                    .make {
                        $0.job = job
                        $0.order = "pause"
                    }))
            #expect(late.code == "job-ended")
        }
    }

    @Test func aFailedJobGoesOnAfterARestartWithWhatItHad() async throws {
        let fixture = try Fixture()
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            _ = try await talker.submit(try Fixture.submission(side: 3))
            try await fail(try FakeWorker(service.workEndpoint, blobs: fixture.blobs()), after: 1)
            // A coordinator that ends before it has heard of the failure would have nothing to remember.
            _ = try await talker.watch(1) { $0.batchesFailed == 1 }
        }
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await worker.work() }
                defer { group.cancelAll() }
                let failed = try await talker.watch(1) { $0.state == "failed" }
                #expect(failed.batchesFailed == 1)
                #expect(failed.batchesDone == failed.batches - 1)
            }
        }
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let dead = try await failedWork(talker, 0)
            #expect(dead.map(\.cause) == ["bad-tileset"])
            #expect(dead.map(\.whole) == [true])
            let strange = try await talker.problem(
                .failedOrder(
                    .make {
                        $0.job = 1
                        $0.order = "requeue"
                        $0.batches = [99]
                    }))
            #expect(strange.text == "Batch 99 of job 1 has not failed.")
            let answer = try await failedOrder(talker, 1, "requeue", dead.map(\.batch))
            #expect(answer.changed == 1)
            #expect(try await finish(1, service, fixture, talker).state == "done")
            #expect(try await failedWork(talker, 1).isEmpty)
        }
    }

    @Test func aCancelledJobStartsAnewAndADroppedOneLetsGo() async throws {
        let fixture = try Fixture()
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let first = try await talker.submit(try Fixture.submission()).job
            _ = try await talker.ask(.cancelJob(.make { $0.job = first }))
            var goesOn = false
            let end = ContinuousClock.now + .seconds(600)
            while !goesOn, ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(5))
                let answer = try await talker.ask(
                    .jobOrder(
                        .make {
                            $0.job = first
                            $0.order = "retry"
                        }))
                // Until its shards are gone it says that it is busy.
                if case .problem(let problem) = answer { #expect(problem.retriable, "\(problem.text)") }
                if case .ordered = answer { goesOn = true }
            }
            #expect(goesOn)
            #expect(try await finish(first, service, fixture, talker).state == "done")

            let second = try await talker.submit(try Fixture.submission(side: 3)).job
            try await fail(try FakeWorker(service.workEndpoint, blobs: fixture.blobs()), after: 1)
            #expect(try await finish(second, service, fixture, talker).state == "failed")
            #expect(try await failedOrder(talker, second, "drop").text == "1 batch of job 2 will not be tried again")
            #expect(try await failedWork(talker, second).isEmpty)
        }
    }

    @Test func likeSubmissionsJoinAndFollowersWait() async throws {
        let fixture = try Fixture()
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let first = try await talker.submit(try Fixture.submission())
            let again = try await talker.submit(try Fixture.submission())
            #expect(again.job == first.job && again.existing)
            let other = try await talker.submit(try Fixture.submission(request: "mine"))
            #expect(other.job == 2 && !other.existing)
            var follower = try Fixture.submission(id: "P9")
            follower.after = [1, 2]
            follower.weight = 4
            #expect(try await talker.submit(follower).job == 3)
            let status = try await talker.watch(3) { _ in true }
            #expect(status.waiting == "after 1, 2")
            #expect(status.weight == 4)
            follower.after = [77]
            let refused = try await talker.problem(.submit(follower))
            #expect(refused.code == "unknown-job")
            #expect(refused.text == "Job 77, which must be done first, does not exist.")
            #expect(try await finish(3, service, fixture, talker).state == "done")
        }
    }

    @Test func schedulesAreKeptRunAndRemoved() async throws {
        let fixture = try Fixture()
        let schedule = PBSchedule.make {
            $0.id = "monthly"
            $0.every = "Monthly 3 2:30"
            $0.label = "P0"
        }
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            var wanted = schedule
            wanted.submission = Data(try Frame(session: 1, seq: 0, .submit(try Fixture.submission())).encoded())
            guard case .ordered(let added) = try await talker.ask(.putSchedule(.make { $0.schedule = wanted })) else {
                throw Talker.Silence()
            }
            #expect(added.text.hasPrefix("schedule monthly added: monthly 3 02:30, 21 tiles, first at "))
            wanted.every = "now and then"
            let refused = try await talker.problem(.putSchedule(.make { $0.schedule = wanted }))
            #expect(refused.code == "bad-schedule")
            #expect(refused.hint.contains("monthly 3 02:30"))
        }
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let ran = try await talker.submit(.make { $0.schedule = "monthly" })
            #expect(ran.job == 1)
            #expect(try await talker.submit(.make { $0.schedule = "monthly" }).existing)
            #expect(try await finish(1, service, fixture, talker).state == "done")
            guard case .schedules(let list) = try await talker.ask(.listSchedules(PBListSchedules())) else {
                throw Talker.Silence()
            }
            #expect(list.schedules.map(\.lastJob) == [1])
            #expect(list.schedules.map(\.every) == ["monthly 3 02:30"])
            func order(_ order: String) -> Message {
                .scheduleOrder(
                    .make {
                        $0.order = order
                        $0.id = "monthly"
                    })
            }
            for (word, isPaused, changed) in [
                ("pause", true, 1), ("pause", true, 0), ("resume", false, 1), ("resume", false, 0),
            ] as [(String, Bool, UInt64)] {
                guard case .ordered(let answer) = try await talker.ask(order(word)),
                    case .schedules(let list) = try await talker.ask(.listSchedules(PBListSchedules()))
                else { throw Talker.Silence() }
                #expect(answer.changed == changed && list.schedules.map(\.paused) == [isPaused], "\(answer.text)")
            }
            #expect(try await talker.problem(order("stop")).code == "bad-request")
            _ = try await talker.ask(order("drop"))
            #expect(try await talker.problem(order("drop")).code == "unknown-schedule")
        }
    }

    private func orderOrigin(
        _ talker: Talker, _ order: String, perSecond: Double = 0, _ name: String = "tiles.example.com"
    )
        async throws -> PBOrdered
    {
        let message = PBOriginOrder.make {
            $0.order = order
            $0.limit.origin = name
            $0.limit.perSecond = perSecond
        }
        guard case .ordered(let answer) = try await talker.ask(.originOrder(message)) else { throw Talker.Silence() }
        return answer
    }

    @Test func anOperatorsLimitIsKeptShownAndInTheLog() async throws {
        let fixture = try Fixture()
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            #expect(try await orderOrigin(talker, "limit", perSecond: 2.5).changed == 1)
            #expect(try await orderOrigin(talker, "limit", perSecond: 2.5).changed == 0)
            let unknown = PBOriginOrder.make {
                $0.order = "open"
                $0.limit.origin = "others.example.com"
            }
            #expect(try await talker.problem(.originOrder(unknown)).code == "unknown-origin")
            var wrong = unknown
            wrong.order = "close"
            #expect(try await talker.problem(.originOrder(wrong)).code == "bad-request")
        }
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            guard case .origins(let list) = try await talker.ask(.listOrigins(PBListOrigins())) else {
                throw Talker.Silence()
            }
            #expect(list.origins.map(\.origin) == ["tiles.example.com"])
            #expect(list.origins.map(\.operatorPerSecond) == [2.5] && list.origins.map(\.state) == ["unused"])
        }
        #expect(try await StateFile.check(fixture.options.data).problems == [])
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            #expect(try await orderOrigin(talker, "clear").changed == 1)
            guard case .events(let log) = try await talker.ask(.getEvents(PBGetEvents())) else {
                throw Talker.Silence()
            }
            #expect(
                log.events.filter { $0.kind == "origin-limit" }.map(\.text) == [
                    "origin tiles.example.com: limited to 2.5 requests per second",
                    "origin tiles.example.com: the operator's limit is removed",
                ])
        }
    }

    @Test func aFiringThatWasMissedIsMadeUpForOnce() async throws {
        let fixture = try Fixture()
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let schedule = PBSchedule.make {
                $0.id = "hourly"
                $0.every = "hourly 0"
            }
            var wanted = schedule
            wanted.submission = Data(try Frame(session: 1, seq: 0, .submit(try Fixture.submission())).encoded())
            _ = try await talker.ask(.putSchedule(.make { $0.schedule = wanted }))
        }
        let store = try StateStore(folder: fixture.options.data)
        try await store.perform { try $0.execute(sql: "UPDATE schedule SET next = next - 100 * 3600 * 1000") }
        await store.close()
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let status = try await finish(1, service, fixture, talker)
            #expect(status.state == "done")
            guard case .schedules(let list) = try await talker.ask(.listSchedules(PBListSchedules())) else {
                throw Talker.Silence()
            }
            #expect(list.schedules.map(\.fired) == [1])
            guard case .jobs(let jobs) = try await talker.ask(.listJobs(PBListJobs())) else { throw Talker.Silence() }
            #expect(jobs.jobs.count == 1)
        }
    }
}
