import Scheduling
import Testing
import Tiles

struct SchedulerLifeTests {
    @Test func aJobGoesFromFetchingToDone() throws {
        var bench = Bench()
        let job = bench.submit(3)
        bench.join(7, credit: 10)
        for offer in bench.offers() { bench.finish(offer, by: 7) }
        #expect(bench.scheduler.summary(of: job)?.state == .merging)
        bench.runCoordinatorSteps()
        let merge = try #require(bench.offers().first)
        guard case .merge(_, "P0", _) = merge.work else {
            Issue.record("expected a merge, got \(merge.work)")
            return
        }
        bench.finish(merge, by: 7)
        #expect(bench.scheduler.summary(of: job)?.state == .publishing)
        bench.runCoordinatorSteps()
        let summary = try #require(bench.scheduler.summary(of: job))
        #expect(summary.state == .done)
        #expect(summary.counts.stored == 255)
        #expect(bench.scheduler.packages(of: job).map(\.state) == [.published])
        #expect(bench.store.jobs.map(\.summary) == [summary])
    }

    @Test func creditIsNeverExceeded() {
        var bench = Bench()
        bench.submit(10)
        bench.join(1, credit: 2)
        #expect(bench.offers().count == 2)
        bench.pass(1_000)
        #expect(bench.offers().isEmpty)
        bench.on(.ready(1, credit: 1))
        #expect(bench.offers().count == 1)
    }

    @Test func offersAreSpreadOverWorkers() {
        var bench = Bench()
        bench.join(1, credit: 3)
        bench.join(2, credit: 3)
        bench.submit(4)
        let sent = bench.sent.compactMap { if case .offer = $0.message { $0.session } else { nil } }
        #expect(sent == [1, 2, 1, 2])
    }

    @Test func mergesGoOnlyToWorkersThatCanMerge() {
        var bench = Bench()
        bench.submit(1)
        bench.join(1, credit: 5, merge: false)
        for offer in bench.offers() { bench.finish(offer, by: 1) }
        bench.runCoordinatorSteps()
        #expect(bench.offers().isEmpty)
        bench.join(2, credit: 1, fetch: false)
        #expect(bench.offers(to: 2).count == 1)
    }

    @Test func aRepeatedRequestReturnsTheFirstJob() {
        var bench = Bench()
        let first = bench.submit(2, request: "r")
        bench.submit(5, request: "r")
        #expect(bench.scheduler.jobIDs == [first])
        guard case .submitted(first, true) = bench.other.last else {
            Issue.record("\(bench.other)")
            return
        }
        bench.restart()
        bench.submit(5, request: "r")
        #expect(bench.scheduler.jobIDs == [first])
    }

    @Test func higherPriorityRunsFirstAndANegativeOneRests() {
        var bench = Bench()
        let low = bench.submit(2, priority: 0)
        let high = bench.submit(2, priority: 5)
        bench.submit(2, priority: -1)
        bench.join(1, credit: 9)
        #expect(bench.offers().map(\.job) == [high, high, low, low])
    }

    @Test func jobsOfOnePriorityShareByWeight() {
        var bench = Bench()
        let one = bench.submit(40, weight: 1)
        let three = bench.submit(40, weight: 3)
        bench.join(1, credit: 24)
        let offers = bench.offers().map(\.job)
        #expect(offers.filter { $0 == one }.count == 6)
        #expect(offers.filter { $0 == three }.count == 18)
    }

    @Test func aLateJobStartsLevelWithTheOthers() {
        var bench = Bench()
        bench.submit(100)
        bench.join(1, credit: 50)
        _ = bench.offers()
        let late = bench.submit(10)
        bench.on(.ready(1, credit: 4))
        #expect(bench.offers().filter { $0.job == late }.count == 2)
    }

    @Test func cancellingTellsTheWorkersAndEndsTheJob() {
        var bench = Bench()
        let job = bench.submit(3)
        bench.join(1, credit: 1)
        let offer = bench.offers()[0]
        bench.on(.cancel(job))
        #expect(bench.messages(to: 1) == [.pong(cancelled: [offer.token])])
        #expect(bench.scheduler.summary(of: job)?.state == .cancelled)
        bench.sent = []
        bench.on(.progress(1, [LeaseProgress(token: offer.token, done: 3, bytes: 9)]))
        #expect(bench.messages(to: 1) == [.pong(cancelled: [offer.token])])
        bench.sent = []
        bench.finish(offer, by: 1)
        #expect(bench.messages(to: 1) == [.stale(offer.token, reason: "lease-ended")])
    }

    @Test func progressIsTrueAndNeverAboveTheTotal() throws {
        var bench = Bench()
        let job = bench.submit(1)
        bench.join(1, credit: 1)
        let offer = bench.offers()[0]
        bench.on(.progress(1, [LeaseProgress(token: offer.token, done: 40, bytes: 1)]))
        #expect(bench.scheduler.summary(of: job)?.counts.inFlightDone == 40)
        bench.on(.progress(1, [LeaseProgress(token: offer.token, done: .max, bytes: 1)]))
        #expect(bench.scheduler.summary(of: job)?.counts.inFlightDone == 85)
        bench.finish(offer, by: 1)
        #expect(bench.scheduler.summary(of: job)?.counts.inFlightDone == 0)
        #expect(bench.scheduler.summary(of: job)?.counts.stored == 85)
    }
}
