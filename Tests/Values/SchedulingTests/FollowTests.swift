import Scheduling
import Testing

/// Jobs after others, and jobs like others.
struct FollowTests {
    private func finish(_ bench: inout Bench) {
        for _ in 0..<20 {
            bench.on(.ready(1, credit: 8))
            for offer in bench.offers() { bench.finish(offer, by: 1) }
            bench.runCoordinatorSteps()
        }
    }

    @Test func aJobWaitsForAllItsPredecessors() throws {
        var bench = Bench()
        let first = bench.submit(2)
        let second = bench.submit(2, priority: -1)
        bench.on(.submit(Bench.job(2, after: [first, second])))
        #expect(bench.scheduler.waiting(of: 3) == "after 1, 2")
        bench.join(1)
        finish(&bench)
        #expect(try bench.summary(first).state == .done)
        #expect(bench.scheduler.waiting(of: 3) == "after 2")
        bench.restart()
        bench.join(1)
        finish(&bench)
        #expect(try bench.summary(3).counts[.done] == 0)
        bench.on(.order(second, .resume))
        finish(&bench)
        #expect(try bench.summary(3).state == .done)
    }

    @Test func itFailsWithItsPredecessorNamingItAndSoDoItsOwnFollowers() throws {
        var bench = Bench()
        bench.submit(2)
        bench.on(.submit(Bench.job(2, after: [1])))
        bench.on(.submit(Bench.job(2, after: [2])))
        bench.on(.cancel(1))
        #expect(try bench.summary(2).reason == "job 1, which it waited for, was cancelled")
        #expect(try bench.summary(3).reason == "job 2, which it waited for, failed")
        #expect(bench.scheduler.refusal(ofRetry: 3)?.text == "Job 2, which must be done first, has failed.")
        bench.on(.reopen(1, batches: bench.rows(1), needs: nil, only: nil))
        bench.on(.reopen(2, batches: bench.rows(2), needs: nil, only: nil))
        bench.on(.reopen(3, batches: bench.rows(3), needs: nil, only: nil))
        bench.join(1)
        finish(&bench)
        #expect(bench.scheduler.jobIDs.allSatisfy { bench.scheduler.summary(of: $0)?.state == .done })
    }

    @Test func aPredecessorThatIsDoneIsNoneAndUnknownOnesAreRefused() throws {
        var bench = Bench()
        bench.submit(1)
        bench.join(1)
        finish(&bench)
        bench.on(.submit(Bench.job(1, after: [1])))
        #expect(bench.scheduler.waiting(of: 2) == "")
        #expect(bench.scheduler.refusal(after: [1, 2]) == nil)
        #expect(bench.scheduler.refusal(after: [5])?.text == "Job 5, which must be done first, does not exist.")
        #expect(bench.scheduler.refusal(after: [5])?.code == "unknown-job")
        bench.on(.submit(Bench.job(1, after: [5])))
        #expect(try bench.summary(3).state == .failed)
    }

    @Test func anIdenticalSubmissionJoinsTheUnfinishedJob() {
        var bench = Bench()
        func submit(_ request: String = "", after: [JobID] = []) -> JobID {
            bench.other = []
            bench.on(.submit(Bench.job(1, request: request, after: after, identity: Bench.digest(7))))
            for case .submitted(let job, _) in bench.other { return job }
            return 0
        }
        #expect(submit() == 1)
        #expect(submit() == 1)
        #expect(submit("mine") == 2, "a request id of its own asks for a job of its own")
        #expect(submit("mine") == 2)
        #expect(submit() == 1)
        #expect(submit(after: [1]) == 3)
        bench.on(.cancel(1))
        #expect(submit() == 2)
        bench.on(.cancel(2))
        #expect(submit("mine") == 2, "a request id stays with its job after its end")
        bench.restart()
        #expect(submit("mine") == 2)
        #expect(submit() == 4)
    }
}
