import Foundation
import Testing

@Suite struct SimulationTests {
    /// PACKHORSE_SEEDS=N runs N seeds instead, PACKHORSE_SEED=S replays one with its last events.
    @Test func everyWorldHealsAndNothingIsLost() {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["PACKHORSE_SEED"].flatMap(UInt64.init) { return replay(seed) }
        let wanted = environment["PACKHORSE_SEEDS"].flatMap(UInt64.init)
        let campaign = Campaign(seeds: 0..<(wanted ?? 500), speaks: wanted != nil)
        let outcome = campaign.run()
        Campaign.say(outcome.summary)
        for failure in outcome.failures { Issue.record("\(failure)") }
        #expect(outcome.crashes > outcome.seeds)
        if outcome.seeds >= 1_000 { #expect(outcome.marks.missing == []) }
    }

    private func replay(_ seed: UInt64) {
        let environment = ProcessInfo.processInfo.environment
        let mutant = environment["PACKHORSE_MUTANT"].flatMap(Mutant.init)
        var simulation = Simulation(seed: seed, mutant: mutant, records: true)
        let problem = simulation.run()
        print(
            simulation.recording?.suffix(environment["PACKHORSE_LINES"].flatMap(Int.init) ?? 400).joined(
                separator: "\n") ?? "")
        print("seed \(seed): \(problem ?? "no problem"), trace \(String(simulation.trace.value, radix: 16))")
        print("swarm: \(simulation.swarm)")
        if let problem { Issue.record("\(problem)") }
    }

    @Test func aSeedReplaysExactly() {
        for seed: UInt64 in [3, 17, 40, 101] {
            var first = Simulation(seed: seed)
            var second = Simulation(seed: seed, records: true)
            #expect(first.run() == second.run())
            #expect(first.trace.value == second.trace.value)
            #expect(first.now == second.now)
        }
    }
}
