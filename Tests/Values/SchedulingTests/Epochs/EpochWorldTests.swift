import Scheduling
import Testing

/// I17: a coordinator that was frozen or cut off, and its successor.
@Suite(.timeLimit(.minutes(15))) struct EpochWorldTests {
    private static let seeds: Range<UInt64> = 0..<400

    @Test func anOldCoordinatorChangesNothing() {
        var (late, refused, granted) = (0, 0, 0)
        var ignored: UInt64 = 0
        for seed in Self.seeds {
            var world = EpochWorld(seed: seed)
            let problem = world.run()
            #expect(problem == nil, "seed \(seed)")
            late += world.lateWrites
            refused += world.refusals
            granted += world.grantsOfSuccessor
            ignored += world.ignored
        }
        // Without these the worlds would prove nothing.
        #expect(refused > 20 && granted > 1_000 && ignored > 20, "\(refused) \(granted) \(ignored)")
        #expect(late > 0, "a frozen process writes late where locks do not exclude; that is known")
    }

    @Test(arguments: EpochWorld.Mutant.allCases)
    func aWrongRuleIsFound(_ mutant: EpochWorld.Mutant) {
        let found = Self.seeds.first { seed in
            var world = EpochWorld(seed: seed, mutant: mutant)
            return world.run() != nil
        }
        #expect(found != nil)
    }

    @Test func theHighestEpochThatWasHeardIsObeyed() {
        var obeyed = ObeyedEpoch()
        #expect([3, 3, 7, 3, 6, 7, 8].map { obeyed.obeys($0) } == [true, true, true, false, false, true, true])
        #expect(obeyed.highest == 8 && obeyed.ignored == 2)
    }

    @Test func ratesAreGrantedWhenThePredecessorsGrantsHaveEnded() {
        #expect(Tenure.wait > Tenure.grants + RatePolicy().ttl)
        var tenure = Tenure()
        func granted(_ now: Int64) -> Bool { tenure.mayGrant(Tick(milliseconds: now)) }
        tenure.confirmed(asked: Tick(milliseconds: 0))
        #expect(!granted(0), "it is not announced")
        tenure.announced(at: Tick(milliseconds: 100), hasPredecessor: true)
        tenure.confirmed(asked: Tick(milliseconds: 20_000))
        #expect(!granted(30_099) && granted(30_100))
        #expect(granted(40_000) && !granted(40_001), "the answer is too old")
        tenure.confirmed(asked: Tick(milliseconds: 40_000))
        #expect(granted(40_001))
        tenure.stoodStill()
        #expect(!granted(40_002))
        tenure.confirmed(asked: Tick(milliseconds: 40_002))
        tenure.replaced()
        #expect(!granted(40_003) && !tenure.mayChange(Tick(milliseconds: 40_003), within: 5_000))
    }
}
