import Testing

@testable import Scheduling

/// The rate that is found for simulated origins, by the right rule and by wrong ones.
struct OriginControlTests {
    /// What an origin is, and what counts as found: a share of its limit, and at most so many refusals.
    enum Trial: CaseIterable {
        case fiftyASecond, fiveHundred, fiveThousand, fiveHundredAndNoise, changes, noise, muchNoise, slowAndNoise
        case twentyAtOnce, twentyAtOnceUneven, rateRefusedBy503
    }

    /// What was answered, as a share of what the origin accepts, and the share that was refused.
    struct Outcome {
        var share: Double
        var refused: Double
        func isGood(share least: Double = 0.9, refused most: Double = 0.02) -> Bool {
            share >= least && refused <= most
        }
    }

    private static func world(
        _ origin: ControlWorld.Origin, _ rule: any RateFinder, _ workers: Int, _ seed: UInt64, maxRate: Double = 8_000
    ) -> ControlWorld {
        ControlWorld(origin, rule, workers: workers, seed: seed, maxRate: maxRate)
    }

    /// Runs a trial; from 10 s after the start and 20 s after a change on.
    private static func outcomes(
        _ trial: Trial, _ rule: any RateFinder, workers: Int, seed: UInt64
    ) -> [(Outcome, isGood: Bool)] {
        func found(_ world: ControlWorld, of limit: Double, _ seconds: Range<Int> = 10..<60) -> Outcome {
            let (answered, refused) = world.outcome(seconds)
            return Outcome(share: answered / limit, refused: refused)
        }
        func steady(
            _ origin: ControlWorld.Origin, of limit: Double, maxRate: Double = 8_000, least: Double = 0.9,
            most: Double = 0.02
        ) -> [(Outcome, isGood: Bool)] {
            var world = world(origin, rule, workers, seed, maxRate: maxRate)
            world.run(60_000)
            let outcome = found(world, of: limit)
            return [(outcome, outcome.isGood(share: least, refused: most))]
        }
        switch trial {
        case .fiftyASecond: return steady(.init(perSecond: 50, burst: 50), of: 50, most: 0.03)
        case .fiveHundred: return steady(.init(perSecond: 500), of: 500)
        case .fiveThousand: return steady(.init(perSecond: 5_000, burst: 500), of: 5_000)
        case .fiveHundredAndNoise: return steady(.init(perSecond: 500, noise: 0.01), of: 500, most: 0.03)
        case .noise: return steady(.init(noise: 0.01), of: 2_000 * 0.99, maxRate: 2_000)
        case .muchNoise: return steady(.init(noise: 0.06), of: 2_000 * 0.94, maxRate: 2_000, least: 0.8, most: 0.08)
        case .slowAndNoise: return steady(.init(noise: 0.01), of: 100 * 0.99, maxRate: 100)
        case .twentyAtOnce:
            return steady(.init(connections: 20, latency: (50, 0), busyStatus: true), of: 400)
        case .twentyAtOnceUneven:
            return steady(.init(connections: 20, latency: (20, 80), busyStatus: true), of: 20_000 / 60)
        case .rateRefusedBy503:
            // Each guess at a limit of connections costs refusals.
            return steady(.init(perSecond: 500, latency: (50, 50), busyStatus: true), of: 500, most: 0.03)
        case .changes:
            var world = world(.init(perSecond: 500), rule, workers, seed)
            world.run(30_000)
            world.origin.perSecond = 200
            world.run(40_000)
            world.origin.perSecond = 500
            world.run(40_000)
            return [found(world, of: 500, 10..<30), found(world, of: 200, 50..<70), found(world, of: 500, 90..<110)]
                .map { ($0, $0.isGood(share: 0.85, refused: 0.03)) }
        }
    }

    @Test(arguments: Trial.allCases) func findsTheLimit(_ trial: Trial) {
        for workers in [1, 2, 8] {
            for seed in 1...2 as ClosedRange<UInt64> {
                for (outcome, isGood) in Self.outcomes(trial, OriginControl(), workers: workers, seed: seed) {
                    #expect(isGood, "\(workers) workers, seed \(seed): \(outcome)")
                }
            }
        }
    }

