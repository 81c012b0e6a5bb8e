import Scheduling
import Testing
import Tiles

struct SchedulerFailureTests {
    private func failure(_ cause: String) throws -> FailedTile {
        FailedTile(tile: try #require(TileID(zoom: 14, x: 1, y: 1)), trouble: Trouble(cause: cause, detail: "d"))
    }

    /// Lets a lone worker take everything on offer and answers with `answer`, until nothing is on offer for ten minutes.
    private func run(_ bench: inout Bench, _ answer: (inout Bench, Offer) -> Void) {
        for _ in 0..<200 {
            bench.on(.ready(1, credit: 8))
            let offers = bench.offers(to: 1)
            for offer in offers { answer(&bench, offer) }
            bench.runCoordinatorSteps()
            bench.pass(5_000)
        }
    }

    @Test func aBatchIsDeadAfterFiveFailuresAndTheJobSaysWhy() throws {
        var policy = SchedulerPolicy()
        policy.maxCuts = 0
        var bench = Bench(policy: policy)
        let job = bench.submit(2)
        bench.join(1)
        var attempts: [UInt32] = []
        run(&bench) { bench, offer in
            guard case .fetch(let batch, _, _, _) = offer.work, batch == 0 else { return bench.finish(offer, by: 1) }
            attempts.append(offer.attempt)
            bench.on(.fail(1, offer.token, Trouble(cause: "origin-down", detail: "no route"), retriable: true))
        }
        #expect(attempts == [1, 2, 3, 4, 5])
        let summary = try #require(bench.scheduler.summary(of: job))
        #expect(summary.state == .failed)
        #expect(
            summary.reason
                == "85 of 170 tiles could not be fetched (50 %, allowed 0.10 %); first: 11/0/0 origin-down: no route")
        #expect(bench.scheduler.packages(of: job).map(\.state) == [.failed])
    }

    @Test func aFailureThatCannotHealKillsAtOnce() {
        var bench = Bench()
        let job = bench.submit(1)
        bench.join(1, credit: 1)
        let offer = bench.offers()[0]
        bench.on(.fail(1, offer.token, Trouble(cause: "bad-tileset", detail: "x"), retriable: false))
        #expect(bench.scheduler.summary(of: job)?.state == .failed)
    }

    @Test func whatEveryWorkerLacksKillsAtOnceAndWhatOneHasDoesNot() throws {
        let lack = Trouble(cause: "bad-tileset", detail: "TOKEN is not set")
        var alone = Bench()
        let job = alone.submit(1)
        alone.join(1, credit: 1)
        alone.on(.fail(1, alone.offers()[0].token, lack, retriable: true))
        #expect(alone.scheduler.summary(of: job)?.state == .failed)
        #expect(alone.scheduler.summary(of: job)?.reason.contains("TOKEN is not set") == true)
        // If another worker is connected, it gets the batch; its results prove that the work can be done.
        var both = Bench()
        let shared = both.submit(2)
        both.join(1, credit: 1)
        let first = both.offers()[0]
        both.join(2)
        both.on(.fail(1, first.token, lack, retriable: true))
        #expect(both.scheduler.summary(of: shared)?.state == .fetching)
        both.on(.ready(2, credit: 1))
        let second = try #require(both.offers(to: 2).first)
        both.finish(second, by: 2)
        both.on(.bye(2))
        both.on(.ready(1, credit: 1))
        both.pass(5_000)
        let again = try #require(both.offers(to: 1).first)
        both.on(.fail(1, again.token, lack, retriable: true))
        #expect(both.scheduler.summary(of: shared)?.state == .fetching)
        // While the other worker is connected, this costs the batch no attempt, however often it happens.
        var patient = Bench()
        let kept = patient.submit(2)
        patient.join(2)
        patient.join(1, credit: 1)
        for _ in 0..<20 {
            guard let offer = patient.offers(to: 1).first else { break }
            patient.on(.fail(1, offer.token, lack, retriable: true))
            patient.pass(60_000)
            patient.on(.ready(1, credit: 1))
        }
        #expect(patient.scheduler.batches(of: kept).allSatisfy { $0.attempts == 0 && $0.state != .dead })
    }

