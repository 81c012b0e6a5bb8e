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
        var caught = 0
        for seed in 1...60 as ClosedRange<UInt64> {
            var world = RateWorld(seed: seed, drift: -0.8)
            world.run(for: 60_000)
            if world.violation != nil { caught += 1 }
        }
        #expect(caught > 5)
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
