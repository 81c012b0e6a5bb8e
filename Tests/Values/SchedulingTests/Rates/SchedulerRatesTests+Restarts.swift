import Testing

@testable import Scheduling

/// What a new incarnation of the coordinator does about shares of the one before.
extension SchedulerRatesTests {
    @Test func aNewIncarnationWaitsUntilOldSharesHaveRunOut() {
        var (bench, job) = bench(epoch: 2)
        #expect(bench.sent.allSatisfy { if case .offer = $0.message { false } else { true } })
        #expect(bench.scheduler.hindrance(of: job, now: bench.now).contains("restart"))
        bench.pass(10_500)
        #expect(!bench.offers().isEmpty)
    }

    @Test func aNewIncarnationGrantsAtOnceWhatASessionHolds() throws {
        var (bench, job) = bench(epoch: 2)
        report(&bench, 2) { $0.held = HeldShare(perSecond: 7, burst: 1.2, concurrency: 2) }
        let grant = try #require(told(bench)[2])
        #expect(grant.perSecond == 7 && grant.burst == 1.2 && grant.concurrency == 2 && grant.round >> 32 == 2)
        #expect(
            bench.sent.compactMap { if case .offer = $0.message { $0.session } else { nil } } == [2, 2, 2]
                as [SessionID])
        #expect(bench.scheduler.hindrance(of: job, now: bench.now).isEmpty)
        // Said again because the answer was lost, it is no second share.
        report(&bench, 2) { $0.held = HeldShare(perSecond: 7, burst: 1.2, concurrency: 2) }
        #expect(told(bench)[2] == grant)
        bench.pass(7_000)
        settle(&bench, 1...3)
        #expect(told(bench).values.reduce(0) { $0 + ($1.perSecond ?? 0) } > 19)
    }

    @Test func anIncarnationHasLearnedWhenAllHoldersHaveSpoken() {
        var (bench, _) = bench(workers: 2)
        settle(&bench, 1...2)
        #expect(bench.holders == ["tiles": [1, 2]])
        bench.restart()
        for id in 1...3 as ClosedRange<SessionID> { bench.join(id, credit: 5) }
        bench.on(.progress(1, [], namesHeld: true))
        bench.on(.progress(3, [], namesHeld: true))
        #expect(bench.offers().isEmpty, "session 2 may still hold its share")
        #expect(bench.holders == ["tiles": [2]], "should this incarnation die too")
        bench.on(.progress(2, [], namesHeld: true))
        #expect(!bench.offers().isEmpty)
    }

    @Test func whereNobodyHeldAShareNobodyWaits() {
        var bench = Bench()
        bench.on(.timer)
        #expect(bench.holders == [:])
        bench.restart()
        var submission = Bench.job(4)
        submission.origin = JobOrigin(name: "tiles", limits: OriginLimits(perSecond: 20, concurrency: 6))
        bench.on(.submit(submission))
        bench.join(1, credit: 2)
        #expect(bench.offers().count == 2)
    }

    @Test func claimsAddUpToTheLimitsAndNoMore() {
        var (bench, _) = bench(epoch: 2)
        for id in 1...3 as ClosedRange<SessionID> {
            report(&bench, id) { $0.held = HeldShare(perSecond: 12, burst: 1.5, concurrency: 4) }
        }
        let grants = told(bench)
        #expect(grants.count == 2)
        #expect(grants.values.reduce(0) { $0 + ($1.perSecond ?? 0) } < 19.6001)
        #expect(grants.values.reduce(0) { $0 + $1.concurrency } == 6)
    }

    @Test func aKeptShareObeysARetryAfter() {
        var (bench, _) = bench(epoch: 2)
        report(&bench, 2) { $0.held = HeldShare(perSecond: 7, burst: 1.2, concurrency: 2) }
        report(&bench, 2) {
            $0.throttled = 1
            $0.retryAfter = 2_000
        }
        #expect(told(bench)[2]?.concurrency == 0)
        bench.pass(2_000)
        report(&bench, 2)
        #expect(told(bench)[2]?.perSecond == 7 && told(bench)[2]?.concurrency == 2)
    }
}
