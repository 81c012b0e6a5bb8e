import Scheduling
import Testing
import Tiles

/// How jobs end when something is wrong, and what is left of them.
struct SchedulerEndTests {
    private func tile(_ cause: String) throws -> FailedTile {
        FailedTile(tile: try #require(TileID(zoom: 14, x: 1, y: 1)), trouble: Trouble(cause: cause, detail: "d"))
    }

    /// Answers every fetch on offer; merges are left on offer and returned.
    private func fetchAll(_ bench: inout Bench, empty: Bool = false) -> [Offer] {
        bench.on(.ready(1, credit: 64))
        var merges: [Offer] = []
        for offer in bench.offers(to: 1) {
            guard case .fetch(let batch, _, _, let tiles) = offer.work else {
                merges.append(offer)
                continue
            }
            let counts = FetchCounts(stored: empty ? 0 : tiles, empty: empty ? tiles : 0)
            bench.on(
                .commit(
                    1, offer.token,
                    .fetch(Bench.digest(offer.job.rawValue << 32 | UInt64(batch.number) << 8), counts, failures: [])))
        }
        return merges
    }

    /// A job of one batch whose package waits for publishing.
    private func publishing(_ bench: inout Bench) throws -> JobID {
        let job = bench.submit(1)
        bench.join(1)
        _ = fetchAll(&bench)
        bench.runCoordinatorSteps()
        bench.finish(try #require(fetchAll(&bench).first ?? bench.offers().first), by: 1)
        #expect(bench.scheduler.summary(of: job)?.state == .publishing)
        return job
    }

    private func attempts(_ cause: String) throws -> Int {
        var bench = Bench()
        bench.submit(20)
        bench.join(1)
        let failed = try tile(cause)
        var attempts = 0
        for _ in 0..<60 {
            bench.on(.ready(1, credit: 64))
            for offer in bench.offers(to: 1) {
                guard case .fetch(let batch, _, _, _) = offer.work, batch == 3 else {
                    bench.finish(offer, by: 1)
                    continue
                }
                attempts += 1
                bench.finish(offer, by: 1, failed: [failed], seed: UInt64(attempts))
            }
            bench.runCoordinatorSteps()
            bench.pass(5_000)
        }
        return attempts
    }

    @Test(arguments: [
        "html-page", "wrong-type", "too-large", "bad-coding", "bad-mvt", "bad-image", "forbidden",
        "unsupported-coding", "too-many-redirects", "redirect-refused", "invalid-request", "bad-archive", "http-400",
        "http-304", "http-418", "http-451", "http-501",
    ])
    func whatWillNotChangeIsNotAskedAgain(cause: String) throws { #expect(try attempts(cause) == 1) }

    @Test(arguments: [
        "timeout", "truncated", "transport", "connect-failed", "resolve-failed", "tls-failed", "http-408",
        "http-500", "http-503", "http-599", "http-x", "something-new",
    ])
    func whatMayChangeIsTriedThreeTimes(cause: String) throws { #expect(try attempts(cause) == 3) }

    @Test func aBatchWithMoreFailuresThanAreNamedIsJudgedByThoseNamed() throws {
        var bench = Bench()
        let job = bench.submit(1, allowedMissing: 1)
        bench.join(1, credit: 1)
        let offer = try #require(bench.offers().first)
        bench.on(
            .commit(
                1, offer.token,
                .fetch(
                    Bench.digest(1), FetchCounts(stored: 5, empty: 0, failed: 80), failures: [try tile("forbidden")])))
        #expect(bench.scheduler.summary(of: job)?.counts[.done] == 1)
    }

    @Test func aJobWhoseEveryTileIsEmptyFailsAndPublishesNothing() throws {
        var bench = Bench()
        let job = bench.submit(3)
        bench.join(1)
        _ = fetchAll(&bench, empty: true)
        let summary = try #require(bench.scheduler.summary(of: job))
        #expect(summary.state == .failed)
        #expect(
            summary.reason
                == "no-tiles: the origin has no tile in the area: 255 of 255 tiles are empty; check the area, the tileset's url and the zooms"
        )
        #expect(bench.scheduler.packages(of: job).map(\.state) == [.failed])
        #expect(bench.other.filter { if case .release = $0 { false } else { true } }.count == 1, "only submitted")
    }

    @Test func aPackageWithoutATileFailsTheJob() throws {
        var bench = Bench()
        let job = bench.submit(1)
        bench.join(1)
        _ = fetchAll(&bench)
        bench.runCoordinatorSteps()
        let merge = try #require(bench.offers().first)
        bench.on(
            .commit(1, merge.token, .merge(MergedPackage(digest: Bench.digest(9), size: 1, tiles: 0, tilesHash: "h"))))
        let summary = try #require(bench.scheduler.summary(of: job))
        #expect(summary.state == .failed)
        #expect(summary.reason.hasPrefix("package 'P0' failed: no-tiles: "))
        #expect(bench.store.orphans[job] == [Bench.digest(9)], "its blob goes with the job")
    }

    @Test func aPublicationThatOvertakesACancelIsInTheReport() throws {
        var bench = Bench()
        let job = try publishing(&bench)
        bench.on(.cancel(job))
        #expect(bench.scheduler.packages(of: job).map(\.state) == [.failed])
        bench.on(.published(job, package: 0, version: 3, path: "p", unchanged: false))
        #expect(bench.scheduler.summary(of: job)?.state == .cancelled)
        #expect(bench.scheduler.packages(of: job).map(\.state) == [.published])
        #expect(bench.store.jobs[0].packages[0].version == 3)
        // Once is enough.
        bench.on(.published(job, package: 0, version: 4, path: "p", unchanged: false))
        #expect(bench.store.jobs[0].packages[0].version == 3)
    }

    @Test func aPublicationThatOvertakesARequeueIsInTheRow() throws {
        var bench = Bench()
        let job = bench.submit(1, allowedMissing: 0.5)
        bench.join(1, credit: 8)
        bench.finish(try #require(bench.offers().first), by: 1, failed: [try tile("html-page")])
        bench.runCoordinatorSteps()
        bench.finish(try #require(bench.offers().first), by: 1)
        #expect(bench.scheduler.summary(of: job)?.state == .publishing)
        bench.on(.requeue(job, batches: nil))
        bench.other = []
        bench.on(.published(job, package: 0, version: 3, path: "p3", unchanged: false))
        let row = bench.store.jobs[0].packages[0]
        #expect(row.state == .waiting && row.version == 3 && row.path == "p3")
        #expect(bench.scheduler.summary(of: job)?.state == .fetching)
        bench.on(.ready(1, credit: 8))
        bench.finish(try #require(bench.offers().first), by: 1, seed: 1)
        bench.runCoordinatorSteps()
        bench.finish(try #require(bench.offers().first), by: 1)
        bench.on(.published(job, package: 0, version: 4, path: "p4", unchanged: false))
        #expect(bench.scheduler.summary(of: job)?.state == .done)
        #expect(bench.store.jobs[0].packages[0].version == 4)
    }

    @Test func aMergedPackageThatIsGoneIsMergedAgain() throws {
        var bench = Bench()
        let job = try publishing(&bench)
        bench.other = []
        bench.on(.packageTrouble(job, package: 0, Trouble(cause: "blob-missing", detail: "gone"), retriable: false))
        #expect(bench.scheduler.summary(of: job)?.state == .merging)
        bench.restart()
        bench.join(1, credit: 1)
        bench.pass(5_000)
        bench.finish(try #require(bench.offers().first), by: 1)
        bench.runCoordinatorSteps()
        #expect(bench.scheduler.summary(of: job)?.state == .done)
    }

    @Test func aPackageThatIsGoneEveryTimeFailsTheJobInTheEnd() throws {
        var bench = Bench()
        let job = try publishing(&bench)
        for _ in 0..<10 where bench.scheduler.isLiving(job) {
            bench.on(.packageTrouble(job, package: 0, Trouble(cause: "blob-missing", detail: "gone"), retriable: false))
            bench.pass(120_000)
            bench.join(1, credit: 1)
            if let merge = bench.offers().first { bench.finish(merge, by: 1) }
        }
        #expect(bench.scheduler.summary(of: job)?.reason == "package 'P0' failed: blob-missing: gone")
    }

    @Test func severalLostShardsOfWhichOneIsTheLastStrawEndTheJobOnce() throws {
        var bench = Bench(policy: with { $0.maxAttempts = 1 })
        let job = bench.submit(3)
        bench.join(1)
        _ = fetchAll(&bench)
        bench.runCoordinatorSteps()
        let merge = try #require(bench.offers().first)
        let lost = bench.scheduler.batches(of: job).compactMap(\.digest)
        bench.on(
            .fail(1, merge.token, Trouble(cause: "shard-missing", detail: ""), retriable: true, lostShards: lost))
        #expect(bench.scheduler.summary(of: job)?.state == .failed)
        #expect(bench.other.filter { if case .release = $0 { true } else { false } }.count == 1)
        bench.pass(1_000_000)
        #expect(bench.scheduler.summary(of: job)?.state == .failed)
    }

    @Test func noPackageIsMergedWhileAShardIsFetchedAgain() throws {
        var bench = Bench()
        bench.on(.submit(Bench.job(2, packages: 2)))
        let job = try #require(bench.scheduler.jobIDs.last)
        bench.join(1)
        _ = fetchAll(&bench)
        // Only the first manifest is written before the first merge fails.
        bench.on(.manifestWritten(job, package: 0, Bench.digest(1)))
        let merge = try #require(bench.offers().first)
        let lost = try #require(bench.scheduler.batches(of: job)[0].digest)
        bench.on(
            .fail(1, merge.token, Trouble(cause: "shard-corrupt", detail: ""), retriable: true, lostShards: [lost]))
        bench.on(.manifestWritten(job, package: 1, Bench.digest(2)))
        #expect(bench.scheduler.packages(of: job).map(\.state) == [.waiting, .waiting])
        bench.other = []
        bench.pass(60_000)
        #expect(bench.other.isEmpty, "no manifest may be written that lacks a shard")
        _ = fetchAll(&bench)
        bench.runCoordinatorSteps()
        bench.on(.ready(1, credit: 8))
        for merge in bench.offers() { bench.finish(merge, by: 1) }
        bench.runCoordinatorSteps()
        #expect(bench.scheduler.summary(of: job)?.state == .done)
    }

    @Test func aForgottenJobLeavesNothing() throws {
        var bench = Bench()
        let first = bench.submit(2, request: "r1")
        let second = bench.submit(2, request: "r2")
        bench.on(.forget(first))
        #expect(bench.scheduler.jobIDs == [first, second], "it has not ended")
        bench.on(.cancel(second))
        bench.on(.forget(second))
        #expect(bench.scheduler.jobIDs == [first])
        #expect(bench.store.jobs.map(\.summary.id) == [first])
        #expect(bench.scheduler.summary(of: second) == nil)
        bench.on(.cancel(first))
        #expect(bench.scheduler.oldestFinished == first)
        bench.on(.forget(first))
        #expect((bench.scheduler.finishedCount, bench.scheduler.livingCount) == (0, 0))
        let again = bench.submit(2, request: "r1")
        #expect(again == 3, "numbers are never given twice")
        bench.join(1)
        _ = fetchAll(&bench)
        bench.runCoordinatorSteps()
        bench.finish(try #require(bench.offers().first), by: 1)
        bench.runCoordinatorSteps()
        #expect(bench.scheduler.summary(of: again)?.state == .done)
        bench.pass(10_000_000)
    }

    @Test func leasesGivenBackForEverAreNotRememberedForEver() throws {
        var bench = Bench(policy: with { $0.rememberedLosses = 10 })
        bench.submit(1)
        bench.join(1)
        var first: Offer?
        for _ in 0..<100 {
            bench.on(.ready(1, credit: 1))
            let offer = try #require(bench.offers().first)
            if first == nil { first = offer }
            bench.on(.giveBack(1, [offer.token]))
        }
        let old = try #require(first)
        bench.finish(old, by: 1)
        #expect(bench.store.orphans.isEmpty, "too old to be traced; the sweep takes its blob")
        #expect(bench.messages(to: 1).contains(.stale(old.token, reason: "lease-ended")))
    }

    private func with(_ change: (inout SchedulerPolicy) -> Void) -> SchedulerPolicy {
        var policy = SchedulerPolicy()
        change(&policy)
        return policy
    }
}
