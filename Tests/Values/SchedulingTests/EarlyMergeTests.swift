import Testing
import Tiles

@testable import Scheduling

/// Packages that merge, publish and fail independently while their job continues.
struct EarlyMergeTests {
    /// A job of two packages: the small one needs batch 0, the large one all three.
    private func two(_ bench: inout Bench, batches: Int = 3) throws -> JobID {
        var submission = Bench.job(batches, packages: 2)
        let cell = submission.batches[0].cell
        let small = TileMask(tiles: [cell], maxZoom: 11)
        let large = TileMask(tiles: submission.batches.map(\.cell), maxZoom: 11)
        submission.needs = PackageNeeds(masks: [small, large], cells: submission.batches.map(\.cell))
        bench.on(.submit(submission))
        return try #require(bench.scheduler.jobIDs.last)
    }

    private func states(_ bench: Bench, _ job: JobID) -> [PackageState] {
        bench.scheduler.packages(of: job).map(\.state)
    }

    private func state(_ bench: Bench, _ job: JobID) -> JobState? { bench.scheduler.summary(of: job)?.state }

    private func lost(_ bench: Bench, _ job: JobID, batch: Int, _ token: LeaseToken) throws -> Event {
        let digest = try #require(bench.scheduler.batches(of: job)[batch].digest)
        return .fail(
            1, token, Trouble(cause: "shard-missing", detail: ""), retriable: true, lostShards: [digest])
    }

