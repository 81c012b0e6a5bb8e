import Testing
import Tiles

@testable import Scheduling

/// All tiles of a job come from one version of its source's data.
struct SourceVersionTests {
    /// Two jobs over the same cells share what they fetch.
    private func submission(_ batches: Int = 3) -> JobSubmission {
        var submission = Bench.job(batches, allowedMissing: 0.5)
        submission.tileset = Bench.digest(77)
        return submission
    }

    private func submit(_ bench: inout Bench, _ batches: Int = 3) throws -> JobID {
        bench.on(.submit(submission(batches)))
        return try #require(bench.scheduler.jobIDs.last)
    }

    private func commit(
        _ bench: inout Bench, _ offer: Offer, _ version: String?, failed: [FailedTile] = [], by id: SessionID = 1
    ) throws {
        guard case .fetch(let digest, var counts, let failures) = Bench.result(offer, failed: failed) else {
            Issue.record("not a batch")
            return
        }
        counts.sourceVersion = version
        bench.on(.commit(id, offer.token, .fetch(digest, counts, failures: failures)))
    }

    @Test func theFirstVersionDecidesAndAnotherEndsTheJob() throws {
        var bench = Bench()
        bench.join(1, credit: 2)
        bench.join(2, credit: 1)
        let job = try submit(&bench)
        let offers = bench.offers(to: nil)
        #expect(offers.count == 3 && offers.allSatisfy { $0.sourceVersion == nil })
        let owner = { (offer: Offer) in bench.scheduler.batches(of: job).first { $0.token == offer.token }?.owner ?? 0 }
        let owners = offers.map(owner)
        try commit(&bench, offers[0], "monday", by: owners[0])
        #expect(try bench.summary(job).sourceVersion == "monday")
        #expect(bench.store.jobs[0].summary.sourceVersion == "monday", "durable with the batch")
        bench.sent = []
        try commit(&bench, offers[1], "tuesday", by: owners[1])
        let end = try bench.summary(job)
        #expect(end.state == .failed)
        #expect(end.reason.hasPrefix("source-changed: the archive was replaced or written to while the job ran"))
        for part in ["monday", "tuesday", "worker w\(owners[1]) on h", "Submit the job again"] {
            #expect(end.reason.contains(part), "\(end.reason)")
        }
        #expect(bench.messages(to: owners[1]).contains(.stale(offers[1].token, reason: "source-changed")))
        #expect(bench.messages(to: owners[2]).contains(.pong(cancelled: [offers[2].token])))
        guard case .fetch(let shard, _, _) = Bench.result(offers[1]) else { throw Unexpected() }
        #expect(bench.store.orphans[job] == [shard], "it goes with the job")
        // Nothing that comes later is taken.
        try commit(&bench, offers[2], "monday", by: owners[2])
        #expect(bench.rows(job).count { $0.state == .done } == 1)
    }

    @Test func aBuildOfATileServerHealsAndSaysWhatHappened() throws {
        var bench = Bench()
        bench.join(1, credit: 2)
        let job = try submit(&bench)
        let offers = bench.offers(to: 1)
        try commit(&bench, offers[0], "build 20261118")
        #expect(try !bench.summary(job).leavesOut, "a tile that fails counts")
        try commit(&bench, offers[1], "build 20261125")
        let end = try bench.summary(job)
        #expect(end.state == .failed && end.reason.contains("names another build of its tiles"), "\(end.reason)")
    }

    @Test func aSubmissionMayNameTheVersion() throws {
        var bench = Bench()
        bench.join(1, credit: 2)
        var pinned = submission()
        pinned.sourceVersion = "monday"
        bench.on(.submit(pinned))
        let job = try #require(bench.scheduler.jobIDs.last)
        #expect(bench.store.jobs[0].summary.sourceVersion == "monday", "durable with the job")
        let offers = bench.offers(to: nil)
        #expect(offers.count == 2 && offers.allSatisfy { $0.sourceVersion == "monday" })
        try commit(&bench, offers[0], "tuesday")
        let end = try bench.summary(job)
        #expect(end.state == .failed && end.reason.hasPrefix("source-changed:") && bench.scheduler.audit() == [])
    }

