import Scheduling
import Testing

/// The sums for monitoring agree with what people are shown of each job and worker.
struct SchedulerTotalsTests {
    private func totals(_ bench: Bench) -> SchedulerTotals {
        bench.scheduler.totals(now: bench.now, origins: bench.scheduler.origins(now: bench.now))
    }

    /// Compares every sum with the views.
    private func check(_ bench: Bench) {
        let totals = totals(bench)
        let all = bench.scheduler.jobIDs.compactMap(bench.scheduler.summary)
        for state in JobState.allCases {
            #expect(totals.jobs[state, default: 0] == all.count { $0.state == state }, "\(state)")
        }
        let open = all.filter { !$0.state.isFinal }
        for path in [\JobCounts.tiles, \.stored, \.empty, \.failed, \.inFlightDone] {
            #expect(totals.open[keyPath: path] == open.reduce(0) { $0 + $1.counts[keyPath: path] })
        }
        for state in BatchState.allCases {
            #expect(totals.open[state] == open.reduce(0) { $0 + $1.counts[state] }, "\(state)")
        }
        #expect(totals.progress.map(\.job) == open.map(\.id))
        let workers = bench.scheduler.workers(now: bench.now)
        for state in WorkerState.allCases {
            #expect(totals.workers[state, default: 0] == workers.count { $0.state == state.rawValue })
        }
        #expect(totals.leases == workers.reduce(0) { $0 + $1.leases })
        #expect(totals.credit == workers.reduce(0) { $0 + UInt64($1.credit) })
        #expect(totals.longestSilence == workers.map(\.silent).max() ?? 0)
    }

    @Test func sumsFollowJobsAndWorkers() throws {
        var bench = Bench()
        check(bench)
        let first = bench.submit(3)
        let second = bench.submit(5, priority: 1)
        check(bench)
        #expect(totals(bench).waiting == [.worker: 2])
        bench.join(1, credit: 4)
        bench.join(2)
        check(bench)
        #expect(totals(bench).waiting == [:])
        let offers = bench.offers()
        bench.on(.progress(1, [LeaseProgress(token: offers[0].token, done: 20, bytes: 10)]))
        check(bench)
        #expect(totals(bench).open.inFlightDone == 20)
        bench.finish(offers[0], by: 1)
        check(bench)
        bench.on(.order(first, .pause))
        #expect(totals(bench).waiting == [.order: 1])
        #expect(totals(bench).progress.first { $0.job == first }?.isFree == false)
        bench.on(.cancel(second))
        check(bench)
        #expect(totals(bench).jobs == [.fetching: 1, .cancelled: 1])
        bench.pass(20_000)
        check(bench)
        #expect(totals(bench).workers[.suspect] == 2)
    }

    @Test func theMarkOfAJobChangesWithItsProgressOnly() throws {
        var bench = Bench()
        bench.submit(2)
        bench.join(1, credit: 2)
        let offers = bench.offers()
        func mark(_ bench: Bench) -> SchedulerTotals.Progress.Mark? { totals(bench).progress.first?.mark }
        let start = mark(bench)
        bench.pass(1_000)
        bench.on(.ready(1, credit: 0))
        #expect(mark(bench) == start)
        bench.on(.progress(1, [LeaseProgress(token: offers[0].token, done: 1, bytes: 1)]))
        let moved = mark(bench)
        #expect(moved != start)
        bench.finish(offers[0], by: 1)
        #expect(mark(bench) != moved)
    }

    /// The last reports about an origin come after its job has ended.
    @Test func requestsAreCountedAfterTheEndOfAJob() {
        var bench = Bench()
        var job = Bench.job(2)
        job.origin = JobOrigin(name: "tiles.example.com", limits: OriginLimits(perSecond: nil, concurrency: 4))
        bench.on(.submit(job))
        bench.join(1, credit: 1)
        func report(_ origin: String, _ requests: UInt64) {
            var use = OriginUse(origin: origin)
            use.requests = requests
            use.failed = 1
            bench.on(.progress(1, [], origins: [use]))
        }
        report("tiles.example.com", 5)
        // No job has this origin.
        report("made-up.example.com", 5)
        bench.on(.cancel(1))
        bench.pass(60_000)
        #expect(bench.scheduler.origins(now: bench.now).isEmpty)
        report("tiles.example.com", 2)
        #expect(bench.scheduler.originCounts == ["tiles.example.com": OriginCounts(requests: 7, failed: 2)])
    }
}