    @Test func aSmallPackageIsPublishedWhileTheJobGoesOn() throws {
        var bench = Bench()
        bench.join(1, credit: 3)
        let job = try two(&bench)
        let offers = bench.offers()
        #expect(offers.count == 3)
        bench.finish(offers[0], by: 1)
        #expect(states(bench, job) == [.manifest, .waiting])
        bench.runCoordinatorSteps()
        bench.on(.ready(1, credit: 1))
        let merge = try #require(bench.offers().first)
        bench.finish(merge, by: 1)
        bench.runCoordinatorSteps()
        #expect(states(bench, job) == [.published, .waiting])
        #expect(state(bench, job) == .fetching)
        for offer in offers[1...] { bench.finish(offer, by: 1) }
        #expect(state(bench, job) == .merging)
        bench.runCoordinatorSteps()
        bench.on(.ready(1, credit: 1))
        bench.finish(try #require(bench.offers().first), by: 1)
        bench.runCoordinatorSteps()
        #expect(states(bench, job) == [.published, .published])
        #expect(state(bench, job) == .done)
    }

    @Test func aMergeDoesNotWaitBehindTheFetchesOfASlowOrigin() throws {
        var bench = Bench()
        bench.join(1)
        bench.on(.ready(1, credit: 2, mergeCredit: 1))
        let job = bench.submit(1, priority: 9)
        let fetch = try #require(bench.offers().first)
        let slow = bench.submit(4)
        #expect(bench.offers().map(\.job) == [slow])
        bench.finish(fetch, by: 1)
        // The credit that the end of the lease gave is used up by the slow job before the manifest is written.
        bench.on(.ready(1, credit: 1, mergeCredit: 1))
        #expect(bench.offers().map(\.job) == [slow])
        bench.runCoordinatorSteps()
        let merge = try #require(bench.offers().first)
        #expect(merge.job == job)
        // The credit of merges is used up too.
        let second = bench.submit(1)
        bench.on(.ready(1, credit: 1))
        #expect(!bench.offers().isEmpty && second != job)
        bench.finish(merge, by: 1)
        bench.runCoordinatorSteps()
        #expect(state(bench, job) == .done)
    }

    @Test func aPackageThatFailsFailsAlone() throws {
        var bench = Bench()
        bench.join(1, credit: 3)
        let job = try two(&bench)
        let offers = bench.offers()
        bench.finish(offers[0], by: 1)
        bench.runCoordinatorSteps()
        bench.on(.ready(1, credit: 1))
        let merge = try #require(bench.offers().first)
        bench.on(.fail(1, merge.token, Trouble(cause: "missing-tiles", detail: "3 lack"), retriable: false))
        #expect(states(bench, job) == [.failed, .waiting])
        #expect(state(bench, job) == .fetching)
        for offer in offers[1...] { bench.finish(offer, by: 1) }
        bench.runCoordinatorSteps()
        bench.on(.ready(1, credit: 1))
        bench.finish(try #require(bench.offers().first), by: 1)
        bench.runCoordinatorSteps()
        #expect(states(bench, job) == [.failed, .published])
        #expect(state(bench, job) == .failed)
        #expect(
            bench.scheduler.summary(of: job)?.reason
                == "package 'P0' failed: missing-tiles: 3 lack; the other is published")
    }

    @Test func failedTilesOfOnePackageDoNotStopAnother() throws {
        var bench = Bench()
        bench.join(1, credit: 3)
        let job = try two(&bench)
        let offers = bench.offers()
        bench.finish(offers[0], by: 1)
        for offer in offers[1...] {
            bench.on(.fail(1, offer.token, Trouble(cause: "bad-tileset", detail: "x"), retriable: false))
        }
        // Two thirds of the job are missing: the merger judges each package by its own share.
        #expect(state(bench, job) == .merging)
        #expect(states(bench, job) == [.manifest, .manifest])
    }

    @Test func aJobWithoutASingleTileEndsAsAWhole() throws {
        var bench = Bench()
        bench.join(1, credit: 3)
        let job = try two(&bench)
        for offer in bench.offers() {
            bench.on(.fail(1, offer.token, Trouble(cause: "bad-tileset", detail: "x"), retriable: false))
        }
        #expect(state(bench, job) == .failed)
        #expect(bench.scheduler.summary(of: job)?.reason.contains("tiles could not be fetched") == true)
    }

    @Test func aLostShardHoldsBackOnlyThePackagesThatNeedIt() throws {
        var bench = Bench()
        bench.join(1, credit: 3)
        let job = try two(&bench)
        let offers = bench.offers()
        for offer in offers { bench.finish(offer, by: 1) }
        bench.runCoordinatorSteps()
        bench.on(.ready(1, credit: 2))
        let merges = bench.offers()
        #expect(merges.count == 2)
        bench.on(try lost(bench, job, batch: 2, merges[1].token))
        #expect(states(bench, job) == [.leased, .waiting])
        #expect(state(bench, job) == .fetching)
        bench.finish(merges[0], by: 1)
        bench.runCoordinatorSteps()
        #expect(states(bench, job) == [.published, .waiting])
        bench.pass(120_000)
        bench.on(.ready(1, credit: 1))
        bench.finish(try #require(bench.offers().last), by: 1, seed: 3)
        bench.runCoordinatorSteps()
        bench.on(.ready(1, credit: 1))
        bench.finish(try #require(bench.offers().last), by: 1)
        bench.runCoordinatorSteps()
        #expect(state(bench, job) == .done)
    }

    @Test func anEarlyMergedPackageWaitsAgainWhenItsShardIsLostBeforeTheJobIsFetched() throws {
        var bench = Bench()
        bench.join(1, credit: 3)
        let job = try two(&bench)
        let offers = bench.offers()
        bench.finish(offers[0], by: 1)
        bench.runCoordinatorSteps()
        bench.on(.ready(1, credit: 1))
        let merge = try #require(bench.offers().first)
        bench.on(try lost(bench, job, batch: 0, merge.token))
        #expect(states(bench, job) == [.waiting, .waiting])
        bench.restart()
        bench.join(1, held: offers[1...].map(\.token))
        bench.pass(120_000)
        bench.on(.ready(1, credit: 1))
        let again = try #require(bench.offers().last)
        #expect(again.attempt == 2)
        bench.finish(again, by: 1, seed: 5)
        #expect(states(bench, job) == [.manifest, .waiting])
    }

    @Test func aRestartCountsAnewWhatEachPackageWaitsFor() throws {
        var bench = Bench()
        bench.join(1, credit: 3)
        let job = try two(&bench)
        let offers = bench.offers()
        bench.finish(offers[1], by: 1)
        bench.finish(offers[2], by: 1)
        bench.restart()
        bench.join(1, held: [offers[0].token])
        #expect(states(bench, job) == [.waiting, .waiting])
        bench.finish(offers[0], by: 1)
        #expect(states(bench, job) == [.manifest, .manifest])
    }
}