    /// Rules that are wrong, and a trial that shows it of each.
    enum Wrong: CaseIterable {
        /// Halves at each refusal, as earlier builds did.
        case halving
        /// Any refusal is an overload.
        case withoutShare
        /// The limit found last is forgotten.
        case withoutMemory

        var rule: any RateFinder {
            var policy = ControlPolicy()
            switch self {
            case .halving: return HalvingRule()
            case .withoutShare: (policy.noise, policy.minEvidence) = (0, 0)
            case .withoutMemory: policy.hasMemory = false
            }
            return OriginControl(policy)
        }

        var trials: [Trial] {
            switch self {
            case .halving: [.fiveHundred, .noise]
            case .withoutShare: [.fiveHundredAndNoise]
            case .withoutMemory: [.fiveHundred]
            }
        }
    }

    @Test(arguments: Wrong.allCases) func isFoundOut(_ wrong: Wrong) {
        for trial in wrong.trials {
            let outcomes = (1...3).flatMap { Self.outcomes(trial, wrong.rule, workers: 2, seed: $0) }
            let isMissed = outcomes.contains { !$0.isGood }
            #expect(isMissed, "\(trial): \(outcomes)")
        }
    }

    @Test func anOriginThatRefusesNothingIsAskedWithoutALimit() {
        var world = ControlWorld(ControlWorld.Origin(), OriginControl(), workers: 3, seed: 1)
        world.run(20_000)
        #expect(world.control.rate == nil && world.control.connections == nil)
        #expect(world.outcome(5..<20).answered > 7_500)
    }

    /// A cluster that asks for less than allowed learns nothing about more.
    @Test func theRateDoesNotGrowBeyondWhatIsAskedFor() throws {
        var world = ControlWorld(
            ControlWorld.Origin(perSecond: 500), OriginControl(), workers: 2, seed: 1, maxRate: 700)
        world.run(20_000)
        world.origin.perSecond = nil
        world.run(60_000)
        let rate = try #require(world.control.rate)
        #expect(rate < 700 / 0.7 * 1.3, "\(rate)")
    }

    /// A limit of connections is gone: the search for it ends, and nothing is limited any more.
    @Test(arguments: [1, 2, 8]) func aLimitOfConnectionsThatIsGoneIsForgotten(workers: Int) {
        var rule = OriginControl()
        rule.maxConnections = 64
        let origin = ControlWorld.Origin(connections: 20, latency: (50, 0), busyStatus: true)
        var world = ControlWorld(origin, rule, workers: workers, seed: 1)
        world.run(10_000)
        #expect(world.control.connections.map { $0 <= 24 } == true)
        world.origin.connections = nil
        world.run(180_000)
        #expect(world.control.connections == nil && world.control.rate == nil)
        #expect(world.outcome(100..<180).answered > 1_200)
    }

    /// Everything is refused for some seconds: the limit found before is still known afterwards.
    @Test func anOutageOfRefusalsIsForgottenSoon() {
        var world = ControlWorld(ControlWorld.Origin(perSecond: 500), OriginControl(), workers: 2, seed: 1)
        world.run(20_000)
        world.origin.noise = 1
        world.run(5_000)
        world.origin.noise = 0
        world.run(30_000)
        #expect(world.outcome(45..<55).answered > 450)
    }

    @Test func theRestOfAnAnswerFromBeforeTheCutIsNoSecondRefusal() throws {
        var control = OriginControl()
        func take(_ answered: Double, _ refused: Double, at now: Int64) {
            control.addSample(
                OriginControl.Sample(answered: answered, refused: refused), from: 1, of: 1,
                now: Tick(milliseconds: now))
        }
        take(0, 0, at: 1_000)
        take(100, 100, at: 1_200)
        let first = try #require(control.rate)
        // Sent before the new rate was known.
        take(0, 100, at: 1_400)
        #expect(control.rate == first)
        #expect(first > 450 && first < 500, "\(first)")
    }
}
