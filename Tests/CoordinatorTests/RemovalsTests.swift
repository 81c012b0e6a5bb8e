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
        let first = removals.doom([one, two])
        #expect(removals.next(of: first) == two)
        #expect(removals.next(of: first) == nil)
        let left = removals.ended(first)
        #expect(left == [one])
        #expect(removals.isClaimed(left))
        // The commit was refused: the next round removes it.
        removals.settle(one, mayBeNamed: false)
        #expect(!removals.isClaimed(left))
        let second = removals.doom([one])
        #expect(removals.next(of: second) == one)
        #expect(removals.next(of: second) == nil)
        #expect(removals.ended(second).isEmpty)
    }

    /// Whether a row names it is not known here, so it is left, and the list says so: the rows are asked again.
    @Test func whatMayHaveBeenNamedIsLeftOnEveryList() throws {
        let removals = Removals()
        let one = try digest(1)
        let (first, second) = (removals.doom([one]), removals.doom([one]))
        removals.claim(one)
        removals.claim(one)
        removals.settle(one, mayBeNamed: true)
        #expect(removals.next(of: first) == nil, "claimed still")
        removals.settle(one, mayBeNamed: false)
        #expect(removals.next(of: first) == nil)
        #expect(removals.ended(first) == [one])
        #expect(removals.next(of: second) == nil)
        #expect(removals.ended(second) == [one])
    }

    /// A job's trim may still run when its release begins: neither takes the list of the other.
    @Test func twoListsOfOneJobDoNotMeet() throws {
        let removals = Removals()
        let (one, two) = (try digest(1), try digest(2))
        let trim = removals.doom([one])
        let release = removals.doom([one, two])
        #expect(removals.next(of: trim) == one)
        #expect(removals.next(of: trim) == nil)
        #expect(removals.ended(trim).isEmpty)
        #expect([removals.next(of: release), removals.next(of: release)] == [two, one])
        #expect(removals.next(of: release) == nil)
        #expect(removals.ended(release).isEmpty)
    }

    @Test func aCommitWaitsForTheRemovalUnderWay() async throws {
        let removals = Removals()
        let one = try digest(1)
        let ticket = removals.doom([one])
        #expect(removals.next(of: ticket) == one)
        removals.claim(one)
        let isOver = Mutex(false)
        async let passed: Bool = {
            await removals.pass(one)
            return isOver.withLock { $0 }
        }()
        for _ in 0..<100 { await Task.yield() }
        isOver.withLock { $0 = true }
        #expect(removals.ended(ticket).isEmpty)
        #expect(await passed)
        await removals.pass(one)
    }
}
