import Testing

@testable import Scheduling

struct RateWorldTests {
    @Test func noWindowAndNoMomentExceedsTheLimits() {
        for seed in 1...60 as ClosedRange<UInt64> {
            var world = RateWorld(seed: seed)
            world.run(for: 60_000)
            #expect(world.violation == nil, "seed \(seed), \(world.limits)")
        }
    }

    @Test func theSameSeedMakesTheSameWorld() {
        var one = RateWorld(seed: 7)
        var two = RateWorld(seed: 7)
        one.run(for: 30_000)
        two.run(for: 30_000)
        #expect(one.starts == two.starts)
    }

    @Test func aCoordinatorThatForgetsGrantsTooEarlyIsCaught() {
        #expect((1...60).count { Self.violation($0, drift: -0.8) != nil } > 5)
    }

    @Test(arguments: RateWorld.Mutant.allCases)
    func isFoundOut(_ mutant: RateWorld.Mutant) {
        let first = (1...mutant.seeds).first { Self.violation($0, mutant: mutant) != nil }
        print("\(mutant): first failing seed \(first.map(String.init) ?? "none")")
        #expect(first != nil)
    }

    /// What a seed finds wrong.
    private static func violation(_ seed: UInt64, drift: Double = 0.05, mutant: RateWorld.Mutant? = nil) -> String? {
        var world = RateWorld(seed: seed, drift: drift, mutant: mutant)
        world.run(for: 60_000)
        return world.violation
    }

    /// A coordinator that is back within a second costs nothing, because shares live on; one that stays away longer
    /// than a share lives gives shares out again as soon as all who had one have said that it is gone.
    @Test(arguments: [1_000, 20_000]) func aRestartStopsNobodyWhoIsThere(_ pause: Int64) {
        for seed in 1...40 as ClosedRange<UInt64> {
            var world = RateWorld(seed: seed, isRough: false)
            guard let rate = world.limits.perSecond else { continue }
            world.run(for: 20_000)
            world.restart(after: pause)
            world.run(for: pause + 9_000)
            let possible = min(rate, Double(world.limits.concurrency) * 5.5)
            // From two seconds after the coordinator is back until it has learned by time alone.
            let back = Int(20_000 + pause)
            let meanwhile = Double(world.starts.count { $0 >= back + 2_000 && $0 < back + 4_000 }) / 2
            #expect(meanwhile > possible * 0.75 - 0.5, "seed \(seed), \(world.limits): \(meanwhile) of \(possible)")
            #expect(world.violation == nil, "seed \(seed)")
        }
    }

    @Test func withoutTroubleMostOfTheRateIsUsed() {
        for seed in 1...40 as ClosedRange<UInt64> {
            var world = RateWorld(seed: seed, isRough: false)
            world.run(for: 40_000)
            guard let rate = world.limits.perSecond else { continue }
            // A request takes 160 ms on average, so few connections are a limit of their own.
            let possible = min(rate, Double(world.limits.concurrency) * 5.5)
            let late = Double(world.starts.count { $0 >= 10_000 }) / 30
            #expect(late > possible * 0.75 - 0.2, "seed \(seed), \(world.limits): \(late) of \(possible)")
            #expect(world.violation == nil, "seed \(seed)")
        }
    }
}

extension RateWorld.Mutant {
    /// Seeds after which a miss is less likely than one in ten thousand; the measured share of failing seeds, per mille, behind it.
    fileprivate var seeds: UInt64 {
        switch self {
        case .grantsAtOnce: 50  // 177
        case .forgetsHolders: 50  // as grantsAtOnce
        case .grantsAfterOneClaim: 55  // 163
        case .claimsTooMuch: 50  // 183
        case .claimsDeadShares: 920  // 10
        case .neverExpires: 32  // 260
        }
    }
}
