import Scheduling
import Testing

struct OrderTests {
    @Test func pauseTakesRunningWorkBackAtOnceAndGrantsNoMore() throws {
        var bench = Bench()
        let job = bench.submit(10, priority: 3)
        bench.join(1, credit: 4)
        let tokens = bench.offers().map(\.token)
        bench.on(.progress(1, tokens.map { LeaseProgress(token: $0, done: 20, bytes: 10) }))
        #expect(try bench.summary(job).counts.inFlightDone == 80)
        bench.on(.order(job, .pause))
        let cancelled = bench.messages(to: 1).flatMap { message -> [LeaseToken] in
            if case .pong(let tokens) = message { tokens } else { [] }
        }
        #expect(cancelled == tokens)
        #expect(try bench.summary(job).counts.inFlightDone == 0)
        #expect(try bench.summary(job).counts[.ready] == 10)
        #expect(try bench.summary(job).priority == -4)
        #expect(bench.scheduler.waiting(of: job) == "paused")
        bench.on(.ready(1, credit: 4))
        #expect(bench.offers().isEmpty)
        bench.on(.commit(1, tokens[0], .fetch(Bench.digest(1), FetchCounts(stored: 85), failures: [])))
        #expect(try bench.summary(job).counts[.done] == 0)
        bench.on(.order(job, .resume))
        #expect(try bench.summary(job).priority == 3)
        let again = bench.offers()
        #expect(again.count == 4)
        #expect(again.allSatisfy { $0.attempt == 1 })
    }

    @Test func aPausedJobStaysPausedOverARestartAndItsMergeWaits() throws {
        var bench = Bench()
        let job = bench.submit(1)
        bench.join(1, credit: 1)
        bench.finish(bench.offers()[0], by: 1)
        bench.runCoordinatorSteps()
        bench.on(.ready(1, credit: 1))
        #expect(bench.offers().count == 1)
        bench.on(.order(job, .pause))
        bench.restart()
        bench.join(1, credit: 1)
        #expect(bench.offers().isEmpty)
        bench.on(.order(job, .resume))
        let merge = try #require(bench.offers().first)
        bench.finish(merge, by: 1)
        bench.runCoordinatorSteps()
        #expect(try bench.summary(job).state == .done)
    }

    @Test func everyPriorityComesBackFromAPause() throws {
        for priority in [Int32.max, 7, 0] {
            var bench = Bench()
            let job = bench.submit(1, priority: priority)
            bench.on(.order(job, .pause))
            bench.on(.order(job, .pause))
            #expect(try bench.summary(job).priority < 0)
            bench.on(.order(job, .resume))
            bench.on(.order(job, .resume))
            #expect(try bench.summary(job).priority == priority)
        }
    }

    @Test func aJobSubmittedPausedRunsWhenItsPriorityRises() {
        var bench = Bench()
        let job = bench.submit(2, priority: -1)
        bench.join(1, credit: 2)
        #expect(bench.offers().isEmpty)
        bench.on(.order(job, .prioritise(5)))
        #expect(bench.offers().count == 2)
    }

    @Test(arguments: [-1, -3, Int32.min] as [Int32])
    func aNegativePriorityKeepsTheOneItHad(_ negative: Int32) throws {
        var bench = Bench()
        let job = bench.submit(2)
        bench.on(.order(job, .prioritise(4)))
        bench.on(.order(job, .prioritise(negative)))
        #expect(try bench.summary(job).priority < 0)
        bench.on(.order(job, .resume))
        #expect(try bench.summary(job).priority == 4)
        let other = bench.submit(2, priority: negative)
        bench.on(.order(other, .resume))
        #expect(try bench.summary(other).priority == 0)
    }

    @Test func higherPriorityGoesFirstFromTheMomentItIsGiven() {
        var bench = Bench()
        let first = bench.submit(10)
        let second = bench.submit(10)
        bench.on(.order(second, .prioritise(1)))
        bench.join(1, credit: 4)
        #expect(bench.offers().map(\.job) == [second, second, second, second])
        bench.on(.order(first, .prioritise(2)))
        bench.on(.ready(1, credit: 3))
        #expect(bench.offers().map(\.job) == [first, first, first])
    }

    @Test func weightsShareTheClusterAndNoTurnIsTakenTwice() {
        var bench = Bench()
        let light = bench.submit(200)
        let heavy = bench.submit(200)
        bench.on(.order(heavy, .weigh(3)))
        for priority in [Int32(1), 2, 0] {
            bench.on(.order(light, .prioritise(priority)))
            bench.on(.order(heavy, .prioritise(priority)))
        }
        bench.join(1)
        var counts: [JobID: Int] = [:]
        for _ in 0..<20 {
            bench.on(.ready(1, credit: 4))
            for offer in bench.offers() {
                counts[offer.job, default: 0] += 1
                bench.finish(offer, by: 1)
            }
        }
        #expect(counts[light] == 20)
        #expect(counts[heavy] == 60)
    }

    @Test func aCityBesideAPlanetStartsWithinOneRound() {
        var bench = Bench()
        bench.submit(2_000)
        bench.join(1)
        for _ in 0..<50 {
            bench.on(.ready(1, credit: 2))
            for offer in bench.offers() { bench.finish(offer, by: 1) }
        }
        let city = bench.submit(1)
        bench.on(.ready(1, credit: 2))
        #expect(bench.offers().contains { $0.job == city })
    }

    @Test func ordersNameWhatSpeaksAgainstThem() throws {
        var bench = Bench()
        let job = bench.submit(1)
        #expect(bench.scheduler.refusal(of: 9)?.code == "unknown-job")
        #expect(bench.scheduler.refusal(of: job) == nil)
        #expect(bench.scheduler.refusal(ofRetry: job)?.code == "job-runs")
        bench.on(.order(job, .pause))
        #expect(bench.scheduler.refusal(ofRetry: job)?.hint == "packhorse resume 1")
        bench.on(.cancel(job))
        let refusal = try #require(bench.scheduler.refusal(of: job))
        #expect(refusal.code == "job-ended")
        #expect(refusal.text == "Job 1 has ended already: cancelled.")
        #expect(refusal.hint == "packhorse retry 1")
        bench.on(.order(job, .pause))
        bench.on(.order(77, .resume))
        #expect(try bench.summary(job).state == .cancelled)
    }
}
