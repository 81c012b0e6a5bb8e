import Scheduling
import Testing
import Tiles

/// A source that refuses is not asked again by every other batch.
struct RefusalTests {
    private let expired = Trouble(cause: "origin-refused", detail: "the server answered 403")
    private let everything = Trouble(cause: "all-refused", detail: "24 × 403 (text/html)")

    @Test(arguments: ["origin-refused", "origin-unsupported"])
    func theFirstReportOfAnArchiveEndsTheJob(_ cause: String) throws {
        var bench = Bench()
        let job = bench.submit(20)
        bench.join(1, credit: 3)
        bench.join(2, credit: 3)
        let offers = bench.offers(to: 1)
        // One batch is done: its shard stays for a retry.
        bench.finish(offers[0], by: 1)
        bench.sent = []
        bench.on(.fail(1, offers[1].token, Trouble(cause: cause, detail: "the server answered 403"), retriable: false))
        let end = try bench.summary(job)
        #expect(end.state == .failed && end.reason == "\(cause): the server answered 403")
        #expect(!bench.messages(to: 2).isEmpty, "the other worker is told")
        bench.on(.ready(1, credit: 8))
        bench.on(.ready(2, credit: 8))
        bench.pass(120_000)
        #expect(bench.offers().isEmpty && bench.scheduler.refusal(ofRetry: job) == nil)
    }

    @Test func aLoneWorkerThatIsRefusedEverythingEndsTheJob() throws {
        var bench = Bench()
        let job = bench.submit(20)
        bench.join(1, credit: 3)
        bench.on(.fail(1, bench.offers()[0].token, everything, retriable: false))
        let end = try bench.summary(job)
        #expect(end.state == .failed && end.reason == "all-refused: 24 × 403 (text/html)")
    }

    @Test func whileAnotherWorkerMayFindTilesTheBatchWaits() throws {
        var bench = Bench()
        let job = bench.submit(20)
        bench.join(1, credit: 1)
        let first = try #require(bench.offers(to: 1).first)
        bench.join(2, credit: 1)
        let second = try #require(bench.offers(to: 2).first)
        #expect(!first.hasFoundTiles && !second.hasFoundTiles)
        bench.on(.fail(1, first.token, everything, retriable: false))
        #expect(try bench.summary(job).state == .fetching)
        // It does not go from batch to batch meanwhile.
        bench.sent = []
        bench.on(.ready(1, credit: 1))
        bench.pass(1_000)
        #expect(bench.offers(to: 1).isEmpty)
        bench.finish(second, by: 2)
        bench.pass(5_000)
        let again = try #require(bench.offers(to: 1).first)
        #expect(again.hasFoundTiles, "refusals are of single tiles now")
        #expect(bench.scheduler.batches(of: job).allSatisfy { $0.attempts == 0 })
        // A report that was under way costs nothing either.
        bench.on(.fail(1, again.token, everything, retriable: false))
        #expect(try bench.summary(job).state == .fetching)
        bench.on(.ready(1, credit: 1))
        #expect(bench.offers(to: 1).last?.hasFoundTiles == true)
    }

    @Test func whenAllWorkersSayTheSameTheJobEnds() throws {
        var bench = Bench()
        let job = bench.submit(20)
        bench.join(1, credit: 1)
        let first = try #require(bench.offers(to: 1).first)
        bench.join(2, credit: 1)
        let second = try #require(bench.offers(to: 2).first)
        bench.on(.fail(1, first.token, everything, retriable: false))
        bench.on(.fail(2, second.token, everything, retriable: false))
        #expect(try bench.summary(job).state == .failed)
        #expect(bench.offers().isEmpty, "nothing else was offered")
    }
}
