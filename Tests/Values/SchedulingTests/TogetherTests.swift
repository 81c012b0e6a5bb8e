import Scheduling
import Testing

/// Jobs whose packages are published in one change of the catalog.
struct TogetherTests {
    /// A job with two packages over one batch, whose tiles are fetched; its merges are on offer.
    private func merging(_ bench: inout Bench) -> (JobID, [Offer]) {
        var submission = Bench.job(1, packages: 2)
        submission.publishesTogether = true
        bench.on(.submit(submission))
        bench.join(1)
        bench.on(.ready(1, credit: 8))
        for offer in bench.offers(to: 1) { bench.finish(offer, by: 1) }
        for case .writeManifest(let id, let package) in bench.other {
            bench.on(.manifestWritten(id, package: package, Bench.digest(UInt64(package.number) + 70)))
        }
        bench.other = []
        bench.on(.ready(1, credit: 8, mergeCredit: 8))
        return (1, bench.offers(to: 1))
    }

    private func orders(_ bench: inout Bench) -> [String] {
        defer { bench.other = [] }
        return bench.other.compactMap { effect in
            switch effect {
            case .publish(let id, let package, _): "\(id) \(package)"
            case .publishTogether(let id): "\(id) together"
            default: nil
            }
        }
    }

    @Test func theOrderComesWhenEachPackageIsMerged() throws {
        var bench = Bench()
        let (job, merges) = merging(&bench)
        try #require(merges.count == 2)
        bench.finish(merges[0], by: 1)
        #expect(orders(&bench) == [])
        #expect(bench.scheduler.summary(of: job)?.state == .merging)
        // Nothing is ordered at a start either, before all are merged.
        bench.restart()
        #expect(orders(&bench) == [])
        bench.join(1, held: [merges[1].token])
        bench.finish(merges[1], by: 1)
        #expect(orders(&bench) == ["1 together"])
        #expect(bench.scheduler.summary(of: job)?.state == .publishing)
        // One order after a start, not one for each package.
        bench.restart()
        #expect(orders(&bench) == ["1 together"])
        for package in [PackageIndex(0), PackageIndex(1)] {
            bench.on(.published(job, package: package, version: 1, path: "p", unchanged: false))
        }
        #expect(bench.scheduler.summary(of: job)?.state == .done)
        #expect(orders(&bench) == [])
    }

    @Test func aRefusedPackageFailsTheJobAndNothingIsPublished() throws {
        var bench = Bench()
        let (job, merges) = merging(&bench)
        for merge in merges { bench.finish(merge, by: 1) }
        #expect(orders(&bench) == ["1 together"])
        let trouble = Trouble(cause: "package-shrunk", detail: "half")
        bench.on(.packageTrouble(job, package: 1, trouble, retriable: false))
        let summary = try #require(bench.scheduler.summary(of: job))
        #expect(summary.state == .failed)
        #expect(summary.reason.contains("'P1' failed: package-shrunk: half; nothing is published"))
        #expect(summary.reason.contains("packhorse retry 1 --apart"))
        #expect(bench.scheduler.packages(of: job).map(\.state) == [.failed, .failed])
        #expect(orders(&bench) == [])
    }

    /// A package that fails while others are still merged does not end their merges: one report names all causes.
    @Test func othersAreStillMergedWhenOneHasFailed() throws {
        var bench = Bench()
        let (job, merges) = merging(&bench)
        bench.on(.fail(1, merges[0].token, Trouble(cause: "bad-tileset", detail: "x"), retriable: false))
        #expect(bench.scheduler.summary(of: job)?.state == .merging)
        bench.finish(merges[1], by: 1)
        #expect(bench.scheduler.summary(of: job)?.state == .failed)
        #expect(orders(&bench) == [])
    }

    @Test func aFileThatIsLostIsMadeAgainBeforeTheNextOrder() throws {
        var bench = Bench()
        let (job, merges) = merging(&bench)
        for merge in merges { bench.finish(merge, by: 1) }
        _ = orders(&bench)
        bench.on(.packageTrouble(job, package: 0, Trouble(cause: "blob-missing", detail: "x"), retriable: false))
        #expect(orders(&bench) == [] && bench.scheduler.summary(of: job)?.state == .merging)
        bench.pass(60_000)
        bench.on(.ready(1, credit: 8, mergeCredit: 8))
        let again = bench.offers(to: 1)
        try #require(again.count == 1)
        bench.finish(again[0], by: 1)
        #expect(orders(&bench) == ["1 together"])
    }

    /// A full disk is tried again for all of them.
    @Test func aTroubleThatHealsOrdersAllAgain() throws {
        var bench = Bench()
        let (job, merges) = merging(&bench)
        for merge in merges { bench.finish(merge, by: 1) }
        _ = orders(&bench)
        bench.on(.packageTrouble(job, package: 0, Trouble(cause: "disk-full", detail: "x"), retriable: true))
        bench.pass(120_000)
        #expect(orders(&bench) == ["1 together"])
        #expect(bench.scheduler.summary(of: job)?.state == .publishing)
    }

    @Test func aRetryPublishesApartWhenItIsToldTo() throws {
        var bench = Bench()
        let (job, merges) = merging(&bench)
        for merge in merges { bench.finish(merge, by: 1) }
        _ = orders(&bench)
        bench.on(.packageTrouble(job, package: 1, Trouble(cause: "package-shrunk", detail: "x"), retriable: false))
        let rows = bench.store.jobs.first { $0.summary.id == job }?.batches ?? []
        bench.on(.reopen(job, batches: rows, needs: nil, only: nil, isApart: true))
        for case .writeManifest(let id, let package) in bench.other {
            bench.on(.manifestWritten(id, package: package, Bench.digest(UInt64(package.number) + 90)))
        }
        _ = orders(&bench)
        bench.on(.ready(1, credit: 8, mergeCredit: 8))
        let again = bench.offers(to: 1)
        try #require(again.count == 2)
        bench.finish(again[0], by: 1)
        #expect(orders(&bench) == ["1 0"])
    }
}
