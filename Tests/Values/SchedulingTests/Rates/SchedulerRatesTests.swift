import Testing

@testable import Scheduling

struct SchedulerRatesTests {
    func bench(
        _ batches: Int = 40, perSecond: Double? = 20, concurrency: Int = 6, workers: Int = 3, epoch: UInt32 = 1
    ) -> (Bench, JobID) {
        var bench = Bench(epoch: epoch)
        var submission = Bench.job(batches)
        submission.origin = JobOrigin(
            name: "tiles", limits: OriginLimits(perSecond: perSecond, concurrency: concurrency))
        bench.on(.submit(submission))
        for id in 1...SessionID(workers) { bench.join(id, credit: 5) }
        return (bench, bench.scheduler.jobIDs.last ?? 0)
    }

    /// The last message to each session.
    func told(_ bench: Bench) -> [SessionID: RateGrant] {
        var grants: [SessionID: RateGrant] = [:]
        for (session, message) in bench.sent {
            if case .grants(let all) = message { grants[session] = all.first }
        }
        return grants
    }

    func report(_ bench: inout Bench, _ id: SessionID, _ change: (inout OriginUse) -> Void = { _ in }) {
        var use = OriginUse(origin: "tiles")
        use.requests = 1
        use.answered = 1
        use.waiting = 3
        change(&use)
        bench.on(.progress(id, [], origins: [use], acknowledged: .max))
    }

    /// Reports until shares have settled.
    func settle(_ bench: inout Bench, _ ids: ClosedRange<SessionID>) {
        for _ in 0..<4 { for id in ids { report(&bench, id) } }
    }

    @Test func sharesAddUpToTheLimitsAndNoMore() {
        var (bench, _) = bench()
        settle(&bench, 1...3)
        let grants = told(bench)
        #expect(grants.count == 3)
        let rate = grants.values.reduce(0) { $0 + ($1.perSecond ?? 0) }
        let burst = grants.values.reduce(0) { $0 + $1.burst }
        #expect(rate > 19 && rate + burst <= 23.0001)
        #expect(grants.values.reduce(0) { $0 + $1.concurrency } == 6)
        #expect(Set(grants.values.map(\.concurrency)) == [2])
    }

    @Test func bytesPerSecondGoWithTheConnections() {
        var bench = Bench()
        var submission = Bench.job(40)
        submission.origin = JobOrigin(
            name: "tiles", limits: OriginLimits(perSecond: nil, concurrency: 6, bytesPerSecond: 60_000))
        bench.on(.submit(submission))
        for id in 1...SessionID(4) { bench.join(id, credit: 5) }
        settle(&bench, 1...4)
        let grants = told(bench).values
        #expect(grants.allSatisfy { $0.bytesPerSecond == Double($0.concurrency) * 10_000 })
        #expect(grants.reduce(0) { $0 + ($1.bytesPerSecond ?? 0) } == 60_000)
        let strict = OriginLimits(perSecond: nil, concurrency: 3, bytesPerSecond: 5)
            .strictest(OriginLimits(perSecond: nil, concurrency: 9, bytesPerSecond: 7))
        #expect(strict.bytesPerSecond == 5)
    }

    @Test func budgetsAreDividedOnceForAllEventsOfATurn() {
        var (bench, _) = bench(workers: 1)
        bench.sent = []
        func grants(_ effects: [Effect]) -> [SessionID: RateGrant] {
            effects.reduce(into: [:]) { found, effect in
                if case .send(let id, .grants(let all)) = effect { found[id] = all.first }
            }
        }
        for id in 2...SessionID(3) {
            let profile = SessionProfile(
                name: "w", host: "h", processID: 1, build: "b", canFetch: true, canMerge: true)
            for event in [Event.hello(id, profile, held: []), .ready(id, credit: 5)] {
                #expect(grants(bench.scheduler.apply(event, now: bench.now)).isEmpty)
            }
        }
        #expect(bench.scheduler.audit() == [])
        // The first one had all six connections; what it gives up is another's only when it says that it knows.
        let first = grants(bench.scheduler.divideBudgets(now: bench.now))
        #expect(first[1]?.concurrency == 2 && first.values.reduce(0) { $0 + $1.concurrency } <= 6)
        #expect(bench.scheduler.divideBudgets(now: bench.now).isEmpty)
        settle(&bench, 1...3)
        #expect(told(bench).mapValues(\.concurrency) == [1: 2, 2: 2, 3: 2])
    }

