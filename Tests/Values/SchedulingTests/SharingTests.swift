import Digests
import Testing
import Tiles

@testable import Scheduling

/// Jobs of one tileset fetch each tile once.
struct SharingTests {
    private static let tileset = Bench.digest(77)
    private static let other = Bench.digest(78)

    /// A job over cells of z11–14, by column; `zoom` 10 makes one cell of four of them.
    private func job(
        _ columns: Range<Int>, zoom: Int = 11, tileset: Digest? = SharingTests.tileset
    ) -> JobSubmission {
        var submission = Bench.job(1, allowedMissing: 0.5)
        submission.batches = columns.compactMap { x in
            guard let cell = TileID(zoom: zoom, x: x, y: 0), let zooms = ZoomRange(min: 11, max: 14) else { return nil }
            return PlannedBatch(cell: cell, zooms: zooms, tiles: zoom == 11 ? 85 : 340)
        }.sorted { $0.cell < $1.cell }
        submission.packages = [Package(id: "P", tiles: submission.batches.reduce(0) { $0 + $1.tiles })]
        submission.tileset = tileset
        return submission
    }

    private func submit(_ bench: inout Bench, _ submission: JobSubmission) throws -> JobID {
        bench.on(.submit(submission))
        return try #require(bench.scheduler.jobIDs.last)
    }

    private func digest(_ bench: Bench, _ job: JobID, _ batch: Int) throws -> Digest {
        try #require(bench.scheduler.batches(of: job)[batch].digest)
    }

