import Scheduling
import Testing
import Tiles

struct SchedulerLeaseTests {
    private func granted(_ batches: Int = 1, policy: SchedulerPolicy = SchedulerPolicy()) -> (Bench, JobID, Offer) {
        var bench = Bench(policy: policy)
        let job = bench.submit(batches)
        bench.join(1, credit: 1)
        let offer = bench.offers()[0]
        return (bench, job, offer)
    }

    @Test func aSilentWorkersLeaseExpiresAfterSixtySeconds() {
        var (bench, _, offer) = granted()
        bench.join(2)
        bench.pass(59_999)
        bench.on(.ready(2, credit: 1))
        #expect(bench.offers(to: 2).isEmpty)
        bench.pass(1)
        let second = bench.offers(to: 2)
        #expect(second.count == 1)
        #expect(second[0].token > offer.token)
        #expect(second[0].attempt == 2)
    }

    /// A cluster of one machine whose processes ended together: nothing waits for a worker that cannot come back.
    @Test func leasesOfWorkersThatEndedAreFreeAtOnceAndCountAsNoLoss() throws {
        var policy = SchedulerPolicy()
        policy.hasNewWorkers = true
        var bench = Bench(policy: policy)
        let job = bench.submit(3)
        bench.join(1, credit: 1)
        bench.finish(bench.offers()[0], by: 1)
        bench.on(.ready(1, credit: 2))
        #expect(bench.offers().count == 2)
        for restart: SessionID in 2...20 {
            bench.restart()
            #expect(bench.scheduler.audit() == [])
            bench.join(restart, credit: 2)
            #expect(bench.offers(to: restart).map(\.attempt) == [1, 1])
        }
        bench.restart()
        bench.join(30, credit: 2)
        for offer in bench.offers(to: 30) { bench.finish(offer, by: 30) }
        bench.runCoordinatorSteps()
        bench.on(.ready(30, credit: 1))
        #expect(bench.offers(to: 30).count == 1, "the merge")
        bench.restart()
        bench.join(31, credit: 1)
        let merge = try #require(bench.offers(to: 31).first, "the merge that its worker did not finish")
        bench.finish(merge, by: 31)
        bench.runCoordinatorSteps()
        #expect(bench.scheduler.summary(of: job)?.state == .done)
    }

    @Test func progressThatMovesRenewsTheLease() {
        var (bench, job, offer) = granted()
        for step in 1...20 {
            bench.on(.progress(1, [LeaseProgress(token: offer.token, done: UInt64(step), bytes: 0)]))
            bench.pass(30_000)
        }
        #expect(bench.scheduler.batches(of: job)[0].state == .leased)
    }

    @Test func progressThatStandsStillDoesNot() {
        var (bench, job, offer) = granted()
        bench.on(.progress(1, [LeaseProgress(token: offer.token, done: 3, bytes: 0)]))
        for _ in 0..<40 {
            bench.pass(5_000)
            bench.on(.progress(1, [LeaseProgress(token: offer.token, done: 3, bytes: 0)]))
        }
        #expect(bench.scheduler.batches(of: job)[0].losses == 1)
    }

    @Test func aLeaseThatWaitsBehindAMovingOneLivesOn() {
        var bench = Bench()
        let job = bench.submit(2)
        bench.join(1, credit: 2)
        let offers = bench.offers()
        for step in 1...80 {
            bench.on(
                .progress(
                    1,
                    [
                        LeaseProgress(token: offers[0].token, done: UInt64(step), bytes: 0),
                        LeaseProgress(token: offers[1].token, done: 0, bytes: 0),
                    ]))
            bench.pass(5_000)
        }
        #expect(bench.scheduler.batches(of: job).map(\.state) == [.leased, .leased])
    }

    @Test func noAttemptOutlivesTheHardCap() {
        var policy = SchedulerPolicy()
        policy.capPerTile = 0
        var (bench, job, offer) = granted(policy: policy)
        for step in 1...370 {
            bench.on(.progress(1, [LeaseProgress(token: offer.token, done: 0, bytes: UInt64(step))]))
            bench.pass(5_000)
        }
        #expect(bench.scheduler.batches(of: job)[0].losses == 1)
    }

    @Test func aCommitUnderAnOldTokenIsRefusedAndTheNewOneAccepted() {
        var (bench, job, old) = granted()
        bench.join(2)
        bench.pass(60_000)
        bench.on(.ready(2, credit: 1))
        let new = bench.offers(to: 2)[0]
        bench.finish(old, by: 1, seed: 9)
        #expect(bench.messages(to: 1) == [.stale(old.token, reason: "lease-ended")])
        #expect(bench.store.orphans[job]?.count == 1)
        bench.finish(new, by: 2)
        #expect(bench.messages(to: 2).contains { if case .ack(new.token, _) = $0 { true } else { false } })
    }

    @Test func aRepeatedCommitIsAcknowledgedAgainAndCountedOnce() {
        var (bench, job, offer) = granted(2)
        bench.finish(offer, by: 1)
        bench.sent = []
        bench.finish(offer, by: 1)
        #expect(bench.messages(to: 1).count == 1)
        #expect(bench.scheduler.summary(of: job)?.counts.stored == 85)
        bench.sent = []
        bench.finish(offer, by: 1, seed: 3)
        #expect(bench.messages(to: 1) == [.stale(offer.token, reason: "lease-ended")])
    }

    @Test func aCommitFromAnotherSessionIsRefused() {
        var (bench, job, offer) = granted()
        bench.join(2)
        bench.finish(offer, by: 2)
        #expect(bench.messages(to: 2).last == .stale(offer.token, reason: "not-your-lease"))
        #expect(bench.scheduler.batches(of: job)[0].state == .leased)
    }