    @Test func aLowRateGoesToOneWorkerWithAllItsWork() {
        var (bench, _) = bench(perSecond: 4, workers: 3)
        settle(&bench, 1...3)
        #expect(told(bench).keys.sorted() == [1])
        let offered = bench.sent.filter { if case .offer = $0.message { true } else { false } }
        #expect(offered.count == 5 && offered.allSatisfy { $0.session == 1 })
    }

    @Test func oneConnectionGoesToOneWorkerWhichHoldsOneBatchInReserve() {
        var (bench, _) = bench(perSecond: nil, concurrency: 1, workers: 3)
        settle(&bench, 1...3)
        #expect(bench.offers().count == 2)
    }

    @Test func aJobThatWaitsForItsOriginHoldsNobodyUp() {
        var (bench, _) = bench(perSecond: nil, concurrency: 1, workers: 3)
        #expect(bench.offers().count == 2)
        let other = bench.submit(4)
        #expect(bench.offers().map(\.job) == [other, other, other, other])
    }

    @Test func whenTheOneWorkerIsDoneTheNextBatchGoesOn() {
        var (bench, job) = bench(6, perSecond: nil, concurrency: 1, workers: 2)
        var done = 0
        for _ in 0..<10 {
            let sent = bench.sent
            bench.sent = []
            for (session, message) in sent {
                guard case .offer(let offer) = message, case .fetch = offer.work else { continue }
                bench.finish(offer, by: session)
                bench.on(.ready(session, credit: 5))
                done += 1
            }
        }
        #expect(done == 6)
        #expect(bench.scheduler.summary(of: job)?.state == .merging)
    }

    @Test func retryAfterStopsEverybodyAndEndsByItself() {
        var (bench, job) = bench()
        settle(&bench, 1...3)
        bench.sent = []
        report(&bench, 2) {
            $0.answered = 0
            $0.throttled = 1
            $0.retryAfter = 30_000
        }
        #expect(told(bench).count == 3 && told(bench).values.allSatisfy { $0.concurrency == 0 })
        #expect(bench.scheduler.origins(now: bench.now).first?.state == "blocked")
        #expect(bench.scheduler.hindrance(of: job, now: bench.now).contains("30 s"))
        bench.join(4, credit: 5)
        #expect(bench.offers(to: 4).isEmpty)
        for _ in 0..<7 {
            bench.pass(5_000)
            settle(&bench, 1...3)
        }
        #expect(told(bench).values.contains { $0.concurrency > 0 })
        #expect(bench.scheduler.origins(now: bench.now).first?.state == "open")
        #expect(bench.scheduler.hindrance(of: job, now: bench.now).isEmpty)
    }

    @Test func whenRetryAfterIsOverTheOriginIsAskedAtOnce() {
        var (bench, _) = bench()
        settle(&bench, 1...3)
        report(&bench, 2) {
            $0.answered = 0
            $0.throttled = 1
            $0.retryAfter = 1_000
        }
        settle(&bench, 1...3)
        bench.sent = []
        bench.pass(900)
        #expect(told(bench).values.allSatisfy { $0.concurrency == 0 })
        // Only the end of the wait, without any message and before the factor rises.
        bench.pass(150)
        #expect(told(bench).values.contains { $0.concurrency > 0 })
    }

