import Foundation
import Testing

struct SimulationTests {
    /// 200 seeds by default; PACKHORSE_SEEDS=N runs more, PACKHORSE_SEED=S runs only that one.
    @Test func everyJobEndsWithEveryBatchDoneOnce() {
        let environment = ProcessInfo.processInfo.environment
        let only = environment["PACKHORSE_SEED"].flatMap(UInt64.init)
        let seeds = only.map { [$0] } ?? Array(0..<(environment["PACKHORSE_SEEDS"].flatMap(UInt64.init) ?? 200))
        var (crashes, refused, failures) = (0, 0, 0)
        for seed in seeds where failures < 5 {
            var simulation = Simulation(seed: seed)
            if let problem = simulation.run() {
                failures += 1
                Issue.record("seed \(seed): \(problem)")
            }
            crashes += simulation.crashes
            refused += simulation.refused
        }
        // A simulation without faults would prove nothing.
        if only == nil {
            #expect(crashes > seeds.count)
            #expect(refused > 0)
        }
    }

    @Test func aSeedReplaysExactly() {
        for seed in [UInt64(3), 17, 40] {
            var first = Simulation(seed: seed)
            var second = Simulation(seed: seed)
            #expect(first.run() == second.run())
            #expect(first.trace == second.trace)
            #expect(first.now == second.now)
        }
    }
}
