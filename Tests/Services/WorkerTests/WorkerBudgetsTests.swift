import Testing
import Wire

@testable import Transfer
@testable import Worker

struct WorkerBudgetsTests {
    private let start = ContinuousClock.now

    private func grant(
        _ concurrency: UInt32, round: UInt64, ttl: UInt32 = 10_000, of origin: String = "o"
    ) -> PBRateGrant {
        .make {
            $0.origin = origin
            $0.concurrency = concurrency
            $0.ttlMs = ttl
            $0.round = round
        }
    }

    @Test func aGrantCountsFromTheMessageItAnswers() {
        let budgets = WorkerBudgets()
        budgets.sent(1, at: start)
        // Held up by the network for nine of its ten seconds.
        budgets.apply([grant(1, round: 1)], re: 1, at: start + .seconds(9))
        #expect(budgets.budget("o").takePermit(at: start + .seconds(9.9)) == nil)
        budgets.budget("o").endRequest(.answered)
        #expect(budgets.budget("o").takePermit(at: start + .seconds(10.1)) != nil)
    }

    @Test func aReportIsDueAsOftenAsTheGrantSays() {
        let budgets = WorkerBudgets()
        budgets.sent(1, at: start)
        let client = WorkerBudgets()
        budgets.budget("o").attach(client) {}
        budgets.apply([grant(1, round: 1)], re: 1, at: start)
        _ = budgets.report(at: start)
        #expect(!budgets.isUrgent(at: start + .milliseconds(1_900)))
        #expect(budgets.isUrgent(at: start + .milliseconds(2_000)))
        var often = grant(1, round: 2)
        often.reportMs = 250
        budgets.apply([often], re: 1, at: start)
        _ = budgets.report(at: start)
        #expect(!budgets.isUrgent(at: start + .milliseconds(240)))
        #expect(budgets.isUrgent(at: start + .milliseconds(250)))
    }

    @Test func whatAnswersNothingIsNoGrant() {
        let budgets = WorkerBudgets()
        budgets.sent(1, at: start)
        budgets.apply([grant(1, round: 1)], re: 7, at: start)
        #expect(budgets.budget("o").takePermit(at: start) != nil)
    }

    @Test func anOlderSetDoesNotReplaceANewerOne() {
        let budgets = WorkerBudgets()
        budgets.sent(1, at: start)
        budgets.apply([grant(0, round: 2)], re: 1, at: start)
        budgets.apply([grant(5, round: 1)], re: 1, at: start)
        #expect(budgets.budget("o").takePermit(at: start) != nil)
        #expect(budgets.report(at: start).acknowledged == 2)
    }

    /// The last message about an origin whose jobs have ended has a higher round than the grants of the other origins.
    @Test func aRenewalMayHaveALowerRoundThanAnotherOriginHad() {
        let budgets = WorkerBudgets()
        budgets.sent(1, at: start)
        budgets.apply([grant(1, round: 5)], re: 1, at: start)
        budgets.apply([grant(1, round: 5), grant(0, round: 6, of: "ended")], re: 1, at: start)
        #expect(budgets.report(at: start).acknowledged == 6)
        budgets.sent(2, at: start + .seconds(8))
        budgets.apply([grant(1, round: 5)], re: 2, at: start + .seconds(8))
        #expect(budgets.budget("o").takePermit(at: start + .seconds(17)) == nil)
        // The first answer, delivered again, does not shorten the grant.
        budgets.apply([grant(1, round: 5)], re: 1, at: start + .seconds(8))
        budgets.budget("o").endRequest(.answered)
        #expect(budgets.budget("o").takePermit(at: start + .seconds(17)) == nil)
    }

    @Test func aSmallerGrantIsAcknowledgedWhenNoMoreIsInFlight() {
        let budgets = WorkerBudgets()
        budgets.sent(1, at: start)
        budgets.apply([grant(2, round: 1)], re: 1, at: start)
        let budget = budgets.budget("o")
        #expect(budget.takePermit(at: start) == nil && budget.takePermit(at: start) == nil)
        #expect(budgets.report(at: start).acknowledged == 1)
        budgets.apply([grant(1, round: 2)], re: 1, at: start)
        #expect(budgets.report(at: start).acknowledged == 1)
        #expect(!budgets.isUrgent(at: start + .seconds(1)))
        budget.endRequest(.none)
        #expect(budgets.isUrgent(at: start + .seconds(1)))
        #expect(budgets.report(at: start + .seconds(1)).acknowledged == 2)
    }

    @Test func aNewCoordinatorIsToldWhatIsHeldUntilItHasAnswered() throws {
        let budgets = WorkerBudgets()
        budgets.recordAnswer(epoch: 4, re: 0)
        #expect(budgets.isUrgent(at: start), "It may wait for the word that nothing is held.")
        #expect(budgets.report(seq: 1, at: start).namesHeld)
        budgets.recordAnswer(epoch: 4, re: 1)
        budgets.sent(1, at: start)
        budgets.apply([grant(3, round: 4 << 32 | 7)], re: 1, at: start)
        let quiet = budgets.report(seq: 2, at: start)
        #expect(!quiet.namesHeld && quiet.uses.allSatisfy { !$0.hasHeld })
        budgets.recordAnswer(epoch: 5, re: 2)
        let later = start + .seconds(2)
        #expect(budgets.isUrgent(at: later))
        for seq in [3, 4] as [UInt64] {
            let told = budgets.report(seq: seq, at: later)
            let held = try #require(told.uses.first?.held)
            #expect(told.namesHeld && held.concurrency == 3 && held.perSecond == 0)
        }
        #expect(!budgets.isUrgent(at: later + .seconds(1)), "Said once, it can wait for its turn.")
        budgets.recordAnswer(epoch: 5, re: 2)
        #expect(budgets.report(seq: 5, at: later).namesHeld, "What was answered is older.")
        budgets.recordAnswer(epoch: 5, re: 4)
        #expect(!budgets.report(seq: 6, at: later).namesHeld)
    }

    @Test func aGrantThatHasRunOutIsNotHeld() {
        let budgets = WorkerBudgets()
        budgets.sent(1, at: start)
        budgets.apply([grant(3, round: 4 << 32 | 7)], re: 1, at: start)
        budgets.recordAnswer(epoch: 5, re: 0)
        let told = budgets.report(at: start + .seconds(10))
        #expect(told.namesHeld && told.uses.allSatisfy { !$0.hasHeld })
    }

    @Test func throttlingIsReportedAtOnceAndOnce() throws {
        let budgets = WorkerBudgets()
        budgets.sent(1, at: start)
        budgets.apply([grant(1, round: 1)], re: 1, at: start)
        _ = budgets.report(at: start)
        let budget = budgets.budget("o")
        #expect(budget.takePermit(at: start) == nil)
        budget.endRequest(.throttled(retryAfter: .seconds(4)))
        #expect(budgets.isUrgent(at: start + .seconds(1)))
        let use = try #require(budgets.report(at: start + .seconds(1)).uses.first)
        #expect(use.throttled == 1 && use.retryAfterMs == 4_000)
        #expect(!budgets.isUrgent(at: start + .seconds(2)))
        #expect(budgets.report(at: start + .seconds(3)).uses.isEmpty)
    }
}
