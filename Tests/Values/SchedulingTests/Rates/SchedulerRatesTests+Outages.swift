import Testing

@testable import Scheduling

/// Origins that are blocked or down, and what operators order.
extension SchedulerRatesTests {
    @Test func anOperatorOpensABlockedOrigin() {
        var (bench, job) = bench()
        settle(&bench, 1...3)
        report(&bench, 2) {
            $0.answered = 0
            $0.throttled = 1
            $0.retryAfter = 3_600_000
        }
        bench.on(.cancel(job))
        #expect(bench.scheduler.origins(now: bench.now).first?.state == "blocked", "A cancelled job opens nothing.")
        var next = Bench.job(8)
        next.origin = JobOrigin(name: "tiles", limits: OriginLimits(perSecond: 20, concurrency: 6))
        bench.on(.submit(next))
        bench.sent = []
        bench.on(.openOrigin("tiles"))
        #expect(bench.scheduler.origins(now: bench.now).first?.state == "open")
        for id in 1...3 as ClosedRange<SessionID> { bench.on(.ready(id, credit: 5)) }
        settle(&bench, 1...3)
        #expect(told(bench).values.contains { $0.concurrency > 0 && $0.opened == 1 })
        #expect(bench.scheduler.refusal(ofOpening: "others")?.code == "unknown-origin")
    }

    @Test func anOperatorClosesTheBreaker() {
        var (bench, _) = broken()
        bench.on(.openOrigin("tiles"))
        #expect(bench.scheduler.origins(now: bench.now).first?.blockedFor == 0)
        #expect(told(bench).values.contains { $0.concurrency > 0 })
    }

    @Test func anOperatorsLimitIsOneMoreAndOutlivesTheCoordinator() {
        var (bench, _) = bench()
        settle(&bench, 1...3)
        bench.on(.limitOrigin("tiles", OperatorLimit(perSecond: 5, concurrency: 100)))
        #expect(bench.scheduler.origins(now: bench.now).first?.limits == OriginLimits(perSecond: 5, concurrency: 6))
        settle(&bench, 1...3)
        bench.pass(1_100)
        settle(&bench, 1...3)
        #expect(told(bench).values.reduce(0) { $0 + ($1.perSecond ?? 0) } <= 5)
        #expect(bench.store.operatorLimits == ["tiles": OperatorLimit(perSecond: 5, concurrency: 100)])
        bench.restart()
        #expect(bench.scheduler.origins(now: bench.now).first?.limits == OriginLimits(perSecond: 5, concurrency: 6))
        bench.on(.limitOrigin("tiles", nil))
        #expect(bench.scheduler.origins(now: bench.now).first?.limits == OriginLimits(perSecond: 20, concurrency: 6))
        #expect(bench.store.operatorLimits.isEmpty)
    }

    @Test func anOperatorsLimitOfBytesIsSharedByTheConnections() {
        var (bench, _) = bench()
        settle(&bench, 1...3)
        bench.on(.limitOrigin("tiles", OperatorLimit(perSecond: nil, concurrency: nil, bytesPerSecond: 60_000)))
        settle(&bench, 1...3)
        bench.pass(1_100)
        settle(&bench, 1...3)
        let shares = told(bench).values.filter { $0.concurrency > 0 }
        #expect(!shares.isEmpty)
        for share in shares { #expect(share.bytesPerSecond == 10_000 * Double(share.concurrency)) }
        #expect(bench.store.operatorLimits["tiles"]?.bytesPerSecond == 60_000)
    }

    @Test func anOperatorsLimitWaitsForAnOriginsFirstJob() {
        var bench = Bench()
        bench.on(.limitOrigin("tiles", OperatorLimit(perSecond: nil, concurrency: 2)))
        #expect(bench.scheduler.origins(now: bench.now).map(\.state) == ["unused"])
        var submission = Bench.job(4)
        submission.origin = JobOrigin(name: "tiles", limits: OriginLimits(perSecond: nil, concurrency: 6))
        bench.on(.submit(submission))
        #expect(bench.scheduler.origins(now: bench.now).map(\.limits.concurrency) == [2])
    }

    func broken() -> (Bench, JobID) {
        var (bench, job) = bench()
        settle(&bench, 1...3)
        for id in 1...3 as ClosedRange<SessionID> {
            report(&bench, id) {
                $0.answered = 0
                $0.failed = 7
            }
        }
        return (bench, job)
    }

    @Test func anOriginThatIsDownIsLeftAloneButForOneProbe() {
        var (bench, job) = broken()
        #expect(bench.scheduler.origins(now: bench.now).first?.state == "broken")
        #expect(told(bench).values.allSatisfy { $0.concurrency == 0 })
        #expect(bench.scheduler.hindrance(of: job, now: bench.now).contains("does not answer"))
        bench.sent = []
        bench.pass(2_000)
        #expect(told(bench).values.map(\.concurrency).filter { $0 > 0 } == [1])
        let prober = told(bench).first { $0.value.concurrency > 0 }?.key ?? 0
        // The probe fails: twice the pause.
        report(&bench, prober) {
            $0.answered = 0
            $0.failed = 1
        }
        #expect(bench.scheduler.origins(now: bench.now).first?.blockedFor == 4_000)
        bench.sent = []
        bench.pass(4_000)
        let second = told(bench).first { $0.value.concurrency > 0 }?.key ?? 0
        report(&bench, second)
        settle(&bench, 1...3)
        #expect(["open", "slowed"].contains(bench.scheduler.origins(now: bench.now).first?.state))
        #expect(told(bench).values.filter { $0.concurrency > 0 }.count == 3)
    }

    @Test func aProberThatSaysNothingIsReplaced() {
        var (bench, _) = broken()
        bench.pass(2_000)
        let first = told(bench).first { $0.value.concurrency > 0 }?.key ?? 0
        bench.sent = []
        for _ in 0..<4 {
            bench.pass(5_000)
            for id in 1...3 as ClosedRange<SessionID> where id != first {
                bench.on(.progress(id, [], origins: [], acknowledged: .max))
            }
        }
        #expect(told(bench).contains { $0.key != first && $0.value.concurrency > 0 })
    }

    @Test func failuresOfAnOriginThatIsDownCostNoAttempt() throws {
        var (bench, job) = bench()
        let offer = try #require(bench.offers(to: 1).first)
        guard case .fetch(let index, _, _, _) = offer.work else { return }
        for id in 1...3 as ClosedRange<SessionID> {
            report(&bench, id) {
                $0.answered = 0
                $0.failed = 7
            }
        }
        bench.on(.fail(1, offer.token, Trouble(cause: "connect-failed", detail: ""), retriable: true))
        let batch = bench.scheduler.batches(of: job)[index]
        #expect(batch.state == .backoff && batch.attempts == 0)
    }

    @Test func aLeaseThatWaitsForItsOriginIsNotStalled() throws {
        var (bench, job) = bench(3, workers: 1)
        let offers = bench.offers()
        // Longer than a stall and than the hard cap.
        for _ in 0..<800 {
            bench.pass(5_000)
            var use = OriginUse(origin: "tiles")
            use.throttled = 1
            use.retryAfter = 60_000
            use.waiting = 5
            let reports = offers.map { LeaseProgress(token: $0.token, done: 1, bytes: 1) }
            bench.on(.progress(1, reports, origins: [use], acknowledged: .max))
        }
        #expect(bench.scheduler.batches(of: job).allSatisfy { $0.state == .leased && $0.losses == 0 })
    }
}
