import Scheduling
import Testing
import Tiles

struct SpeculativeLeaseTests {
    /// A job of ten batches with nine done within a second each; worker 1 holds the last one, worker 2 is idle.
    private func straggling(_ age: Int64) -> (Bench, JobID, Offer) {
        var bench = Bench()
        let job = bench.submit(10)
        bench.join(1, credit: 10)
        let offers = bench.offers()
        bench.pass(1_000)
        for offer in offers.dropLast() { bench.finish(offer, by: 1) }
        bench.join(2)
        for step in 1...max(age / 5_000, 1) {
            bench.on(.progress(1, [LeaseProgress(token: offers[9].token, done: UInt64(min(step, 80)), bytes: 0)]))
            bench.on(.ready(2, credit: 1))
            bench.pass(5_000)
        }
        bench.on(.ready(2, credit: 1))
        return (bench, job, offers[9])
    }

    @Test func aStragglerGetsASecondLeaseOnceItIsOld() {
        var (young, _, _) = straggling(50_000)
        #expect(young.offers(to: 2).isEmpty)
        var (bench, job, first) = straggling(70_000)
        let speculativeLeases = bench.offers(to: 2)
        #expect(speculativeLeases.count == 1)
        #expect(speculativeLeases[0].token > first.token)
        #expect(bench.rows(job)[9].token == first.token)
    }

    @Test func theFirstValidCommitWinsAndTheOtherIsStale() throws {
        var (bench, job, first) = straggling(70_000)
        let speculative = try #require(bench.offers(to: 2).first)
        bench.finish(speculative, by: 2, seed: 7)
        #expect(bench.rows(job)[9].token == speculative.token)
        #expect(bench.messages(to: 1).contains(.pong(cancelled: [first.token])))
        bench.finish(first, by: 1)
        #expect(bench.messages(to: 1).last == .stale(first.token, reason: "other-result"))
        #expect(bench.store.orphans[job]?.count == 1)
        bench.finish(speculative, by: 2, seed: 7)
        #expect(bench.messages(to: 2).last.map { if case .ack = $0 { true } else { false } } == true)
    }

    @Test func theFirstLeaseMayWinToo() throws {
        var (bench, job, first) = straggling(70_000)
        let speculative = try #require(bench.offers(to: 2).first)
        bench.finish(first, by: 1)
        #expect(bench.messages(to: 2).contains(.pong(cancelled: [speculative.token])))
        bench.finish(speculative, by: 2)
        #expect(bench.messages(to: 2).last == .stale(speculative.token, reason: "same-result"))
        #expect(bench.store.orphans[job] == nil)
    }

    @Test func aBackupTakesThePlaceOfALeaseThatIsLost() throws {
        var (bench, job, first) = straggling(70_000)
        let speculative = try #require(bench.offers(to: 2).first)
        bench.on(.fail(1, first.token, Trouble(cause: "timeout", detail: "x"), retriable: true))
        #expect(bench.rows(job)[9].token == speculative.token)
        #expect(bench.rows(job)[9].attempts == 1)
        bench.finish(speculative, by: 2)
        #expect(bench.rows(job)[9].state == .done)
    }

    @Test func theEndOfABackupCostsNothing() throws {
        var (bench, job, first) = straggling(70_000)
        let speculative = try #require(bench.offers(to: 2).first)
        bench.on(.fail(2, speculative.token, Trouble(cause: "timeout", detail: "x"), retriable: true))
        #expect(bench.rows(job)[9].token == first.token)
        #expect(bench.rows(job)[9].attempts == 0)
    }

    @Test func aRestartKnowsOnlyTheFirstLease() throws {
        var (bench, job, first) = straggling(70_000)
        let speculative = try #require(bench.offers(to: 2).first)
        bench.restart()
        bench.join(1, held: [first.token])
        bench.join(2, held: [speculative.token])
        #expect(bench.messages(to: 2) == [.welcome(adopted: [])])
        bench.finish(speculative, by: 2)
        #expect(bench.messages(to: 2).last == .stale(speculative.token, reason: "lease-ended"))
        bench.finish(first, by: 1)
        #expect(bench.rows(job)[9].state == .done)
    }

    @Test func aPauseTakesBothLeasesBack() throws {
        var (bench, job, first) = straggling(70_000)
        let speculative = try #require(bench.offers(to: 2).first)
        bench.on(.order(job, .pause))
        #expect(bench.messages(to: 1).contains(.pong(cancelled: [first.token])))
        #expect(bench.messages(to: 2).contains(.pong(cancelled: [speculative.token])))
        #expect(bench.rows(job)[9].state == .ready)
    }
}
