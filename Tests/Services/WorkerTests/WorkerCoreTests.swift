import Foundation
import Testing
import Wire

@testable import Worker

struct WorkerCoreTests {
    @Test func theFirstWordIsHelloAndTheSecondIsCredit() {
        var rig = Rig()
        #expect(rig.do(.linked) == ["hello []"])
        #expect(rig.hear(.welcome(.make { $0.heartbeatMs = 5000 })) == ["ready 3"])
    }

    @Test func helloIsRepeatedUntilItIsAnswered() {
        var rig = Rig()
        _ = rig.do(.linked)
        #expect(rig.pass(4_999) == [])
        #expect(rig.pass(1) == ["hello []"])
    }

    @Test func offersRunUpToTheSlotsAndTheNextOneWaits() {
        var rig = Rig.serving()
        #expect(rig.offer(1) == ["run 1"])
        #expect(rig.offer(2) == ["run 2"])
        #expect(rig.offer(3) == [])
        #expect(rig.finish(1) == ["commit 1", "run 3", "ready 1"])
    }

    @Test func oneMergeNeedsNoSlot() {
        var rig = Rig.serving()
        for token in 1...3 as ClosedRange<UInt64> { _ = rig.offer(token) }
        func merge(_ token: UInt64) -> Message {
            .offer(
                .make {
                    $0.token = token
                    $0.merge = PBMergeWork()
                })
        }
        #expect(rig.hear(merge(4)) == ["run 4"])
        // The next one waits for the end of the first.
        #expect(rig.hear(merge(5)) == [])
        #expect(rig.finish(4) == ["commit 4", "run 5", "ready 0"])
        #expect(rig.finish(5) == ["commit 5", "ready 0"])
    }

