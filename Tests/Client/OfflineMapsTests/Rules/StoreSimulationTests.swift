import Foundation
import Testing

@testable import OfflineMaps

/// Seeded worlds round ``StoreMachine``.
///
/// `PACKHORSE_STORE_SEEDS=N` plays N worlds, `PACKHORSE_FROM=S` begins at S, `PACKHORSE_SEED=S` plays one and prints its
/// last events.
@Suite struct StoreSimulationTests {
    private func number(_ name: String) -> UInt64? { ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) } }

    @Test func everyStoreHeals() {
        if let seed = number("PACKHORSE_SEED") {
            let world = SimWorld(seed: seed)
            world.isTraced = true
            let violation = world.play()
            if violation != nil { print(world.trace.suffix(200).joined(separator: "\n")) }
            #expect(violation == nil)
            return
        }
        let from = number("PACKHORSE_FROM") ?? 0
        let count = number("PACKHORSE_STORE_SEEDS") ?? 200
        var steps = 0
        for seed in from..<from + count {
            let world = SimWorld(seed: seed)
            if let violation = world.play() { Issue.record("\(violation)") }
            steps += world.steps
        }
        print("\(count) stores healed after \(steps) steps")
        #expect(steps > Int(count) * 50)
    }

    @Test func aSeedGivesOneWorld() {
        for seed: UInt64 in 0..<10 {
            let (first, second) = (SimWorld(seed: seed), SimWorld(seed: seed))
            #expect(first.play() == second.play())
            #expect(first.steps == second.steps)
            #expect(first.now == second.now)
            #expect(first.disk.rows == second.disk.rows)
        }
    }

    @Test(arguments: WrongRule.all.indices)
    func aWrongRuleIsCaught(_ index: Int) {
        let wrong = WrongRule.all[index]
        let caught = (0..<2_000).lazy.compactMap { SimWorld(seed: UInt64($0), wrong: wrong).play() }.first
        #expect(caught != nil, "no world catches a store that \(wrong.name)")
    }
}
