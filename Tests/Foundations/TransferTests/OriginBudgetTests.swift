import Testing

@testable import Transfer

struct OriginBudgetTests {
    private let start = ContinuousClock.now

    private func grant(
        _ perSecond: Double, burst: Double = 1, concurrency: Int = 100, from begin: Double = 0, lasts: Double = 1_000
    ) -> OriginBudget.Grant {
        OriginBudget.Grant(
            perSecond: perSecond, burst: burst, concurrency: concurrency, until: start + .seconds(begin + lasts))
    }

    /// Starts what may start in steps of ten milliseconds; returns the times.
    private func run(_ budget: OriginBudget, from begin: Double, to end: Double) -> [Double] {
        var starts: [Double] = []
        var time = begin
        while time < end {
            while budget.takePermit(at: start + .seconds(time)) == nil {
                starts.append(time)
                budget.endRequest(.answered)
            }
            time += 0.01
        }
        return starts
    }

    @Test func whatAnotherOriginReceivedDelaysTheNextRequest() {
        let limit = ReceiveLimit(bytesPerSecond: 1_000)
        let (one, two) = (OriginBudget(limit: limit), OriginBudget(limit: limit))
        for budget in [one, two] { budget.apply(grant(0), at: start) }
        #expect(one.takePermit(at: start) == nil)
        one.received(500, at: start)
        #expect(two.takePermit(at: start) == .seconds(0.5))
        #expect(one.pace == 1_000)
        #expect(two.takePermit(at: start + .seconds(0.5)) == nil)
        #expect(one.pace == 500 && two.pace == 500)
        one.endRequest(.answered)
        #expect(two.pace == 1_000)
    }

    @Test func withoutAGrantNothingStarts() {
        #expect(run(OriginBudget(), from: 0, to: 5).isEmpty)
    }

    @Test func aGrantBeginsWithAnEmptyBucketAndEndsForGood() {
        let budget = OriginBudget()
        budget.apply(grant(10, burst: 3, lasts: 5), at: start)
        let starts = run(budget, from: 0, to: 20)
        #expect((starts.first ?? 0) >= 0.1)
        #expect((starts.last ?? 9) < 5)
        #expect((48...50).contains(starts.count))
        // What the dead grant left in the bucket is gone.
        budget.apply(grant(10, burst: 3, from: 20), at: start + .seconds(20))
        #expect((run(budget, from: 20, to: 21).first ?? 0) >= 20.1)
    }

    @Test func aShareThatMovesTakesNoBurstAlong() {
        let (one, two) = (OriginBudget(), OriginBudget())
        one.apply(grant(10, burst: 5, lasts: 3), at: start)
        // Rested, its bucket is full; it spends all of it and its refill just before it ends.
        let last = run(one, from: 2.5, to: 3)
        two.apply(grant(10, burst: 5, from: 3), at: start + .seconds(3))
        let next = run(two, from: 3, to: 3.5)
        #expect(last.count + next.count <= 15)
    }

    @Test func aSmallerGrantCutsTheBucketAtOnce() {
        let budget = OriginBudget()
        budget.apply(grant(10, burst: 10), at: start)
        budget.apply(grant(1, burst: 1), at: start + .seconds(5))
        #expect(run(budget, from: 5, to: 5.5).count == 1)
    }

    @Test func connectionsOfAnEarlierGrantLiveUntilItsEnd() {
        let budget = OriginBudget()
        budget.apply(grant(0, concurrency: 4, lasts: 10), at: start)
        while budget.takePermit(at: start) == nil {}
        budget.apply(grant(0, concurrency: 1, from: 1, lasts: 100), at: start + .seconds(1))
        #expect(!budget.isWithinGrant)
        #expect(budget.excess(at: start + .seconds(9)) == 0)
        #expect(budget.excess(at: start + .seconds(10)) == 3)
        for _ in 0..<3 { budget.endRequest(.none) }
        #expect(budget.isWithinGrant)
        #expect(budget.takePermit(at: start + .seconds(11)) != nil)
        #expect(budget.excess(at: start + .seconds(101)) == 1)
    }

    /// Refused nearly everything, a worker waits for the next grant.
    @Test func aBrakeHoldsUntilTheNextGrant() {
        let budget = OriginBudget()
        budget.apply(grant(0), at: start)
        func refuse(_ count: Int, at time: ContinuousClock.Instant) {
            for _ in 0..<count where budget.takePermit(at: time) == nil {
                budget.endRequest(.throttled(retryAfter: nil), at: time)
            }
        }
        refuse(100, at: start)
        #expect(budget.use.throttled == 16 && budget.isBraked(at: start))
        #expect(budget.takePermit(at: start + .milliseconds(400)) != nil)
        budget.apply(grant(0), at: start + .milliseconds(400))
        #expect(!budget.isBraked(at: start + .milliseconds(400)))
        refuse(100, at: start + .milliseconds(400))
        // A lost grant does not stop a client for long.
        #expect(budget.takePermit(at: start + .milliseconds(901)) == nil)
    }

    @Test func fewRefusalsAmongAnswersDoNotBrake() {
        let budget = OriginBudget()
        budget.apply(grant(0), at: start)
        for turn in 0..<1_000 where budget.takePermit(at: start) == nil {
            budget.endRequest(turn % 3 == 0 ? .throttled(retryAfter: nil) : .answered, at: start)
        }
        #expect(budget.use.requests == 1_000 && !budget.isBraked(at: start))
    }

    @Test func answeredRequestsCountTheirTime() {
        let budget = OriginBudget()
        budget.apply(grant(0), at: start)
        for _ in 0..<3 { _ = budget.takePermit(at: start) }
        budget.endRequest(.answered, begun: start, at: start + .milliseconds(40))
        budget.endRequest(.failed, begun: start, at: start + .milliseconds(70))
        budget.endRequest(.answered, begun: start + .milliseconds(10), at: start + .milliseconds(30))
        #expect(budget.use.occupied == .milliseconds(60))
    }

    @Test func useIsCountedByKind() {
        let budget = OriginBudget()
        budget.apply(grant(0), at: start)
        for reception in [
            OriginBudget.Reception(status: 200, retryAfter: nil), .init(status: 404, retryAfter: nil),
            .init(status: 429, retryAfter: .seconds(7)), .init(status: 503, retryAfter: nil),
            .init(status: 503, retryAfter: .seconds(3)), .init(status: 501, retryAfter: nil), .failed, .none,
        ] {
            _ = budget.takePermit(at: start)
            budget.endRequest(reception)
        }
        let use = budget.use
        #expect(use.requests == 8 && use.answered == 3 && use.throttled == 2 && use.failed == 2)
        #expect(use.busy == 1)
        #expect(budget.takeRetryAfter() == .seconds(7))
        #expect(budget.takeRetryAfter() == .zero)
    }
}