    @Test func twoLeasesOfPlannedRangesShareASlot() {
        var rig = Rig.serving()
        func planned(_ token: UInt64) -> Message {
            .offer(
                .make {
                    $0.token = token
                    $0.fetch = .make { $0.part = PBRangePlanPart() }
                })
        }
        for token in 1...4 as ClosedRange<UInt64> { #expect(rig.hear(planned(token)) == ["run \(token)"]) }
        #expect(rig.hear(planned(5)) == [])
        #expect(rig.finish(1) == ["commit 1", "run 5", "ready 1"])
        // A lease that reads directories needs a slot of its own.
        #expect(rig.offer(6) == [])
        #expect(rig.finish(2) == ["commit 2", "ready 0"])
        #expect(rig.finish(3) == ["commit 3", "run 6", "ready 1"])
    }

    @Test func offersThatCrossedTheCreditWaitAndMoreThanTwiceTheCreditGoesBack() {
        var rig = Rig.serving()
        for token in 1...3 as ClosedRange<UInt64> { _ = rig.offer(token) }
        for token in 4...6 as ClosedRange<UInt64> { #expect(rig.offer(token) == []) }
        #expect(rig.offer(7) == ["return [7]"])
        #expect(rig.finish(1) == ["commit 1", "run 3", "ready 0"])
    }

    @Test func anOldOrDoubledOfferIsIgnored() {
        var rig = Rig.serving()
        #expect(rig.offer(7) == ["run 7"])
        #expect(rig.offer(7) == [])
        #expect(rig.offer(6) == [])
        #expect(rig.core.leases.map(\.token) == [7])
    }

    @Test func aMessageAboutAnotherSessionIsIgnored() {
        var rig = Rig.serving()
        let offer = Message.offer(.make { $0.token = 1 })
        #expect(rig.do(.message(offer, about: 99)) == [])
        #expect(rig.core.leases.isEmpty)
    }

    @Test func aCommitIsRepeatedUntilExactlyItsDigestIsAcknowledged() {
        var rig = Rig.serving()
        _ = rig.offer(1)
        #expect(rig.finish(1) == ["commit 1", "ready 3"])
        #expect(rig.pass(5_000) == ["commit 1", "progress [1]", "ready 3"])
        #expect(rig.hear(.ack(.make { ($0.token, $0.digest) = (1, Data(repeating: 9, count: 32)) })) == ["ready 3"])
        #expect(rig.pass(5_000).contains("commit 1"))
        #expect(rig.hear(.ack(.make { ($0.token, $0.digest) = (1, Rig.digest) })) == ["ready 3"])
        #expect(!rig.pass(5_000).contains("commit 1"))
    }

    @Test func aStaleResultIsDroppedAndAStaleLeaseIsStopped() {
        var rig = Rig.serving()
        _ = rig.offer(1)
        _ = rig.offer(2)
        _ = rig.finish(1)
        #expect(rig.hear(.stale(.make { $0.token = 1 })) == ["ready 2"])
        #expect(rig.hear(.stale(.make { $0.token = 2 })) == ["cancel 2", "ready 3"])
        #expect(rig.do(.finished(2, .cancelled)) == [], "A lease that is no longer ours is not given back.")
    }

    @Test func aPongStopsWhatIsCancelledAndStartsTheNext() {
        var rig = Rig.serving()
        for token in 1...3 as ClosedRange<UInt64> { _ = rig.offer(token) }
        #expect(rig.hear(.pong(.make { $0.cancelled = [1, 77] })) == ["cancel 1", "run 3", "ready 1"])
    }

    @Test func anUnknownSessionIsGreetedWithEverythingInHand() {
        var rig = Rig.serving()
        for token in 1...3 as ClosedRange<UInt64> { _ = rig.offer(token) }
        _ = rig.finish(1)
        #expect(rig.hear(.unknownSession(PBUnknownSession())) == ["hello [1, 2, 3]"])
        #expect(rig.hear(.unknownSession(PBUnknownSession())) == [], "One hello answers several of them.")
        // The coordinator knows 2 only: 3 stops, and the result of 1 is offered until it says yes or no.
        #expect(rig.hear(.welcome(.make { $0.adopted = [2] })) == ["cancel 3", "commit 1", "ready 2"])
    }

    @Test func anOfferThatCrossedTheHelloIsKept() {
        var rig = Rig.serving()
        _ = rig.do(.linked)
        #expect(rig.offer(5) == ["run 5"])
        #expect(rig.hear(.welcome(PBWelcome())) == ["ready 2"])
    }

    @Test func workGoesOnWithoutACoordinatorAndTheConnectionIsMadeAnew() {
        var rig = Rig.serving()
        _ = rig.offer(1)
        _ = rig.offer(2)
        var log = rig.pass(14_900)
        #expect(!log.contains("reconnect"))
        log = rig.pass(200)
        #expect(log.prefix(2) == ["reconnect", "hello [1, 2]"])
        #expect(rig.finish(1) == ["commit 1"])
        #expect(!rig.pass(14_000).contains("reconnect"), "Once per silence, not once per tick.")
        #expect(rig.pass(2_000).contains("reconnect"))
        #expect(rig.core.phase == .greeting)
    }

    @Test func anHourWithoutACoordinatorEndsTheWorker() {
        var rig = Rig.serving()
        #expect(rig.pass(3_599_000, step: 1_000).last != "end orphaned")
        #expect(rig.pass(2_000).last == "end orphaned")
        #expect(rig.offer(9) == [])
    }

    @Test func aFinalRejectionEndsTheWorkerAndATemporaryOneDoesNot() {
        var rig = Rig()
        _ = rig.do(.linked)
        #expect(rig.hear(.reject(.make { ($0.code, $0.retriable) = ("starting", true) })) == [])
        #expect(rig.pass(5_000) == ["hello []"])
        #expect(rig.hear(.reject(.make { $0.code = "wrong-blob-store" })) == ["end rejected wrong-blob-store"])
    }

    @Test func aFailureIsReportedAndTheNextLeaseBegins() {
        var rig = Rig.serving()
        for token in 1...3 as ClosedRange<UInt64> { _ = rig.offer(token) }
        #expect(rig.fail(1, "bad-tileset") == ["fail 1 bad-tileset", "run 3", "ready 1"])
    }

    @Test func aFullDiskGivesTheQueueBackAndTakesNothingForAWhile() {
        var rig = Rig.serving()
        for token in 1...3 as ClosedRange<UInt64> { _ = rig.offer(token) }
        #expect(rig.fail(1, "disk-full") == ["fail 1 disk-full", "return [3]", "ready 0"])
        #expect(rig.offer(4) == ["return [4]"])
        #expect(rig.pass(5_000).last == "ready 0")
        _ = rig.hear(.pong(PBPong()))
        #expect(rig.pass(5_000).last == "ready 2")
    }

    @Test func everyHeartbeatReportsAllLeasesWithTheirCounters() {
        var rig = Rig.serving()
        _ = rig.offer(1)
        rig.now += 5_000
        let effects = rig.core.handle(.tick([1: WorkCounters(done: 17, bytes: 4711)]), now: rig.now)
        let expected = PBProgress.make {
            $0.leases = [
                .make {
                    $0.token = 1
                    $0.done = 17
                    $0.bytes = 4711
                }
            ]
        }
        #expect(effects.contains(.send(.progress(expected))))
    }

    @Test func drainingGivesLeasesBackAndWaitsForAcknowledgements() {
        var rig = Rig.serving()
        for token in 1...3 as ClosedRange<UInt64> { _ = rig.offer(token) }
        _ = rig.finish(1)
        // 2 and 3 run, 1 is spooled.
        #expect(rig.do(.drain) == ["cancel 2", "cancel 3", "return [2, 3]", "commit 1"])
        #expect(rig.offer(4) == ["return [4]"])
        #expect(rig.do(.finished(2, .cancelled)) == [])
        #expect(
            rig.hear(.ack(.make { ($0.token, $0.digest) = (1, Rig.digest) })) == ["bye", "end drained"])
    }

    @Test func drainingWithNothingInHandEndsAtOnce() {
        var rig = Rig.serving()
        #expect(rig.do(.drain) == ["bye", "end drained"])
        #expect(rig.do(.drain) == [])
    }

    @Test func drainingEndsInTimeEvenWithoutAnAnswer() {
        var rig = Rig.serving()
        _ = rig.offer(1)
        _ = rig.finish(1)
        _ = rig.do(.drain)
        #expect(rig.pass(4_999).last != "end drained")
        #expect(rig.pass(1) == ["bye", "end drained"])
    }

    @Test func drainingWithoutACoordinatorEndsAtOnce() {
        var rig = Rig()
        _ = rig.do(.linked)
        #expect(rig.do(.drain) == ["end drained"])
    }

    @Test func aSpoolThatOnlyGrowsStopsTheCredit() {
        var rig = Rig.serving()
        for token in 1...65 as ClosedRange<UInt64> {
            _ = rig.offer(token)
            _ = rig.finish(token)
        }
        #expect(rig.pass(5_000).last == "ready 0")
    }
}