    @Test func aBatchWaitsWhileAnotherJobFetchesItsTilesAndThenTakesThem() throws {
        var bench = Bench()
        bench.join(1, credit: 4)
        let first = try submit(&bench, job(0..<2))
        let second = try submit(&bench, job(1..<3))
        let offers = bench.offers()
        // Of the second job only the cell that the first does not have.
        #expect(offers.map(\.job) == [first, first, second])
        let twin = try #require(bench.scheduler.batches(of: second).firstIndex { $0.state == .ready })
        let shared = bench.scheduler.batches(of: second)[twin].cell
        let index = try #require(bench.scheduler.batches(of: first).firstIndex { $0.cell == shared })
        let lease = try #require(bench.scheduler.batches(of: first)[index].token)
        bench.finish(try #require(offers.first { $0.token == lease }), by: 1)
        let next = try #require(bench.offers().first)
        #expect(next.job == second)
        let shard = try digest(bench, first, index)
        #expect(next.sources == [shard])
    }

    /// Its tiles may be of last week.
    @Test func whatAPausedJobHasIsTakenByNobodyUnasked() throws {
        var bench = Bench()
        bench.join(1, credit: 1)
        let first = try submit(&bench, job(0..<2))
        bench.finish(try #require(bench.offers().first), by: 1)
        _ = try #require(bench.scheduler.batches(of: first).compactMap(\.digest).first)
        bench.on(.order(first, .pause))
        let second = try submit(&bench, job(0..<2))
        bench.on(.ready(1, credit: 4))
        var offers = bench.offers()
        #expect(offers.map(\.job) == [second, second] && offers.allSatisfy { $0.sources.isEmpty })
        // Nor when it continues, or has ended; it can still use what others fetch meanwhile.
        bench.on(.order(first, .resume))
        bench.on(.ready(1, credit: 4))
        for offer in offers { bench.finish(offer, by: 1) }
        bench.on(.ready(1, credit: 4))
        let third = try submit(&bench, job(0..<2))
        bench.on(.ready(1, credit: 4))
        offers += bench.offers()
        let old = Set(bench.scheduler.batches(of: first).compactMap(\.digest))
        let fresh = Set(bench.scheduler.batches(of: second).compactMap(\.digest)).subtracting(old)
        for offer in offers where offer.job == third { #expect(fresh.isSuperset(of: offer.sources)) }
        #expect(offers.contains { $0.job == first && !fresh.isDisjoint(with: $0.sources) })
    }

    @Test func thatAJobWasPausedOutlastsACoordinator() throws {
        var bench = Bench()
        bench.join(1, credit: 1)
        let first = try submit(&bench, job(0..<2))
        bench.finish(try #require(bench.offers().first), by: 1)
        bench.on(.order(first, .pause))
        bench.on(.order(first, .resume))
        bench.restart()
        #expect(bench.store.jobs.map(\.tileset) == [SharingTests.tileset])
        bench.join(1, credit: 9)
        let second = try submit(&bench, job(0..<2))
        let offers = bench.offers().filter { $0.job == second }
        #expect(offers.count == 1 && offers[0].sources.isEmpty, "the other cell is being fetched")
    }

    /// A job may be retried long after it failed.
    @Test func whatARetriedJobHasIsTakenByNobodyUnasked() throws {
        var bench = Bench()
        bench.join(1, credit: 3)
        let first = try submit(&bench, job(0..<3))
        for (number, offer) in bench.offers().enumerated() {
            if number == 0 {
                bench.finish(offer, by: 1)
            } else {
                bench.on(.fail(1, offer.token, Trouble(cause: "bad-tileset", detail: "x"), retriable: false))
            }
        }
        bench.runCoordinatorSteps()
        #expect(try bench.summary(first).state == .failed)
        bench.on(.reopen(first, batches: bench.rows(first), needs: nil, only: nil))
        let old = try #require(bench.rows(first).first { $0.digest != nil })
        let second = try submit(&bench, job(0..<3))
        bench.on(.ready(1, credit: 9))
        let offers = bench.offers().filter { $0.job == second }
        #expect(offers.allSatisfy { $0.sources.isEmpty })
        #expect(bench.scheduler.batches(of: second).first { $0.cell == old.cell }?.state == .leased)
    }

    @Test func aRetryOfACancelledJobDoesNotForgetWhatOthersMayUse() throws {
        var bench = Bench()
        bench.join(1, credit: 1)
        let first = try submit(&bench, job(0..<2))
        _ = try submit(&bench, job(5..<6))
        bench.finish(try #require(bench.offers().first), by: 1)
        let shard = try #require(bench.scheduler.batches(of: first).compactMap(\.digest).first)
        bench.on(.cancel(first))
        #expect(bench.released().isEmpty, "held for the second job")
        let plan = job(0..<2).batches.map(Batch.init)
        bench.on(.reopen(first, batches: plan, isKept: false, needs: nil, only: nil))
        #expect(bench.rows(first).allSatisfy { $0.digest == nil && $0.partial == nil })
        #expect(bench.store.orphans[first] == [shard], "it goes when the job ends")
    }

    @Test func jobsOfOtherTilesetsShareNothing() throws {
        var bench = Bench()
        bench.join(1, credit: 9)
        for tileset in [SharingTests.tileset, SharingTests.other, nil, nil] {
            _ = try submit(&bench, job(0..<1, tileset: tileset))
        }
        let offers = bench.offers()
        #expect(offers.count == 4)
        #expect(offers.allSatisfy { $0.sources.isEmpty })
    }

    @Test func aLeaseThatIsLostFreesWhatWaitedBehindIt() throws {
        var bench = Bench()
        bench.join(1, credit: 1)
        let first = try submit(&bench, job(0..<1))
        let second = try submit(&bench, job(0..<1))
        bench.join(2, credit: 1)
        #expect(bench.offers().map(\.job) == [first])
        bench.pass(70_000)
        bench.on(.ready(2, credit: 2))
        let offers = bench.offers(to: 2)
        #expect(offers.count == 1, "one of them fetches, the other waits for it")
        bench.finish(try #require(offers.first), by: 2)
        let last = bench.offers(to: 2)
        #expect(last.count == 1)
        #expect(last.first?.sources.count == 1)
        #expect(Set(offers.map(\.job) + last.map(\.job)) == [first, second])
    }

    @Test func wideAndFineCellsFindEachOtherNearestFirst() throws {
        var bench = Bench()
        bench.join(1, credit: 9)
        let fine = try submit(&bench, job(0..<4))
        for offer in bench.offers() { bench.finish(offer, by: 1) }
        // The fine job still merges: its shards are sources of a wide cell, two of them lie below it.
        bench.on(.ready(1, credit: 9))
        let wide = try submit(&bench, job(0..<1, zoom: 10))
        let offer = try #require(bench.offers().first { $0.job == wide })
        #expect(offer.sources.count == 2)
        bench.finish(offer, by: 1)
        let third = try submit(&bench, job(0..<1))
        let last = try #require(bench.offers().first { $0.job == third })
        let same = try #require(bench.scheduler.batches(of: fine).firstIndex { $0.cell.x == 0 })
        let nearest = [try digest(bench, fine, same), try digest(bench, wide, 0)]
        #expect(last.sources == nearest)
    }

    @Test func anEndedJobsShardsStayForThoseThatRanBesideItAndNoLonger() throws {
        var bench = Bench()
        bench.join(1, credit: 1)
        let first = try submit(&bench, job(0..<1))
        let second = try submit(&bench, job(0..<2))
        bench.finish(try #require(bench.offers().first), by: 1)
        let digest = try digest(bench, first, 0)
        bench.other = []
        bench.on(.cancel(first))
        #expect(!released(bench).contains(first))
        #expect(bench.scheduler.givingJobs == [first])
        // Submitted after the end: its tiles shall be fresh.
        let third = try submit(&bench, job(0..<1))
        bench.on(.ready(1, credit: 9))
        let offers = bench.offers()
        let used = try #require(offers.first { $0.job == second && cell(bench, $0).x == 0 })
        #expect(used.sources == [digest])
        #expect(!offers.contains { $0.job == third && !$0.sources.isEmpty })
        bench.on(.cancel(second))
        // Its manifest was ordered before the end.
        #expect(released(bench).sorted() == [second])
        bench.on(.manifestWritten(first, package: 0, Bench.digest(1)))
        #expect(released(bench).sorted() == [first, second])
        #expect(bench.scheduler.givingJobs == [])
    }

    private func cell(_ bench: Bench, _ offer: Offer) -> TileID {
        guard case .fetch(_, let cell, _, _) = offer.work else { return .root }
        return cell
    }

    private func released(_ bench: Bench) -> [JobID] {
        bench.other.compactMap { if case .release(let job) = $0 { job } else { nil } }
    }

    @Test func anAttemptWithFailedTilesLeavesASourceForTheNext() throws {
        var bench = Bench()
        bench.join(1, credit: 1)
        let id = try submit(&bench, job(0..<1, tileset: nil))
        let offer = try #require(bench.offers().first)
        let tile = try #require(TileID(zoom: 12, x: 0, y: 0))
        let failed = FailedTile(tile: tile, trouble: Trouble(cause: "timeout", detail: "slow"))
        bench.finish(offer, by: 1, failed: [failed])
        let partial = try #require(bench.scheduler.batches(of: id)[0].partial)
        #expect(bench.store.orphans[id] == [partial], "it goes with the job")
        bench.restart()
        bench.pass(120_000)
        bench.join(1, credit: 1)
        let again = try #require(bench.offers().first)
        #expect(again.sources == [partial])
        #expect(again.isPartialFirst && !offer.isPartialFirst)
        bench.on(
            .commit(
                1, again.token,
                .fetch(
                    Bench.digest(9), FetchCounts(stored: 85, bodyBytes: 1, shardBytes: 1, reused: 84), failures: [])))
        #expect(bench.scheduler.summary(of: id)?.counts.reused == 84)
        #expect(bench.store.jobs[0].batches[0].partial == nil)
    }

    @Test func noMoreSourcesAreNamedThanAnOfferHolds() throws {
        var policy = SchedulerPolicy()
        policy.maxSources = 3
        var bench = Bench(policy: policy)
        bench.join(1, credit: 20)
        _ = try submit(&bench, job(0..<2))
        _ = try submit(&bench, job(2..<4))
        _ = try submit(&bench, job(4..<8))
        for offer in bench.offers() { bench.finish(offer, by: 1) }
        bench.on(.ready(1, credit: 20))
        let wide = try submit(&bench, job(0..<1, zoom: 8))
        #expect(bench.offers().first { $0.job == wide }?.sources.count == 3)
    }

    /// Jobs that overlap anyhow, workers that come, go and fail: the books are right after every event, and all jobs end.
    @Test(arguments: [UInt64(1), 2, 3, 4, 5, 6, 7, 8])
    func overlappingJobsAllEnd(seed: UInt64) throws {
        var random = SeededRandom(state: seed)
        var bench = Bench()
        for worker in 1...3 { bench.join(SessionID(worker), credit: 2) }
        var jobs: [JobID] = []
        for _ in 0..<5 {
            let start = Int(random.below(6))
            let zoom = 10 + Int(random.below(2))
            jobs.append(try submit(&bench, job(start..<(start + 1 + Int(random.below(5))), zoom: zoom)))
        }
        var open: [(SessionID, Offer)] = []
        for _ in 0..<2_000 where jobs.contains(where: { bench.scheduler.isLiving($0) }) {
            for (session, message) in bench.sent {
                if case .offer(let offer) = message { open.append((session, offer)) }
            }
            bench.sent = []
            let pick = random.below(10)
            if let (session, offer) = open.randomElement(&random) {
                open.removeAll { $0.1.token == offer.token }
                switch pick {
                case 0: bench.on(.giveBack(session, [offer.token]))
                case 1: bench.on(.fail(session, offer.token, Trouble(cause: "timeout", detail: ""), retriable: true))
                case 2: break
                default: bench.finish(offer, by: session, seed: offer.token.rawValue & 0xFF)
                }
            }
            bench.runCoordinatorSteps()
            bench.pass(1_000 + random.below(20_000))
            for worker in 1...3 { bench.on(.ready(SessionID(worker), credit: 2)) }
            if random.perMille(20) {
                bench.restart()
                open = []
                for worker in 1...3 { bench.join(SessionID(worker), credit: 2) }
            }
        }
        #expect(jobs.allSatisfy { bench.scheduler.summary(of: $0)?.state.isFinal == true })
        #expect(bench.scheduler.parked.isEmpty)
        #expect(bench.scheduler.givingJobs.isEmpty)
    }
}

extension Array {
    fileprivate func randomElement(_ random: inout SeededRandom) -> Element? {
        isEmpty ? nil : self[Int(random.below(Int64(count)))]
    }
}