    /// An archive's tiles fail because their bodies are no tiles: packages are made without them.
    ///
    /// Not if no tile may be missing; and a tile server may heal.
    @Test(
        arguments: [
            (0.001, "monday", .merging), (0, "monday", .failed), (0.001, nil, .failed),
        ] as [(Double, String?, JobState)])
    func brokenTilesOfAnArchiveAreLeftOut(allowed: Double, version: String?, end: JobState) throws {
        var bench = Bench()
        bench.join(1, credit: 3)
        bench.on(.submit(Bench.job(3, allowedMissing: allowed)))
        let job = try #require(bench.scheduler.jobIDs.last)
        let failed = try (0..<20).map {
            FailedTile(
                tile: try #require(TileID(zoom: 14, x: $0, y: 0)), trouble: Trouble(cause: "left-out", detail: "broken")
            )
        }
        for (number, offer) in bench.offers().enumerated() {
            try commit(&bench, offer, version, failed: number == 0 ? failed : [])
        }
        let summary = try bench.summary(job)
        #expect(summary.state == end && summary.counts.failed == 20, "\(summary)")
        guard end == .failed else { return }
        let words = version == nil ? "could not be fetched" : "cannot be used"
        #expect(
            summary.reason.contains("20 of 255 tiles \(words)") && summary.reason.contains("14/0/0 left-out: broken"))
    }

    /// What is given up was not looked at.
    @Test func batchesOfAnArchiveThatAreGivenUpStillCount() throws {
        var bench = Bench()
        bench.join(1, credit: 3)
        bench.on(.submit(Bench.job(3)))
        let job = try #require(bench.scheduler.jobIDs.last)
        for (number, offer) in bench.offers().enumerated() {
            guard number == 0 else {
                try commit(&bench, offer, "monday")
                continue
            }
            bench.on(.fail(1, offer.token, Trouble(cause: "origin-bad-archive", detail: "a leaf"), retriable: false))
        }
        #expect(try bench.summary(job).state == .failed)
    }

    @Test func anArchiveWithoutAUsableTileFailsTheJob() throws {
        var bench = Bench()
        bench.join(1, credit: 3)
        bench.on(.submit(Bench.job(1)))
        let job = try #require(bench.scheduler.jobIDs.last)
        let failed = try (0..<85).map {
            FailedTile(
                tile: try #require(TileID(zoom: 14, x: $0, y: 0)), trouble: Trouble(cause: "left-out", detail: "broken")
            )
        }
        for offer in bench.offers() { try commit(&bench, offer, "monday", failed: failed) }
        let summary = try bench.summary(job)
        #expect(
            summary.state == .failed && summary.reason.contains("85 cannot be used; first: 14/0/0 left-out: broken"))
    }

    @Test func equalVersionsAndNoneAreTaken() throws {
        for version in ["monday", nil] {
            var bench = Bench()
            bench.join(1, credit: 3)
            let job = try submit(&bench)
            for offer in bench.offers() { try commit(&bench, offer, version) }
            #expect(try bench.summary(job).state == .merging && bench.summary(job).sourceVersion == version)
        }
    }

    /// A part of a batch that was kept for its next attempt counts like a whole one.
    @Test func aPartialResultDecidesToo() throws {
        var bench = Bench()
        bench.join(1, credit: 1)
        let job = try submit(&bench)
        let offer = try #require(bench.offers().first)
        guard case .fetch(_, let cell, _, _) = offer.work else { throw Unexpected() }
        let lost = [FailedTile(tile: cell, trouble: Trouble(cause: "timeout", detail: "x"))]
        try commit(&bench, offer, "monday", failed: lost)
        #expect(bench.scheduler.batches(of: job).contains { $0.partial != nil })
        bench.on(.ready(1, credit: 1))
        let next = try #require(bench.offers().first)
        #expect(next.sourceVersion == "monday")
        try commit(&bench, next, "tuesday", failed: lost)
        #expect(try bench.summary(job).state == .failed)
    }

    @Test func theVersionOutlastsRestartsAndPauses() throws {
        var bench = Bench()
        bench.join(1, credit: 1)
        let job = try submit(&bench)
        try commit(&bench, try #require(bench.offers().first), "monday")
        bench.on(.order(job, .pause))
        bench.restart()
        bench.on(.order(job, .resume))
        bench.join(1, credit: 1)
        let offer = try #require(bench.offers().first)
        #expect(offer.sourceVersion == "monday")
        try commit(&bench, offer, "tuesday")
        #expect(try bench.summary(job).state == .failed)
    }

    @Test func aRetriedJobKeepsItsVersionAsLongAsItHasTiles() throws {
        for hasTiles in [true, false] {
            var bench = Bench()
            bench.join(1, credit: 2)
            let job = try submit(&bench)
            let offers = bench.offers()
            try commit(&bench, offers[0], "monday")
            try commit(&bench, offers[1], "tuesday")
            let rows = hasTiles ? bench.rows(job) : submission().batches.map(Batch.init)
            bench.on(.reopen(job, batches: rows, isKept: hasTiles, needs: nil, only: nil))
            #expect(try bench.summary(job).sourceVersion == (hasTiles ? "monday" : nil))
            #expect(bench.store.jobs[0].summary.sourceVersion == (hasTiles ? "monday" : nil))
            bench.on(.ready(1, credit: 1))
            try commit(&bench, try #require(bench.offers().first), "tuesday")
            #expect(try bench.summary(job).state == (hasTiles ? .failed : .fetching))
        }
    }

    @Test func whatOtherJobsFetchedIsTakenFromTheSameVersionOnly() throws {
        var bench = Bench()
        bench.join(1, credit: 2)
        let first = try submit(&bench)
        for offer in bench.offers() { try commit(&bench, offer, "monday") }
        let second = try submit(&bench)
        bench.on(.ready(1, credit: 1))
        // The second job asks for a batch that the first has, which has another one left.
        #expect(try bench.summary(first).state == .fetching)
        let offer = try #require(bench.offers().first { $0.job == second })
        #expect(offer.sourceVersion == nil && offer.sourcesVersion == "monday" && offer.sources.count == 1)
        // Its worker finds another version, and so does not use them.
        try commit(&bench, offer, "tuesday")
        #expect(try bench.summary(second).sourceVersion == "tuesday" && bench.summary(second).state == .fetching)
        // One for what is left of the first job, one for the second.
        bench.on(.ready(1, credit: 2))
        let next = try #require(bench.offers().first { $0.job == second })
        #expect(next.sources.isEmpty && next.sourceVersion == "tuesday" && next.sourcesVersion == nil)
    }

    @Test func theShardsOfAnEndedJobAreOfItsVersion() throws {
        var bench = Bench()
        bench.join(1, credit: 1)
        let first = try submit(&bench)
        let second = try submit(&bench)
        try commit(&bench, try #require(bench.offers().first), "monday")
        bench.on(.cancel(first))
        for isRestarted in [false, true] {
            if isRestarted { bench.restart() }
            bench.join(2, credit: 1)
            let offer = try #require(bench.offers().first { $0.job == second })
            if !isRestarted { #expect(offer.sources.count == 1 && offer.sourcesVersion == "monday") }
            try commit(&bench, offer, "tuesday", by: 2)
        }
        #expect(try bench.summary(second).sourceVersion == "tuesday")
        bench.on(.ready(2, credit: 1))
        let last = bench.offers().filter { $0.job == second }
        #expect(last.allSatisfy { $0.sources.isEmpty })
    }

    @Test func aWorkerThatFindsAnotherVersionEndsTheJobWithoutAResult() throws {
        var bench = Bench()
        bench.join(1, credit: 1)
        let job = try submit(&bench)
        try commit(&bench, try #require(bench.offers().first), "monday")
        bench.on(.ready(1, credit: 1))
        let offer = try #require(bench.offers().first)
        bench.on(.fail(1, offer.token, Trouble(cause: "source-changed", detail: "tuesday"), retriable: false))
        let end = try bench.summary(job)
        #expect(end.state == .failed && end.reason.contains("monday") && end.reason.contains("has tuesday"))
    }

    /// However often: the job waits until the lock is gone.
    @Test func aLockedArchiveCostsNoAttempt() throws {
        var bench = Bench()
        bench.join(1)
        let job = try submit(&bench, 1)
        for _ in 0..<20 {
            bench.on(.ready(1, credit: 1))
            let offer = try #require(bench.offers().first)
            bench.on(.fail(1, offer.token, Trouble(cause: "origin-busy", detail: "locked"), retriable: true))
            #expect(bench.scheduler.batches(of: job)[0].state == .backoff)
            #expect(bench.scheduler.stallReason(of: job, now: bench.now) == "retry after origin-busy: locked")
            bench.pass(SchedulerPolicy.backoffBase + 1)
        }
        let batch = bench.scheduler.batches(of: job)[0]
        #expect(batch.attempts == 0 && batch.state == .ready && bench.cuts.isEmpty)
    }

    private struct Unexpected: Error {}
}
