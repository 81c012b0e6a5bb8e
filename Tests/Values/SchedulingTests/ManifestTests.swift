import Scheduling
import Testing

/// Manifests are written in the background; their blobs are removed with the job like all others.
struct ManifestTests {
    /// A job whose only manifest is ordered and not written.
    private func merging(_ bench: inout Bench) throws -> JobID {
        let job = bench.submit(1)
        bench.join(1, credit: 4)
        bench.finish(try #require(bench.offers().first), by: 1)
        #expect(orders(bench) == 1)
        return job
    }

    private func orders(_ bench: Bench) -> Int {
        bench.other.count { if case .writeManifest = $0 { true } else { false } }
    }

    @Test func aJobThatEndsKeepsItsBlobsUntilItsManifestIsWritten() throws {
        var bench = Bench()
        let job = try merging(&bench)
        bench.on(.cancel(job))
        #expect(bench.released().isEmpty)
        #expect(bench.scheduler.isWriting(job))
        bench.on(.manifestWritten(job, package: 0, Bench.digest(7)))
        #expect(bench.released() == [job])
        #expect(bench.store.orphans[job] == [Bench.digest(7)], "it goes with the job")
        #expect(!bench.scheduler.isWriting(job))
    }

    @Test func aManifestThatCouldNotBeWrittenHoldsNothingBack() throws {
        var bench = Bench()
        let job = try merging(&bench)
        bench.on(.cancel(job))
        let trouble = Trouble(cause: "job-ended", detail: "")
        bench.on(.manifestFailed(job, package: 0, trouble, retriable: false))
        #expect(bench.released() == [job])
    }

    /// The merger could not read the manifest, twice, and both waits end before the first new manifest is there.
    @Test func aPackageHasOneManifestUnderWay() throws {
        var bench = Bench()
        let job = try merging(&bench)
        bench.other = []
        // An alarm of an earlier attempt rings while the manifest is being written.
        bench.on(.manifestFailed(job, package: 0, Trouble(cause: "disk-full", detail: "x"), retriable: true))
        bench.pass(10_000)
        #expect(orders(bench) == 1)
        bench.pass(600_000)
        bench.pass(600_000)
        #expect(orders(bench) == 1)
        bench.on(.manifestWritten(job, package: 0, Bench.digest(7)))
        #expect(bench.scheduler.packages(of: job).map(\.manifest) == [Bench.digest(7)])
    }

    /// A shard is fetched again while the manifest that names it is being written.
    @Test func aManifestOfShardsThatAreFetchedAgainIsNotUsed() throws {
        var bench = Bench()
        bench.on(.submit(Bench.job(1, packages: 2)))
        let job = try #require(bench.scheduler.jobIDs.last)
        bench.join(1, credit: 1)
        bench.finish(try #require(bench.offers().first), by: 1)
        #expect(orders(bench) == 2)
        bench.other = []
        bench.on(.manifestWritten(job, package: 0, Bench.digest(7)))
        bench.on(.ready(1, credit: 1))
        let merge = try #require(bench.offers().first)
        let lost = try #require(bench.scheduler.batches(of: job).first?.digest)
        bench.on(
            .fail(1, merge.token, Trouble(cause: "shard-missing", detail: ""), retriable: true, lostShards: [lost]))
        bench.pass(200_000)
        bench.on(.ready(1, credit: 1))
        bench.finish(try #require(bench.offers().first), by: 1, seed: 1)
        #expect(bench.scheduler.packages(of: job).map(\.state) == [.manifest, .manifest])
        #expect(orders(bench) == 1, "the second package's old one is still being written")
        bench.on(.manifestWritten(job, package: 1, Bench.digest(8)))
        #expect(bench.scheduler.packages(of: job)[1].manifest == nil)
        #expect(bench.store.orphans[job]?.contains(Bench.digest(8)) == true)
        #expect(orders(bench) == 2)
        bench.on(.manifestWritten(job, package: 1, Bench.digest(9)))
        #expect(bench.scheduler.packages(of: job)[1].manifest == Bench.digest(9))
    }
}
