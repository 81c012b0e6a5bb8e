import Scheduling
import Testing
import Tiles

struct RetryTests {
    private func failure(_ cause: String = "html-page") throws -> FailedTile {
        FailedTile(tile: try #require(TileID(zoom: 14, x: 1, y: 1)), trouble: Trouble(cause: cause, detail: "d"))
    }

    /// Does all offered work; batches in `bad` get one failed tile, batches in `dead` fail permanently.
    private func run(_ bench: inout Bench, bad: Set<BatchIndex> = [], dead: Set<BatchIndex> = []) throws -> [BatchIndex]
    {
        var fetched: [BatchIndex] = []
        let tile = try failure()
        for _ in 0..<40 {
            bench.on(.ready(1, credit: 8))
            for offer in bench.offers() {
                if case .fetch(let batch, _, _, _) = offer.work {
                    fetched.append(batch)
                    if dead.contains(batch) {
                        bench.on(.fail(1, offer.token, Trouble(cause: "bad-tileset", detail: "x"), retriable: false))
                    } else {
                        bench.finish(
                            offer, by: 1, failed: bad.contains(batch) ? [tile] : [], seed: offer.token.rawValue)
                    }
                } else {
                    bench.finish(offer, by: 1)
                }
            }
            bench.runCoordinatorSteps()
            bench.pass(1_000)
        }
        return fetched
    }

    @Test func aFailedJobGoesOnWhereItEnded() throws {
        var bench = Bench()
        let job = bench.submit(10)
        bench.join(1)
        #expect(try run(&bench, bad: [4], dead: [7]).count == 10)
        #expect(try bench.summary(job).state == .failed)
        #expect(try bench.summary(job).keepsBlobs)
        #expect(bench.released().isEmpty)
        bench.restart()
        #expect(bench.scheduler.audit() == [])
        bench.join(1)
        let shard = bench.rows(job)[4].digest
        bench.on(.reopen(job, batches: bench.rows(job), needs: nil, only: nil))
        #expect(bench.rows(job)[4].partial == shard)
        #expect(try run(&bench) == [4, 7])
        let summary = try bench.summary(job)
        #expect(summary.state == .done)
        #expect(summary.counts.stored == 850)
        #expect(bench.store.failures[job]?.isEmpty ?? true)
        #expect(bench.store.orphans[job]?.contains(try #require(shard)) == true)
    }

    /// A job that has not ended merges all of its packages again with its tiles; jobs that wait for it wait on.
    @Test func aRunningJobMergesAllAgainWithItsTiles() throws {
        var bench = Bench()
        let job = bench.submit(10)
        bench.on(.submit(Bench.job(2, after: [job])))
        let follower = try #require(bench.scheduler.jobIDs.last)
        bench.join(1, credit: 10)
        for offer in bench.offers() { bench.finish(offer, by: 1) }
        bench.runCoordinatorSteps()
        bench.on(.ready(1, credit: 1))
        #expect(bench.scheduler.packages(of: job)[0].state == .leased)
        let shards = bench.rows(job).map(\.digest)
        bench.on(.remerge(job, payload: [7]))
        #expect(try bench.summary(job).state == .merging && bench.summary(job).counts[.done] == 10)
        #expect(bench.rows(job).map(\.digest) == shards)
        #expect(try bench.summary(follower).state == .fetching, "it is not failed by the change")
        bench.restart()
        bench.join(1)
        #expect(try run(&bench).count == 2, "only the follower fetches")
        #expect(try bench.summary(job).state == .done && bench.summary(follower).state == .done)
        bench.on(.remerge(job, payload: [8]))
        #expect(try bench.summary(job).state == .done)
        #expect(bench.scheduler.audit() == [])
    }

    /// Packages that were published are made again, too, when a retry changes how.
    @Test func aRetryCanMergePublishedPackagesAgain() throws {
        var bench = Bench()
        let job = bench.submit(10)
        bench.join(1)
        _ = try run(&bench, bad: [4])
        bench.on(.reopen(job, batches: bench.rows(job), needs: nil, only: nil, mergesAll: true))
        #expect(bench.scheduler.packages(of: job).allSatisfy { $0.state == .waiting })
        #expect(try run(&bench) == [4])
        #expect(try bench.summary(job).state == .done)
    }

    @Test func onlyTheChosenBatchesAreTriedAgain() throws {
        var bench = Bench()
        let job = bench.submit(10)
        bench.join(1)
        _ = try run(&bench, dead: [2, 7])
        bench.on(.reopen(job, batches: bench.rows(job), needs: nil, only: [7]))
        #expect(try run(&bench) == [7])
        #expect(try bench.summary(job).state == .failed)
        #expect(try bench.summary(job).counts.failed == 85)
    }

    @Test func aCancelledJobStartsFromAFreshPlan() throws {
        var bench = Bench()
        let job = bench.submit(4)
        bench.join(1, credit: 2)
        bench.finish(bench.offers()[0], by: 1)
        bench.on(.cancel(job))
        #expect(bench.released() == [job])
        bench.on(.reopen(job, batches: Bench.job(4).batches.map(Batch.init), isKept: false, needs: nil, only: nil))
        #expect(try run(&bench).count == 4)
        #expect(try bench.summary(job).state == .done)
    }

    @Test func onlySoManyFailedJobsAreKept() throws {
        var policy = SchedulerPolicy()
        policy.keptFailedJobs = 2
        var bench = Bench(policy: policy)
        bench.join(1)
        for _ in 0..<3 {
            bench.submit(10)
            _ = try run(&bench, dead: [0])
        }
        #expect(bench.released() == [1])
        #expect(try !bench.summary(1).keepsBlobs)
        #expect(try bench.summary(3).keepsBlobs)
        bench.on(.forget(2))
        #expect(bench.released() == [2])
        #expect(bench.scheduler.summary(of: 2) != nil, "its blobs go first")
        bench.on(.forget(2))
        #expect(bench.scheduler.summary(of: 2) == nil)
    }

    @Test func deadBatchesOfARunningJobAreRequeued() throws {
        var bench = Bench()
        let job = bench.submit(50, allowedMissing: 0.5)
        bench.join(1)
        bench.on(.ready(1, credit: 2))
        let tile = try failure()
        let offers = bench.offers()
        bench.on(.fail(1, offers[0].token, Trouble(cause: "bad-tileset", detail: "x"), retriable: false))
        bench.finish(offers[1], by: 1, failed: [tile])
        #expect(bench.scheduler.failedBatches(of: job) == [0, 1])
        #expect(try bench.summary(job).counts.failed == 86)
        bench.on(.requeue(job, batches: [0, 1, 2, 99]))
        #expect(try bench.summary(job).counts.failed == 0)
        #expect(bench.scheduler.failedBatches(of: job).isEmpty)
        #expect(bench.scheduler.batches(of: job)[1].partial != nil)
        #expect(try run(&bench).sorted() == Array(0..<50))
        #expect(try bench.summary(job).state == .done)
    }

    /// The coordinator requeues many batches in slices, and resets many batches before it reopens their job.
    @Test func slicesLeaveWhatOneOrderLeaves() throws {
        func failedJob(ending: Bool) throws -> (Bench, JobID) {
            var bench = Bench()
            let job = bench.submit(12, allowedMissing: ending ? 0 : 0.9)
            bench.join(1, credit: 9)
            for offer in bench.offers() {
                bench.on(.fail(1, offer.token, Trouble(cause: "bad-tileset", detail: "x"), retriable: false))
            }
            if ending { bench.on(.cancel(job)) }
            return (bench, job)
        }
        var (whole, job) = try failedJob(ending: false)
        var (sliced, _) = try failedJob(ending: false)
        whole.on(.requeue(job, batches: nil))
        for slice in [[0, 1, 2, 3], [4, 5, 6, 7], [8]] as [[BatchIndex]] { sliced.on(.requeue(job, batches: slice)) }
        #expect(whole.rows(job).count { $0.state == .ready } == 12)
        #expect(sliced.rows(job) == whole.rows(job))
        #expect(try sliced.summary(job) == whole.summary(job))

        (whole, job) = try failedJob(ending: true)
        (sliced, _) = (whole, job)
        sliced.store.apply(.resetBatches(job, [0, 3, 8]))
        whole.on(.reopen(job, batches: whole.rows(job), needs: nil, only: nil))
        sliced.on(.reopen(job, batches: sliced.rows(job), needs: nil, only: nil))
        #expect(sliced.rows(job) == whole.rows(job))
        #expect(sliced.rows(job) == sliced.scheduler.batches(of: job))
        #expect(try sliced.summary(job) == whole.summary(job))
    }

    @Test func aRequeueWhileMergingMakesThePackageAgain() throws {
        var bench = Bench()
        let job = bench.submit(10, allowedMissing: 0.5)
        bench.join(1, credit: 10)
        let tile = try failure()
        for (index, offer) in bench.offers().enumerated() {
            bench.finish(offer, by: 1, failed: index == 0 ? [tile] : [])
        }
        bench.runCoordinatorSteps()
        bench.on(.ready(1, credit: 1))
        let merge = try #require(bench.offers().first)
        bench.on(.requeue(job, batches: nil))
        #expect(try bench.summary(job).state == .fetching)
        #expect(bench.scheduler.packages(of: job)[0].state == .waiting)
        bench.finish(merge, by: 1)
        #expect(try run(&bench) == [0])
        #expect(try bench.summary(job).state == .done)
        #expect(try bench.summary(job).counts.failed == 0)
    }

    @Test func whatIsDroppedIsNeitherListedNorTriedAgain() throws {
        var bench = Bench()
        let job = bench.submit(50, allowedMissing: 0.5)
        bench.join(1, credit: 1)
        bench.on(.fail(1, bench.offers()[0].token, Trouble(cause: "bad-tileset", detail: "x"), retriable: false))
        bench.on(.drop(job, batches: nil))
        #expect(bench.scheduler.failedBatches(of: job).isEmpty)
        #expect(bench.store.failures[job]?[0]?.isEmpty != true, "what is missing stays named")
        bench.on(.requeue(job, batches: nil))
        #expect(try bench.summary(job).counts.failed == 85)
        #expect(bench.scheduler.batches(of: job)[0].trouble?.detail == "bad-tileset: x")
    }

    @Test func droppingAllOfAFailedJobLetsItsBlobsGo() throws {
        var bench = Bench()
        let job = bench.submit(10)
        bench.join(1)
        _ = try run(&bench, dead: [3])
        bench.on(.drop(job, batches: nil))
        #expect(bench.released() == [job])
        #expect(bench.rows(job)[3].trouble?.cause == "dropped")
    }

    @Test func aJobThatWasPausedWhenItEndedRunsAfterARetry() throws {
        var bench = Bench()
        let job = bench.submit(2, priority: 3)
        bench.join(1)
        bench.on(.order(job, .pause))
        bench.on(.cancel(job))
        bench.on(.reopen(job, batches: Bench.job(2).batches.map(Batch.init), isKept: false, needs: nil, only: nil))
        #expect(try bench.summary(job).priority == 3)
        #expect(try run(&bench) == [0, 1])
    }
}
