import Testing

@testable import Scheduling

/// Jobs with labels get only workers that have them all; the others work for other jobs.
struct LabelTests {
    private func join(_ bench: inout Bench, _ id: SessionID, labels: [String], credit: UInt32) {
        var profile = SessionProfile(
            name: "w\(id)", host: "h", processID: id.rawValue, build: "test", canFetch: true, canMerge: true)
        profile.labels = labels
        bench.on(.hello(id, profile, held: []))
        if credit > 0 { bench.on(.ready(id, credit: credit)) }
    }

    private func submit(_ bench: inout Bench, _ batches: Int, on labels: [String], priority: Int32 = 0) -> JobID {
        var submission = Bench.job(batches, priority: priority)
        submission.labels = labels
        bench.on(.submit(submission))
        return bench.scheduler.jobIDs.last ?? 0
    }

    private func reason(_ bench: Bench, _ job: JobID) -> String {
        bench.scheduler.missingLabels(of: job, now: bench.now)
    }

    private func waiting(_ bench: Bench) -> Int? {
        bench.scheduler.totals(now: bench.now, origins: []).waiting[.worker]
    }

    @Test func batchesGoOnlyToWorkersWithAllLabels() {
        var bench = Bench()
        join(&bench, 1, labels: [], credit: 4)
        join(&bench, 2, labels: ["fast"], credit: 4)
        let labelled = submit(&bench, 2, on: ["fast", "gpu-free"], priority: 5)
        #expect(bench.offers().isEmpty)
        #expect(reason(bench, labelled).hasPrefix("no worker has the label gpu-free; start one with packhorse worker"))
        #expect(waiting(bench) == 1)
        // A job behind it is served.
        let other = bench.submit(2)
        #expect(bench.offers().map(\.job) == [other, other])
        join(&bench, 3, labels: ["gpu-free", "big", "fast"], credit: 1)
        #expect(bench.offers(to: 3).map(\.job) == [labelled])
        #expect(reason(bench, labelled).isEmpty)
        #expect(waiting(bench) == nil)
    }

    @Test func mergesGoOnlyToWorkersWithAllLabels() throws {
        var bench = Bench()
        join(&bench, 1, labels: ["fast"], credit: 1)
        let job = submit(&bench, 1, on: ["fast"])
        bench.finish(try #require(bench.offers().first), by: 1)
        join(&bench, 2, labels: [], credit: 4)
        bench.runCoordinatorSteps()
        #expect(bench.offers().isEmpty, "the one without the label does not merge")
        bench.on(.bye(1))
        #expect(reason(bench, job).hasPrefix("no worker has the label fast;"))
        #expect(bench.scheduler.missingFormats(of: job).isEmpty)
        join(&bench, 3, labels: ["fast"], credit: 1)
        let merge = try #require(bench.offers(to: 3).first)
        bench.finish(merge, by: 3)
        bench.runCoordinatorSteps()
        #expect(bench.scheduler.summary(of: job)?.state == .done)
    }

    @Test func workersWithLabelsStayFreeForMergesThatNeedThem() throws {
        var bench = Bench()
        let job = bench.submit(1)
        join(&bench, 1, labels: [], credit: 1)
        let batch = try #require(bench.offers(to: 1).first)
        join(&bench, 2, labels: ["fast"], credit: 4)
        join(&bench, 3, labels: [], credit: 4)
        bench.finish(batch, by: 1)
        bench.runCoordinatorSteps()
        #expect(bench.offers(to: 3).map(\.job) == [job])
    }

    @Test func labelsStayOverARestart() {
        var bench = Bench()
        let job = submit(&bench, 2, on: ["fast"])
        bench.restart()
        join(&bench, 1, labels: [], credit: 4)
        #expect(bench.offers().isEmpty)
        #expect(bench.scheduler.labels(of: job) == ["fast"])
        join(&bench, 2, labels: ["fast"], credit: 4)
        #expect(bench.offers(to: 2).count == 2)
    }

    @Test func aSlowBatchGetsItsSecondLeaseFromAWorkerWithTheLabel() throws {
        var bench = Bench()
        join(&bench, 1, labels: ["fast"], credit: 1)
        _ = submit(&bench, 1, on: ["fast"])
        let first = try #require(bench.offers(to: 1).first)
        join(&bench, 2, labels: [], credit: 1)
        for _ in 0..<40 {
            bench.now = bench.now + 10_000
            for id in [1, 2] as [SessionID] {
                let reports =
                    id == 1
                    ? [LeaseProgress(token: first.token, done: 0, bytes: UInt64(bench.now.milliseconds))] : []
                bench.on(.progress(id, reports))
            }
            bench.on(.timer)
        }
        #expect(bench.offers(to: 2).isEmpty)
        join(&bench, 3, labels: ["fast"], credit: 1)
        bench.pass(SchedulerPolicy.speculativeInterval)
        #expect(bench.offers(to: 3).count == 1)
    }

    @Test func whatIsMissingIsNamed() {
        var bench = Bench()
        let job = submit(&bench, 1, on: ["a", "b"])
        let remedy = "; start one with packhorse worker --label a --label b"
        #expect(reason(bench, job) == "no worker has the labels a, b" + remedy)
        join(&bench, 1, labels: ["a"], credit: 1)
        #expect(reason(bench, job) == "no worker has the label b" + remedy)
        join(&bench, 2, labels: ["b"], credit: 1)
        #expect(reason(bench, job) == "no worker has all of the labels a, b" + remedy)
        join(&bench, 3, labels: ["a", "b"], credit: 0)
        #expect(reason(bench, job).isEmpty)
        bench.on(.drain(3, isOn: true))
        #expect(reason(bench, job) == "each worker with the labels a, b was asked to leave")
        bench.on(.drain(3, isOn: false))
        bench.on(.ready(3, credit: 0, full: "9 MiB of 8 MiB of memory are used"))
        #expect(reason(bench, job) == "worker w3 takes no more work: 9 MiB of 8 MiB of memory are used")
        let free = bench.submit(1)
        #expect(reason(bench, free).isEmpty)
    }

    @Test func aWorkerAtALimitOfItsMachineIsShownWithIt() {
        var bench = Bench()
        join(&bench, 1, labels: [], credit: 1)
        _ = bench.submit(2)
        bench.on(.ready(1, credit: 0, full: "9 MiB of 8 MiB of memory are used"))
        func view() -> WorkerView? { bench.scheduler.workers(now: bench.now).first }
        #expect(view()?.state == "full" && view()?.reason == "9 MiB of 8 MiB of memory are used")
        #expect(bench.scheduler.absence(now: bench.now).isEmpty, "it works on a batch")
        let batch = bench.offers(to: 1).first
        #expect(batch != nil)
        if let batch { bench.finish(batch, by: 1) }
        #expect(bench.scheduler.absence(now: bench.now).hasPrefix("worker w1 takes no more work: 9 MiB"))
        bench.on(.ready(1, credit: 1))
        #expect(view()?.state == "busy" && bench.scheduler.absence(now: bench.now).isEmpty)
    }
}
