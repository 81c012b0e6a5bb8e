import Digests
import Testing
import Tiles

@testable import Scheduling

/// What jobs that are done leave to later ones: shards to ask about, and packages that need no merge.
struct BaselineTests {
    private static let tileset = Bench.digest(77)

    private func bench(bytes: UInt64 = 1 << 30, _ change: (inout SchedulerPolicy) -> Void = { _ in }) -> Bench {
        var policy = SchedulerPolicy()
        policy.baselineBytes = bytes
        change(&policy)
        var bench = Bench(policy: policy)
        bench.join(1, credit: 50)
        return bench
    }

    private func job(
        _ batches: Int, tileset: Digest? = BaselineTests.tileset, identity: Digest? = nil
    ) -> JobSubmission {
        var submission = Bench.job(batches, identity: identity)
        submission.tileset = tileset
        return submission
    }

    private func submit(_ bench: inout Bench, _ submission: JobSubmission) throws -> JobID {
        bench.on(.submit(submission))
        return try #require(bench.scheduler.jobIDs.last)
    }

    /// Does a job's work, with shards as `seed` makes them; returns its offers of batches.
    @discardableResult
    private func work(_ bench: inout Bench, seed: UInt64 = 0, job: JobID? = nil) -> [Offer] {
        var seen: [Offer] = []
        var offers = bench.offers()
        while !offers.isEmpty {
            for offer in offers {
                if case .fetch = offer.work { seen.append(offer) }
                bench.finish(offer, by: 1, seed: seed)
            }
            bench.on(.ready(1, credit: 50))
            bench.runCoordinatorSteps()
            offers = bench.offers()
        }
        return seen
    }

    private func shards(_ bench: Bench, _ job: JobID) -> [Digest] { bench.rows(job).compactMap(\.digest) }

    @Test func aRebuildIsOfferedTheShardsOfTheBuildBeforeAndTakesItsPlace() throws {
        var bench = bench()
        let first = try submit(&bench, job(3))
        #expect(work(&bench).allSatisfy { $0.base.isEmpty })
        #expect(try bench.summary(first).state == .done && bench.summary(first).keepsBlobs)
        #expect(bench.released().isEmpty)
        let second = try submit(&bench, job(3))
        let offers = work(&bench)
        #expect(offers.map(\.base) == shards(bench, first).map { [$0] })
        #expect(offers.allSatisfy { $0.sources.isEmpty }, "nothing of an earlier build is believed unasked")
        #expect(bench.scheduler.baselineJobs == [second])
        #expect(bench.released() == [first])
    }

    /// A job that asks only for changed tiles takes the others from the newest build, and gives its own to no other job.
    @Test func aJobOfChangedTilesTakesTheNewestAndSharesNothing() throws {
        var bench = bench()
        let large = try submit(&bench, job(4))
        work(&bench, seed: 1)
        let small = try submit(&bench, job(2))
        work(&bench, seed: 2)
        var changed = job(4)
        changed.asksChangedOnly = true
        let third = try submit(&bench, changed)
        // Another job of the tileset runs at the same time.
        let fourth = try submit(&bench, job(4, identity: Bench.digest(5)))
        let offers = work(&bench, seed: 3)
        let (old, new) = (shards(bench, large), shards(bench, small))
        let ofThird = offers.filter { $0.job == third }
        #expect(ofThird.count == 4)
        #expect(ofThird.contains { $0.base == [new[0], old[0]] }, "\(ofThird.map(\.base))")
        let own = Set(shards(bench, third))
        let ofFourth = offers.filter { $0.job == fourth }
        #expect(!ofFourth.isEmpty)
        #expect(ofFourth.allSatisfy { own.isDisjoint(with: $0.sources) }, "tiles that were not asked about are shared")
    }