    @Test func aJobWhoseWorkersAllRestSaysWhy() throws {
        var bench = Bench()
        bench.submit(4)
        bench.join(1, credit: 1)
        let full = Trouble(cause: "disk-full", detail: "no space in /blobs")
        bench.on(.fail(1, bench.offers()[0].token, full, retriable: true))
        #expect(
            bench.scheduler.absence(now: bench.now).hasSuffix("is paused after disk-full: no space in /blobs"))
        bench.join(2)
        #expect(bench.scheduler.absence(now: bench.now).isEmpty)
    }

    @Test func failedTilesAreTriedThreeTimesThenNamed() throws {
        var bench = Bench()
        let job = bench.submit(20)
        bench.join(1)
        var attempts = 0
        let tile = try failure("timeout")
        run(&bench) { bench, offer in
            guard case .fetch(let batch, _, _, _) = offer.work, batch == 3 else { return bench.finish(offer, by: 1) }
            attempts += 1
            bench.finish(offer, by: 1, failed: [tile], seed: UInt64(attempts))
        }
        #expect(attempts == 3)
        #expect(bench.scheduler.summary(of: job)?.state == .done)
        #expect(bench.scheduler.summary(of: job)?.counts.failed == 1)
        #expect(bench.store.failures[job]?[3] == [tile])
        #expect(bench.store.orphans[job]?.count == 2)
    }

    @Test func aTileRefusedForGoodIsNotFetchedAgain() throws {
        var bench = Bench()
        bench.submit(1)
        bench.join(1)
        var attempts = 0
        let tile = try failure("html-page")
        run(&bench) { bench, offer in
            attempts += 1
            bench.finish(offer, by: 1, failed: [tile])
        }
        #expect(attempts == 1)
    }

    @Test func tooManyMissingTilesFailTheJob() throws {
        var bench = Bench()
        let job = bench.submit(11)
        bench.join(1)
        let tile = try failure("html-page")
        run(&bench) { bench, offer in
            guard case .fetch(let batch, _, _, _) = offer.work else { return bench.finish(offer, by: 1) }
            bench.finish(offer, by: 1, failed: batch == 0 ? [tile] : [])
        }
        let summary = try #require(bench.scheduler.summary(of: job))
        #expect(summary.state == .failed)
        #expect(
            summary.reason == "1 of 935 tiles could not be fetched (0.11 %, allowed 0.10 %); first: 14/1/1 html-page: d"
        )
        #expect(summary.counts[.done] == 11)
    }

    @Test func aHopelessJobEndsEarly() throws {
        var bench = Bench()
        let job = bench.submit(1_000)
        bench.join(1, credit: 40)
        let tile = try failure("html-page")
        for offer in bench.offers() {
            let counts = FetchCounts(stored: 0, empty: 0, failed: 85)
            bench.on(
                .commit(
                    1, offer.token,
                    .fetch(Bench.digest(offer.token.rawValue), counts, failures: Array(repeating: tile, count: 85))))
        }
        #expect(bench.scheduler.summary(of: job)?.state == .failed)
    }

    @Test func aWorkerWithAFullDiskRestsWhileOthersWork() {
        var bench = Bench()
        bench.submit(1)
        bench.join(1, credit: 2)
        let offer = bench.offers()[0]
        bench.on(.fail(1, offer.token, Trouble(cause: "disk-full", detail: "scratch"), retriable: true))
        bench.pass(2_500)
        #expect(bench.offers().isEmpty)
        #expect(bench.scheduler.workers(now: bench.now).map(\.reason) == ["disk-full: scratch"])
        bench.pass(7_500)
        #expect(bench.offers().count == 1)
    }

    /// A disk stays full until space is freed, however long that takes.
    @Test(arguments: ["disk-full", "io-error", "blob-store"])
    func aDiskCostsNoAttempt(_ cause: String) throws {
        var bench = Bench()
        let job = bench.submit(1)
        bench.join(1, credit: 2)
        for _ in 0..<50 {
            for offer in bench.offers() {
                bench.on(.fail(1, offer.token, Trouble(cause: cause, detail: "scratch"), retriable: true))
            }
            bench.pass(10_000)
            bench.on(.ready(1, credit: 2))
        }
        #expect(bench.scheduler.batches(of: job)[0].attempts == 0)
        #expect(bench.scheduler.isLiving(job))
        bench.finish(try #require(bench.offers().first), by: 1)
        bench.runCoordinatorSteps()
        // The merge is treated like the batch, except for an unreadable file, which all workers may share.
        for _ in 0..<50 where bench.scheduler.isLiving(job) {
            bench.on(.ready(1, credit: 2))
            for offer in bench.offers() {
                bench.on(.fail(1, offer.token, Trouble(cause: cause, detail: "scratch"), retriable: true))
            }
            bench.pass(60_000)
            bench.on(.progress(1, []))
        }
        #expect(bench.scheduler.isLiving(job) == (cause != "io-error"))
    }

    @Test func aLostShardIsFetchedAgainBeforeTheMerge() throws {
        var bench = Bench()
        let job = bench.submit(3)
        bench.join(1)
        var broken = true
        var fetches = 0
        run(&bench) { bench, offer in
            if case .fetch = offer.work { fetches += 1 }
            guard case .merge = offer.work, broken else { return bench.finish(offer, by: 1) }
            broken = false
            let digest = bench.scheduler.batches(of: job)[1].digest
            bench.on(
                .fail(
                    1, offer.token, Trouble(cause: "shard-corrupt", detail: ""), retriable: true,
                    lostShards: digest.map { [$0] } ?? [])
            )
        }
        #expect(fetches == 4)
        #expect(bench.scheduler.summary(of: job)?.state == .done)
    }

    @Test func publishingIsTriedUntilTheDiskHasRoom() throws {
        var bench = Bench()
        let job = bench.submit(1)
        bench.join(1, credit: 4)
        bench.finish(bench.offers()[0], by: 1)
        bench.runCoordinatorSteps()
        bench.finish(bench.offers()[0], by: 1)
        for _ in 0..<30 {
            bench.other = []
            bench.on(.packageTrouble(job, package: 0, Trouble(cause: "disk-full", detail: "catalog"), retriable: true))
            bench.pass(5_000)
            #expect(bench.other.count == 1)
        }
        bench.restart()
        #expect(bench.scheduler.summary(of: job)?.state == .publishing)
        bench.runCoordinatorSteps()
        #expect(bench.scheduler.summary(of: job)?.state == .done)
    }

    @Test func backoffGrowsIsBoundedAndDeterministic() {
        var bench = Bench()
        let job = bench.submit(1)
        bench.join(1, credit: 1)
        bench.on(.fail(1, bench.offers()[0].token, Trouble(cause: "x", detail: ""), retriable: true))
        let first = bench.scheduler.nextAlarm
        var again = Bench()
        again.submit(1)
        again.join(1, credit: 1)
        again.on(.fail(1, again.offers()[0].token, Trouble(cause: "x", detail: ""), retriable: true))
        #expect(first == again.scheduler.nextAlarm)
        #expect((0...2_000).contains((first?.milliseconds ?? -1)))
        #expect(bench.scheduler.batches(of: job)[0].state == .backoff)
    }
}