    @Test func countsThatDoNotAddUpAreRefused() {
        var (bench, job, offer) = granted()
        let counts = FetchCounts(stored: .max, empty: 2, failed: 84)
        bench.on(.commit(1, offer.token, .fetch(Bench.digest(1), counts, failures: [])))
        #expect(bench.scheduler.batches(of: job)[0].trouble?.cause == "bad-counts")
        #expect(bench.scheduler.batches(of: job)[0].state == .backoff)
    }

    @Test func anUnknownSessionIsToldToSayHello() {
        var (bench, _, offer) = granted()
        bench.finish(offer, by: 5)
        bench.on(.progress(6, []))
        bench.on(.ready(7, credit: 1))
        #expect([5, 6, 7].allSatisfy { bench.messages(to: $0) == [.unknownSession] })
    }

    @Test func aSilentSessionIsSuspectAndGetsNothingUntilHeard() {
        var bench = Bench()
        bench.join(1, credit: 3)
        bench.pass(15_000)
        #expect(bench.scheduler.workers(now: bench.now).map(\.state) == ["suspect"])
        bench.submit(1)
        #expect(bench.offers().isEmpty)
        bench.on(.progress(1, []))
        #expect(bench.offers().count == 1)
    }

    @Test func aJobThatNobodyWorksOnSaysSo() {
        var bench = Bench()
        bench.submit(1)
        let job = bench.scheduler.jobIDs[0]
        #expect(bench.scheduler.absence(now: bench.now).hasPrefix("no worker is connected"))
        bench.join(1, credit: 0)
        #expect(bench.scheduler.absence(now: bench.now) == "")
        bench.pass(17_000)
        #expect(bench.scheduler.absence(now: bench.now) == "no message from any worker for 17 s")
        #expect(bench.scheduler.isLiving(job))
        bench.on(.cancel(job))
        #expect(!bench.scheduler.isLiving(job), "a list names no reason for a job that has ended")
    }

    @Test func aJobWhoseWorkIsWithSilentWorkersSaysSo() {
        var (bench, job, _) = granted()
        bench.join(2, credit: 0)
        #expect(bench.scheduler.stallReason(of: job, now: bench.now) == "")
        bench.pass(17_000)
        bench.on(.progress(2, []))
        let text = bench.scheduler.stallReason(of: job, now: bench.now)
        #expect(text.hasPrefix("its work is leased to silent workers; the leases expire in "))
        bench.restart()
        bench.join(2, credit: 0)
        #expect(bench.scheduler.stallReason(of: job, now: bench.now).hasPrefix("its work is leased to silent workers"))
    }

    @Test func aJobWhoseLastBatchesFailedSaysWhy() {
        var (bench, job, offer) = granted()
        bench.on(.fail(1, offer.token, Trouble(cause: "origin-unreadable", detail: "gone"), retriable: true))
        #expect(bench.scheduler.batches(of: job)[0].state == .backoff)
        #expect(bench.scheduler.stallReason(of: job, now: bench.now) == "retry after origin-unreadable: gone")
    }

    @Test func afterARestartHeldLeasesAreAdoptedAndTheOthersGoBack() {
        var bench = Bench()
        let job = bench.submit(3)
        bench.join(1, credit: 3)
        let offers = bench.offers()
        bench.finish(offers[0], by: 1)
        bench.restart()
        bench.join(1, held: [offers[0].token, offers[1].token])
        #expect(bench.messages(to: 1) == [.welcome(adopted: [offers[1].token])])
        #expect(bench.scheduler.batches(of: job).map(\.state) == [.done, .leased, .ready])
        #expect(bench.scheduler.batches(of: job)[2].losses == 0)
        bench.finish(offers[0], by: 1)
        bench.finish(offers[1], by: 1)
        #expect(bench.scheduler.batches(of: job).map(\.state) == [.done, .done, .ready])
    }

    @Test func anotherSessionCannotAdoptALease() {
        var (bench, _, offer) = granted()
        bench.restart()
        bench.join(2, held: [offer.token])
        #expect(bench.messages(to: 2) == [.welcome(adopted: [])])
    }

    @Test func leasesNobodyClaimsAfterARestartExpireAfterTheGrace() {
        var (bench, job, _) = granted()
        bench.restart()
        bench.pass(59_999)
        #expect(bench.scheduler.batches(of: job)[0].state == .leased)
        bench.pass(1)
        #expect(bench.scheduler.batches(of: job)[0].state == .ready)
    }

    @Test func tokensRiseAcrossRestarts() {
        var (bench, _, first) = granted(2)
        bench.restart()
        bench.join(2, credit: 1)
        #expect(bench.offers(to: 2)[0].token > first.token)
    }

    @Test func leavingAndGivingBackCostNoAttempt() {
        var (bench, job, offer) = granted(2)
        bench.on(.giveBack(1, [offer.token]))
        #expect(bench.scheduler.batches(of: job)[0].attempts == 0)
        bench.on(.ready(1, credit: 2))
        bench.on(.bye(1))
        #expect(bench.scheduler.batches(of: job).map(\.state) == [.ready, .ready])
        #expect(bench.scheduler.batches(of: job).allSatisfy { $0.losses == 0 && $0.attempts == 0 })
    }

    @Test func anUndeliveredOfferGoesToAnotherWorkerAtOnce() {
        var (bench, _, offer) = granted()
        bench.join(2, credit: 1)
        bench.sent = []
        bench.on(.undelivered(1, [offer.token]))
        #expect(bench.offers(to: 2).count == 1)
    }

    @Test func aDeafCoordinatorExpiresNothing() {
        var (bench, job, _) = granted()
        bench.now = bench.now + 300_000
        bench.on(.loopStalled)
        bench.pass(0)
        #expect(bench.scheduler.batches(of: job)[0].state == .leased)
    }
}