    @Test func onlyJobsThatAreDoneLeaveBaselinesAndOnlyTheirOwnTilesetAsks() throws {
        var bench = bench()
        let cancelled = try submit(&bench, job(2))
        bench.finish(try #require(bench.offers().first), by: 1)
        bench.on(.cancel(cancelled))
        #expect(bench.scheduler.baselineJobs == [])
        bench.on(.ready(1, credit: 50))
        _ = try submit(&bench, job(2, tileset: nil))
        work(&bench)
        let other = try submit(&bench, job(2, tileset: Bench.digest(78)))
        work(&bench)
        #expect(bench.scheduler.baselineJobs == [other])
        _ = try submit(&bench, job(2))
        #expect(work(&bench).allSatisfy { $0.base.isEmpty })
    }

    @Test func aSmallerJobTakesNobodysPlaceUnlessItAsksForTheSame() throws {
        var bench = bench()
        let large = try submit(&bench, job(4))
        work(&bench)
        let small = try submit(&bench, job(2))
        #expect(work(&bench).allSatisfy { $0.base.count == 1 })
        #expect(bench.scheduler.baselineJobs == [large, small])
        // Both are older than this one, and it has everything that they have.
        let whole = try submit(&bench, job(5))
        let offers = work(&bench)
        #expect(offers.map(\.base.count) == [2, 2, 1, 1, 0])
        #expect(offers[0].base.first == shards(bench, small).first, "of equal ones the newest first")
        #expect(bench.scheduler.baselineJobs == [whole])
        var same = job(3, identity: Bench.digest(5))
        _ = try submit(&bench, same)
        work(&bench)
        same.batches.removeLast()
        let again = try submit(&bench, same)
        work(&bench)
        #expect(bench.scheduler.baselineJobs == [whole, again])
    }

    @Test func theOldestGoWhenThereIsNoRoomAndALargeOneIsNotKept() throws {
        // A batch is 425 bytes here.
        var bench = bench(bytes: 1_300)
        let first = try submit(&bench, job(2, tileset: Bench.digest(1)))
        work(&bench)
        let second = try submit(&bench, job(1, tileset: Bench.digest(2)))
        work(&bench)
        #expect(bench.scheduler.baselineJobs == [first, second])
        let third = try submit(&bench, job(1, tileset: Bench.digest(3)))
        work(&bench)
        #expect(bench.scheduler.baselineJobs == [second, third])
        #expect(bench.released() == [first])
        let large = try submit(&bench, job(4, tileset: Bench.digest(4)))
        work(&bench)
        #expect(bench.scheduler.baselineJobs == [second, third])
        #expect(bench.released() == [large])
    }

    @Test func theOldestGoesWhenRoomIsShort() throws {
        var bench = bench()
        let first = try submit(&bench, job(2, tileset: Bench.digest(1)))
        work(&bench)
        let second = try submit(&bench, job(1, tileset: Bench.digest(2)))
        work(&bench)
        bench.on(.blobSpaceShort)
        #expect(bench.released() == [first] && bench.scheduler.baselineJobs == [second])
        bench.on(.blobSpaceShort)
        bench.on(.blobSpaceShort)
        #expect(bench.released() == [second] && bench.scheduler.baselineJobs == [])
    }

    @Test func baselinesOutliveARestartWithinTheLimitsOfToday() throws {
        var bench = bench()
        let first = try submit(&bench, job(2, tileset: Bench.digest(1)))
        work(&bench)
        let second = try submit(&bench, job(2))
        work(&bench)
        bench.restart()
        #expect(bench.scheduler.audit() == [])
        #expect(bench.scheduler.baselineJobs == [first, second])
        let trimmed = bench.other.compactMap { if case .trim(let job) = $0 { job } else { nil } }
        #expect(trimmed == [first, second], "a crash may have come before")
        bench.join(1, credit: 50)
        _ = try submit(&bench, job(2))
        #expect(bench.offers().map(\.base) == shards(bench, second).map { [$0] })
        var policy = bench.scheduler.policy
        policy.baselineBytes = 0
        bench.scheduler = Scheduler(policy: policy, epoch: 9, now: bench.now)
        bench.restart()
        #expect(bench.scheduler.audit() == [])
        #expect(bench.released().sorted() == [first, second])
        #expect(bench.store.jobs.allSatisfy { !$0.summary.keepsBlobs })
    }

    @Test func aBaselineIsRememberedWhenOlderJobsAreForgotten() throws {
        var bench = bench { $0.baselineAge = 3 }
        let first = try submit(&bench, job(2))
        work(&bench)
        let second = try submit(&bench, job(1, tileset: nil))
        work(&bench)
        #expect(bench.scheduler.finishedCount == 1 && bench.scheduler.oldestFinished == second)
        for _ in 0..<2 {
            _ = try submit(&bench, job(1, tileset: nil))
            work(&bench)
        }
        // Three newer ones have come: it is an old job like others now.
        #expect(bench.scheduler.oldestFinished == first)
        bench.on(.forget(first))
        #expect(bench.released() == [2, 3, 4, first].filter { $0 == first || $0 > first })
        bench.on(.forget(first))
        #expect(bench.scheduler.summary(of: first) == nil)
    }

    @Test func whatWasGivenUpCanBeDroppedFromABaseline() throws {
        var bench = bench()
        var lenient = job(2)
        lenient.allowedMissing = 0.5
        let id = try submit(&bench, lenient)
        bench.on(.drop(id, batches: nil))
        work(&bench)
        bench.on(.drop(id, batches: nil))
        #expect(bench.scheduler.baselineJobs == [id])
    }

    // MARK: - Packages with nothing new

    private func wishes(_ bench: inout Bench) -> [Effect] {
        defer { bench.other = [] }
        return bench.other.filter {
            switch $0 {
            case .writeManifest, .publish: true
            default: false
            }
        }
    }

    /// Fetches a job's batches and says that its manifest is `manifest`.
    private func untilManifest(_ bench: inout Bench, _ id: JobID, _ manifest: Digest) throws {
        for offer in bench.offers() { bench.finish(offer, by: 1) }
        bench.on(.ready(1, credit: 50))
        let wished = wishes(&bench)
        guard case .writeManifest(id, package: 0)? = wished.first else {
            Issue.record("\(wished)")
            return
        }
        bench.on(.manifestWritten(id, package: 0, manifest))
    }

    @Test(arguments: [false, true])
    func aPackageOfTheSameManifestIsNotMerged(afterARestart: Bool) throws {
        var bench = bench()
        let manifest = Bench.digest(1_234)
        let first = try submit(&bench, job(1))
        try untilManifest(&bench, first, manifest)
        work(&bench)
        let merged = try #require(bench.scheduler.packages(of: first)[0].merged)
        if afterARestart {
            bench.restart()
            bench.join(1, credit: 50)
        }
        let second = try submit(&bench, job(1))
        try untilManifest(&bench, second, manifest)
        #expect(bench.offers().isEmpty, "no merge")
        guard case .publish(second, package: 0, merged)? = wishes(&bench).first else {
            Issue.record("not published")
            return
        }
        bench.on(.published(second, package: 0, version: 1, path: "p", unchanged: true))
        #expect(try bench.summary(second).state == .done)
        #expect(bench.scheduler.packages(of: second)[0].state == .unchanged)
    }

    @Test func aManifestThatDoesNotSayAllIsMergedAgain() throws {
        var bench = bench()
        let manifest = Bench.digest(1_234)
        let first = try submit(&bench, job(1))
        try untilManifest(&bench, first, manifest)
        work(&bench)
        let second = try submit(&bench, job(1))
        for offer in bench.offers() { bench.finish(offer, by: 1) }
        bench.on(.ready(1, credit: 50))
        bench.on(.manifestWritten(second, package: 0, manifest, decides: false))
        #expect(bench.offers().count == 1)
    }

    @Test func aPackageThatTheCatalogHasLostIsMergedAfterAll() throws {
        var bench = bench()
        let manifest = Bench.digest(1_234)
        let first = try submit(&bench, job(1))
        try untilManifest(&bench, first, manifest)
        work(&bench)
        let second = try submit(&bench, job(1))
        try untilManifest(&bench, second, manifest)
        _ = wishes(&bench)
        let gone = Trouble(cause: "blob-missing", detail: "gone")
        bench.on(.packageTrouble(second, package: 0, gone, retriable: false))
        bench.pass(120_000)
        bench.on(.ready(1, credit: 50))
        let offer = try #require(bench.offers().first)
        guard case .merge(package: 0, id: "P0", manifest: manifest) = offer.work else {
            Issue.record("\(offer)")
            return
        }
        bench.finish(offer, by: 1)
        bench.runCoordinatorSteps()
        #expect(try bench.summary(second).state == .done)
    }

    @Test func anotherManifestOrAForgottenJobIsMerged() throws {
        var bench = bench { $0.baselineBytes = 0 }
        let manifest = Bench.digest(1_234)
        let first = try submit(&bench, job(1))
        try untilManifest(&bench, first, manifest)
        work(&bench)
        let second = try submit(&bench, job(1))
        try untilManifest(&bench, second, Bench.digest(1_235))
        #expect(bench.offers().count == 1)
        bench.on(.cancel(second))
        bench.on(.forget(first))
        bench.on(.ready(1, credit: 50))
        let third = try submit(&bench, job(1))
        try untilManifest(&bench, third, manifest)
        #expect(bench.offers().count == 1)
    }
}
