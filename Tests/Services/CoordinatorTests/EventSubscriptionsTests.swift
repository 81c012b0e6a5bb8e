import Scheduling
import Testing
import Wire

@testable import Coordinator
@testable import ZeroMQ

struct EventSubscriptionsTests {
    private let replyAddress = ReplyAddress(peer: PeerID(endpointIndex: 0, route: [1]), session: 1, seq: 1)

    private func question(job: UInt64 = 0, wait: UInt32 = 100) -> PBGetEvents {
        .make {
            $0.job = job
            $0.waitMs = wait
        }
    }

    private func at(_ milliseconds: Int64) -> Tick { Tick(milliseconds: milliseconds) }

    @Test func aRequestThatFindsAnEventIsAnsweredAtOnce() throws {
        var all = EventSubscriptions()
        let added = all.add(question(), replyAddress, now: at(0))
        let read = try #require(added)
        #expect(all.nextEnd == nil, "the report of the read wakes the loop")
        let end = all.finish(read, isEmpty: false, now: at(1))
        #expect(end.replyAddress != nil)
        #expect(all.isEmpty)
    }

    @Test func aRequestIsReadAgainWhenItsJobChanges() throws {
        var all = EventSubscriptions()
        let added = all.add(question(job: 7), replyAddress, now: at(0))
        let read = try #require(added)
        let first = all.finish(read, isEmpty: true, now: at(1))
        #expect(first.replyAddress == nil && first.again == nil)
        #expect(all.nextEnd == at(100))
        let (other, own) = (all.committed([8]), all.committed([7, 8]))
        #expect(other.isEmpty)
        #expect(own == [read])
    }

    /// The running read may have begun before the commit.
    @Test func aChangeDuringAReadIsNotMissed() throws {
        var all = EventSubscriptions()
        let added = all.add(question(), replyAddress, now: at(0))
        let read = try #require(added)
        let reads = all.committed([1])
        #expect(reads.isEmpty)
        let (first, second) = (
            all.finish(read, isEmpty: true, now: at(1)), all.finish(read, isEmpty: true, now: at(2))
        )
        #expect(first.again == read)
        #expect(second.replyAddress == nil && second.again == nil)
    }

    @Test func aWaitEndsWithAnEmptyAnswer() throws {
        var all = EventSubscriptions()
        let added = all.add(question(), replyAddress, now: at(0))
        let read = try #require(added)
        _ = all.finish(read, isEmpty: true, now: at(1))
        let (early, due) = (all.expire(now: at(99)), all.expire(now: at(100)))
        #expect(early.isEmpty)
        #expect(due == [read])
        let end = all.finish(read, isEmpty: true, now: at(101))
        #expect(end.replyAddress != nil)
        #expect(all.isEmpty)
    }

    @Test func furtherRequestsDoNotWait() {
        var all = EventSubscriptions()
        let most = EventSubscriptions.maxSubscriptions
        let added = (0...most).map { _ in all.add(question(), replyAddress, now: at(0)) != nil }
        #expect(added == Array(repeating: true, count: most) + [false])
        var fresh = EventSubscriptions()
        let waitless = fresh.add(question(wait: 0), replyAddress, now: at(0))
        #expect(waitless == nil)
    }
}
