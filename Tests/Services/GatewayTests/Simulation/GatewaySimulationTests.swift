import Foundation
import Testing

@testable import Gateway

/// Held requests and rates in simulated worlds.
///
/// `PACKHORSE_GATEWAY_SEEDS=N` plays N worlds of each, `PACKHORSE_FROM=S` begins at S, `PACKHORSE_SEED=S` plays one.
@Suite struct GatewaySimulationTests {
    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    private static let seeds: Range<UInt64> = {
        if let seed = number("PACKHORSE_SEED") { return seed..<seed + 1 }
        let from = number("PACKHORSE_FROM") ?? 0
        return from..<from + (number("PACKHORSE_GATEWAY_SEEDS") ?? 500)
    }()

    @Test func everyGatewayKeepsItsRules() {
        for seed in Self.seeds {
            if let problem = DeskWorld.run(seed: seed) { Issue.record("held requests, seed \(seed): \(problem)") }
            if let problem = RateWorld.run(seed: seed) { Issue.record("rates, seed \(seed): \(problem)") }
        }
        print("\(Self.seeds.count) worlds of held requests and of rates keep their rules")
    }

    /// Rules that are wrong in one number, each of which the world must notice.
    @Test(arguments: 0..<5) func aWrongRuleOfHeldRequestsIsNoticed(_ number: Int) {
        var rules = ExtractRules()
        switch number {
        case 0: rules.heartbeat = 17
        case 1: rules.hold = 250
        case 2: rules.rangedHold = 60
        case 3: rules.maxEach = 5
        default:
            rules.bytes = 17
            rules.heartbeat = 10
        }
        #expect((0..<200).contains { DeskWorld.run(seed: $0, rules) != nil })
    }

    /// Limits that are wrong in one number, each of which the world must notice.
    @Test(arguments: 0..<4) func aWrongLimitIsNoticed(_ number: Int) {
        let caught = (UInt64(0)..<200).contains { seed in
            let problem = RateWorld.run(seed: seed) { limit in
                switch number {
                case 0: RateLimit(perSecond: limit.perSecond, burst: limit.burst + 1)
                case 1: RateLimit(perSecond: limit.perSecond, burst: max(1, limit.burst - 1))
                case 2: RateLimit(perSecond: limit.perSecond * 1.01, burst: limit.burst)
                default: RateLimit(perSecond: limit.perSecond * 0.99, burst: limit.burst)
                }
            }
            return problem != nil
        }
        #expect(caught)
    }
}
