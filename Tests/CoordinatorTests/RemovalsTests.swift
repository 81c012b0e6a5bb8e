import Scheduling
import Synchronization
import Testing

@testable import Coordinator

struct RemovalsTests {
    private func digest(_ seed: UInt8) throws -> ContentDigest {
        try #require(ContentDigest([UInt8](repeating: seed, count: 32)))
    }

    @Test func whatIsClaimedIsLeftAndTriedAgain() throws {
        let removals = Removals()
        let (one, two) = (try digest(1), try digest(2))
        removals.claim(one)
        removals.doom([one, two], of: 7)
        #expect(removals.next(of: 7) == two)
        #expect(removals.next(of: 7) == nil)
        #expect(removals.ended(7), "one is left")
        // The commit was refused: the next round removes it.
        removals.settle(one, isNamed: false)
        removals.doom([one], of: 7)
        #expect(removals.next(of: 7) == one)
        #expect(removals.next(of: 7) == nil)
        #expect(!removals.ended(7))
    }

    @Test func whatACommitNamesIsTakenFromEveryList() throws {
        let removals = Removals()
        let one = try digest(1)
        removals.doom([one], of: 7)
        removals.doom([one], of: 8)
        removals.claim(one)
        removals.claim(one)
        removals.settle(one, isNamed: true)
        #expect(removals.next(of: 7) == nil, "claimed still")
        removals.settle(one, isNamed: false)
        #expect(removals.next(of: 7) == nil && !removals.ended(7))
        #expect(removals.next(of: 8) == nil && !removals.ended(8))
    }

    @Test func aCommitWaitsForTheRemovalUnderWay() async throws {
        let removals = Removals()
        let one = try digest(1)
        removals.doom([one], of: 7)
        #expect(removals.next(of: 7) == one)
        removals.claim(one)
        let isOver = Mutex(false)
        async let passed: Bool = {
            await removals.pass(one)
            return isOver.withLock { $0 }
        }()
        for _ in 0..<100 { await Task.yield() }
        isOver.withLock { $0 = true }
        #expect(!removals.ended(7))
        #expect(await passed)
        await removals.pass(one)
    }
}
