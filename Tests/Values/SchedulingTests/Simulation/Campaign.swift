import Foundation

/// Many seeds, one after the other.
struct Campaign {
    struct Outcome {
        var seeds = 0
        var failures: [String] = []
        var firstFailure: UInt64?
        var events = 0
        var handed = 0
        var crashes = 0
        var marks = Marks()
        var trace = Fingerprint()
        var longest: Int64 = 0
        var spent = Duration.zero

        var summary: String {
            let (whole, atto) = spent.components
            let milliseconds = max(whole * 1_000 + atto / 1_000_000_000_000_000, 1)
            let first = firstFailure.map { ", first failing seed \($0)" } ?? ""
            let missing = marks.missing.isEmpty ? "all marks hit" : "marks not hit: \(marks.missing)"
            return
                "\(seeds) seeds, \(failures.count) failed\(first); \(events) events, \(handed) handled by the scheduler, "
                + "\(crashes) crashes; \(Int64(seeds) * 1_000 / milliseconds) seeds/s; \(missing); "
                + "trace \(String(trace.value, radix: 16))"
        }
    }

    let seeds: Range<UInt64>
    var mutant: Mutant?
    var speaks = false
    /// Ends after this many failures.
    var maxFailures = 5

    /// Prints without buffering, because a long run is observed while it runs.
    static func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

    func run() -> Outcome {
        var outcome = Outcome()
        let clock = ContinuousClock()
        let start = clock.now
        for seed in seeds {
            var simulation = Simulation(seed: seed, mutant: mutant)
            let problem = simulation.run()
            outcome.seeds += 1
            outcome.events += simulation.events
            outcome.handed += simulation.handed
            outcome.crashes += simulation.crashes
            outcome.marks.add(simulation.marks)
            outcome.trace.add(simulation.trace.value)
            outcome.spent = clock.now - start
            if let problem {
                outcome.failures.append("\(problem), trace \(String(simulation.trace.value, radix: 16))")
                outcome.firstFailure = outcome.firstFailure ?? seed
                if speaks { Campaign.say(outcome.failures[outcome.failures.count - 1]) }
                if outcome.failures.count >= maxFailures { break }
            }
            if speaks, outcome.seeds % 1_000 == 0 { Campaign.say(outcome.summary) }
        }
        return outcome
    }
}
