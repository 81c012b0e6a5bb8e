import Scheduling
import Testing

/// Packages that are wanted in other formats than their own.
struct SchedulingFormatTests {
    /// A job of one fetched batch, whose packages wait because no worker can merge them.
    private func fetched(_ formats: [[String]]) -> Bench {
        var bench = Bench()
        var job = Bench.job(1, packages: formats.count)
        job.formats = formats
        bench.on(.submit(job))
        bench.join(1, credit: 1, merge: false)
        for offer in bench.offers() { bench.finish(offer, by: 1) }
        bench.runCoordinatorSteps()
        return bench
    }

    private func package(of offer: Offer?) -> PackageIndex? {
        if case .merge(let package, _, _) = offer?.work { package } else { nil }
    }

    private func merged(_ offer: Offer, _ formats: [String]) -> CommitResult {
        let files = formats.enumerated().map {
            MergedFile(format: $1, digest: Bench.digest(900 + UInt64($0)), size: 7)
        }
        return .merge(
            MergedPackage(digest: Bench.digest(800), size: 1, tiles: 1, tilesHash: "h", files: files))
    }

    @Test func aMergeGoesOnlyToAWorkerThatWritesAllItsFormats() throws {
        var bench = fetched([["flat", "pmtiles"], []])
        bench.join(2, credit: 5, fetch: false)
        let simple = bench.offers()
        #expect(simple.map { package(of: $0) } == [1])
        bench.join(3, credit: 5, fetch: false, exports: ["flat"])
        #expect(bench.offers().isEmpty)
        #expect(bench.scheduler.missingFormats(of: 1) == ["pmtiles"])
        bench.join(4, credit: 5, fetch: false, exports: ["pmtiles", "carto", "flat"])
        #expect(bench.offers(to: 4).map { package(of: $0) } == [0])
        #expect(bench.scheduler.missingFormats(of: 1).isEmpty)
    }

    @Test func whoCanDoLessIsTakenForWhatNeedsLess() {
        var bench = fetched([[], ["pmtiles"]])
        bench.scheduler = Scheduler(epoch: 2, jobs: bench.store.jobs, now: bench.now)
        _ = bench.scheduler.start(now: bench.now)
        // Both are free before either package is ready again.
        bench.on(.order(1, .pause))
        bench.join(2, credit: 1, fetch: false, exports: ["pmtiles"])
        bench.join(3, credit: 1, fetch: false)
        #expect(bench.offers().isEmpty)
        bench.on(.order(1, .resume))
        let offers = bench.sent
        let toAble = bench.offers(to: 2).map { package(of: $0) }
        bench.sent = offers
        #expect(toAble == [1])
        #expect(bench.offers(to: 3).map { package(of: $0) } == [0])
    }

    @Test func twoThatTogetherWriteEverythingAreNotEnough() {
        var bench = fetched([["flat", "pmtiles"]])
        bench.join(2, credit: 1, fetch: false, exports: ["flat"])
        bench.join(3, credit: 1, fetch: false, exports: ["pmtiles"])
        #expect(bench.offers().isEmpty)
        #expect(bench.scheduler.missingFormats(of: 1) == ["flat", "pmtiles"])
    }

    @Test(arguments: [[], ["flat"], ["pmtiles", "flat"], ["flat", "pmtiles", "carto"]])
    func aResultWithOtherFormatsCountsAsAFailedAttempt(_ formats: [String]) throws {
        var bench = fetched([["flat", "pmtiles"]])
        bench.join(2, credit: 1, fetch: false, exports: ["flat", "pmtiles"])
        let offer = try #require(bench.offers().first)
        bench.on(.commit(2, offer.token, merged(offer, formats)))
        #expect(bench.messages(to: 2).contains(.stale(offer.token, reason: "bad-files")))
        let package = try #require(bench.scheduler.packages(of: 1).first)
        #expect(package.state == .backoff)
        #expect(package.attempts == 1)
        #expect(package.trouble?.cause == "bad-files")
    }

    @Test func aLostFileMakesTheMergeAgainAndNamesWhatIsLeft() throws {
        var bench = fetched([["flat", "pmtiles"]])
        bench.join(2, credit: 1, fetch: false, exports: ["flat", "pmtiles"])
        let offer = try #require(bench.offers().first)
        bench.on(.commit(2, offer.token, merged(offer, ["flat", "pmtiles"])))
        #expect(bench.scheduler.packages(of: 1).first?.state == .publishing)
        #expect(bench.store.jobs[0].packages[0].merged?.files.map(\.format) == ["flat", "pmtiles"])
        bench.on(.packageTrouble(1, package: 0, Trouble(cause: "blob-missing", detail: "pmtiles"), retriable: false))
        #expect(bench.scheduler.packages(of: 1).first?.merged == nil)
        #expect(bench.store.orphans[1]?.isSuperset(of: [Bench.digest(900), Bench.digest(901)]) == true)
        bench.pass(60_000)
        bench.pass(60_000)
        bench.on(.ready(2, credit: 1))
        let again = try #require(bench.offers(to: 2).first)
        bench.on(.commit(2, again.token, merged(again, ["flat", "pmtiles"])))
        bench.runCoordinatorSteps()
        #expect(try bench.summary(1).state == .done)
    }

    @Test func aRestartKnowsWhatWasAskedForAndWhatWasMade() throws {
        var bench = fetched([["pmtiles"], ["flat"]])
        bench.join(2, credit: 1, fetch: false, exports: ["pmtiles"])
        let offer = try #require(bench.offers().first)
        bench.on(.commit(2, offer.token, merged(offer, ["pmtiles"])))
        bench.restart()
        #expect(bench.scheduler.formats(of: 1, package: 1) == ["flat"])
        let published = bench.other.compactMap { if case .publish(_, _, let merged) = $0 { merged } else { nil } }
        #expect(published.last?.files.map(\.format) == ["pmtiles"])
        bench.join(3, credit: 1, fetch: false, exports: ["pmtiles"])
        #expect(bench.offers().isEmpty)
        bench.join(4, credit: 1, fetch: false, exports: ["flat"])
        #expect(bench.offers(to: 4).map { package(of: $0) } == [1])
    }
}
