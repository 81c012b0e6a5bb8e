import Testing

@testable import Scheduling

/// Workers of the wire before rate grants, which keep a tileset's limits each for itself.
struct OldWorkerTests {
    private func bench(_ join: (inout Bench) -> Void) -> Bench {
        var bench = Bench()
        var submission = Bench.job(12)
        submission.origin = JobOrigin(name: "tiles", limits: OriginLimits(perSecond: 20, concurrency: 6))
        bench.on(.submit(submission))
        join(&bench)
        return bench
    }

    private func holders(_ bench: Bench) -> Set<SessionID> {
        Set(bench.sent.compactMap { if case .offer = $0.message { $0.session } else { nil } })
    }

    @Test func oneAtATimeWorksForAnOrigin() {
        let bench = bench { bench in
            for id in 1...3 as ClosedRange<SessionID> { bench.join(id, credit: 2, obeysGrants: false) }
        }
        #expect(holders(bench) == [1])
    }

    @Test func whileOneWorksNobodyElseDoes() {
        var bench = bench { bench in
            bench.join(1, credit: 1, obeysGrants: false)
            bench.join(2, credit: 3)
        }
        #expect(holders(bench) == [1])
        for offer in bench.offers(to: 1) { bench.finish(offer, by: 1) }
        bench.on(.ready(2, credit: 3))
        #expect(holders(bench) == [2], "Its last batch done, the others go on.")
    }

    @Test func itDoesNotBeginWhileOthersHoldAShare() {
        var bench = bench { bench in
            bench.join(2, credit: 2)
            bench.on(.progress(2, [], origins: [], acknowledged: .max))
        }
        #expect(holders(bench) == [2])
        bench.sent = []
        bench.join(1, credit: 5, obeysGrants: false)
        #expect(holders(bench).isEmpty)
    }

    @Test func aloneItDoesTheWholeJob() {
        var bench = bench { $0.join(1, credit: 2, obeysGrants: false) }
        var done = 0
        for _ in 0..<20 {
            for offer in bench.offers(to: 1) {
                guard case .fetch = offer.work else { continue }
                bench.finish(offer, by: 1)
                done += 1
            }
            bench.on(.progress(1, []))
            bench.on(.ready(1, credit: 2))
        }
        #expect(done == 12)
    }
}
