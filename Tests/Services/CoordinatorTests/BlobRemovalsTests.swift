import Digests
import Scheduling
import Synchronization
import Testing

@testable import Coordinator

struct BlobRemovalsTests {
    private func digest(_ seed: UInt8) throws -> Digest {
        try #require(Digest(bytes: [UInt8](repeating: seed, count: 32)))
    }

    @Test func whatIsClaimedIsLeftAndTriedAgain() throws {
        let removals = BlobRemovals()
        let (one, two) = (try digest(1), try digest(2))
        removals.claim(one)
        let first = removals.start([one, two])
        #expect(removals.next(of: first) == two)
        #expect(removals.next(of: first) == nil)
        let left = removals.end(first)
        #expect(left == [one])
        #expect(removals.isClaimed(left))
        // The commit was refused: the next round removes it.
        removals.endClaim(of: one, mayBeNamed: false)
        #expect(!removals.isClaimed(left))
        let second = removals.start([one])
        #expect(removals.next(of: second) == one)
        #expect(removals.next(of: second) == nil)
        #expect(removals.end(second).isEmpty)
    }

    /// Whether a row names it is not known here, so it is left, and the list says so: the rows are asked again.
    @Test func whatMayHaveBeenNamedIsLeftOnEveryList() throws {
        let removals = BlobRemovals()
        let one = try digest(1)
        let (first, second) = (removals.start([one]), removals.start([one]))
        removals.claim(one)
        removals.claim(one)
        removals.endClaim(of: one, mayBeNamed: true)
        #expect(removals.next(of: first) == nil, "claimed still")
        removals.endClaim(of: one, mayBeNamed: false)
        #expect(removals.next(of: first) == nil)
        #expect(removals.end(first) == [one])
        #expect(removals.next(of: second) == nil)
        #expect(removals.end(second) == [one])
    }

    /// The rows are read after the list was opened: they may lack the names that claims end with meanwhile.
    @Test func whatWasNamedWhileTheRowsWereReadIsLeft() throws {
        let removals = BlobRemovals()
        let (one, two, three) = (try digest(1), try digest(2), try digest(3))
        removals.claim(one)
        let ticket = removals.open()
        #expect(removals.next(of: ticket) == nil, "nothing is known yet")
        removals.endClaim(of: one, mayBeNamed: true)
        removals.claim(two)
        removals.endClaim(of: two, mayBeNamed: false)
        removals.fill(ticket, [one, two, three])
        #expect([removals.next(of: ticket), removals.next(of: ticket)] == [three, two])
        #expect(removals.next(of: ticket) == nil)
        #expect(removals.end(ticket) == [one])
    }

    /// A job's trim may still run when its release begins: neither takes the list of the other.
    @Test func twoListsOfOneJobDoNotMeet() throws {
        let removals = BlobRemovals()
        let (one, two) = (try digest(1), try digest(2))
        let trim = removals.start([one])
        let release = removals.start([one, two])
        #expect(removals.next(of: trim) == one)
        #expect(removals.next(of: trim) == nil)
        #expect(removals.end(trim).isEmpty)
        #expect([removals.next(of: release), removals.next(of: release)] == [two, one])
        #expect(removals.next(of: release) == nil)
        #expect(removals.end(release).isEmpty)
    }

    @Test func aCommitWaitsForTheRemovalUnderWay() async throws {
        let removals = BlobRemovals()
        let one = try digest(1)
        let ticket = removals.start([one])
        #expect(removals.next(of: ticket) == one)
        removals.claim(one)
        let isOver = Mutex(false)
        async let passed: Bool = {
            await removals.waitUntilFree(one)
            return isOver.withLock { $0 }
        }()
        for _ in 0..<100 { await Task.yield() }
        isOver.withLock { $0 = true }
        #expect(removals.end(ticket).isEmpty)
        #expect(await passed)
        await removals.waitUntilFree(one)
    }
}