    /// A second of the cluster, or some quarters of it: each session reports its part every quarter.
    func second(_ bench: inout Bench, answered: UInt64, refused: UInt64, quarters: Int = 4) {
        for _ in 0..<quarters {
            bench.pass(250)
            for id in 1...3 as ClosedRange<SessionID> {
                report(&bench, id) {
                    $0.answered = answered / 12
                    $0.throttled = refused / 12
                }
            }
        }
    }

    @Test func anOriginThatRefusesManyRequestsIsAskedAsOftenAsItAccepts() {
        var (bench, _) = bench(perSecond: nil)
        settle(&bench, 1...3)
        second(&bench, answered: 120, refused: 0)
        second(&bench, answered: 120, refused: 240, quarters: 1)
        let view = bench.scheduler.origins(now: bench.now).first
        #expect(
            view?.state == "slowed" && (100...125).contains(view?.foundPerSecond ?? 0), "\(String(describing: view))")
        let rate = told(bench).values.reduce(0) { $0 + ($1.perSecond ?? 0) }
        #expect(rate > 100 && rate <= 125, "\(rate)")
        #expect(told(bench).values.allSatisfy { $0.reportEvery == 250 }, "What comes of it is to be known soon.")
    }

    @Test func fewRefusalsSlowNothingDown() {
        var (bench, _) = bench(perSecond: nil)
        settle(&bench, 1...3)
        for _ in 0..<40 {
            second(&bench, answered: 1_188, refused: 0)
            report(&bench, 1) { $0.throttled = 12 }
        }
        #expect(bench.scheduler.origins(now: bench.now).first?.state == "open")
        #expect(told(bench).values.allSatisfy { $0.perSecond == nil })
    }

    /// 503 without Retry-After, while others are answered: no outage, and fewer at once.
    @Test func aLimitOfConnectionsIsFoundAndDoesNotOpenTheBreaker() {
        var (bench, _) = bench(perSecond: nil, concurrency: 60)
        settle(&bench, 1...3)
        for turn in 0..<8 {
            bench.pass(250)
            for id in 1...3 as ClosedRange<SessionID> {
                report(&bench, id) {
                    // Of each second's reports one holds refusals alone.
                    $0.answered = turn % 4 == 3 && id == 3 ? 0 : 40
                    $0.failed = 60
                    $0.busy = 60
                    // Seven at once for a quarter of a second.
                    $0.occupied = $0.answered == 0 ? 0 : 7 * 250
                }
            }
            let view = bench.scheduler.origins(now: bench.now).first
            #expect(view?.state != "broken")
            if let found = view?.foundConcurrency {
                #expect((15...21).contains(found), "\(found)")
                return
            }
        }
        Issue.record("no limit was found")
    }

    @Test func onlyRefusalsBy503AreAnOutage() {
        var (bench, _) = bench()
        settle(&bench, 1...3)
        bench.pass(3_000)
        for id in 1...3 as ClosedRange<SessionID> {
            report(&bench, id) {
                $0.answered = 0
                ($0.failed, $0.busy) = (7, 7)
            }
        }
        #expect(bench.scheduler.origins(now: bench.now).first?.state == "broken")
    }

    @Test func theStrictestLivingJobSetsTheLimits() {
        var (bench, job) = bench()
        var second = Bench.job(1)
        second.origin = JobOrigin(name: "tiles", limits: OriginLimits(perSecond: 5, concurrency: 10))
        bench.on(.submit(second))
        #expect(
            bench.scheduler.origins(now: bench.now).first?.limits == OriginLimits(perSecond: 5, concurrency: 6))
        bench.on(.cancel(job))
        #expect(
            bench.scheduler.origins(now: bench.now).first?.limits == OriginLimits(perSecond: 5, concurrency: 10))
    }

    @Test func connectionsAreSplitByWeightWithoutRest() {
        #expect(OriginBook.split(8, weights: [4, 4, 4]) == [3, 3, 2])
        #expect(OriginBook.split(3, weights: [4, 1, 1]) == [1, 1, 1])
        #expect(OriginBook.split(10, weights: [4, 1]).reduce(0, +) == 10)
    }
}
