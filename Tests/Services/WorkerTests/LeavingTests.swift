import Testing
import Wire

@testable import Worker

/// A worker that the coordinator asks to leave.
struct LeavingTests {
    private func pong(_ draining: Bool) -> Message { .pong(.make { $0.draining = draining }) }

    @Test func itGivesBackWhatHasNotBegunFinishesWhatRunsAndEnds() {
        var rig = Rig.serving()
        for token in 1...3 as ClosedRange<UInt64> { _ = rig.offer(token) }
        #expect(rig.hear(pong(true)) == ["return [3]", "ready 0"])
        #expect(rig.hear(pong(true)) == ["ready 0"])
        #expect(rig.offer(4) == ["return [4]"])
        #expect(rig.finish(1) == ["commit 1", "ready 0"])
        let digest = Rig.digest
        func ack(_ token: UInt64) -> Message { .ack(.make { ($0.token, $0.digest) = (token, digest) }) }
        #expect(rig.hear(ack(1)) == ["ready 0"])
        #expect(rig.finish(2) == ["commit 2", "ready 0"], "A result that is not acknowledged is not left behind.")
        #expect(rig.hear(ack(2)) == ["bye", "end drained"])
    }

    @Test func withoutWorkItLeavesAtOnce() {
        var rig = Rig.serving()
        #expect(rig.hear(pong(true)) == ["bye", "end drained"])
    }

    @Test func itStaysWhenTheCoordinatorTakesItBack() {
        var rig = Rig.serving()
        for token in 1...3 as ClosedRange<UInt64> { _ = rig.offer(token) }
        _ = rig.hear(pong(true))
        #expect(rig.hear(pong(false)) == ["ready 1"])
        #expect(rig.offer(5) == [])
        #expect(rig.finish(1) == ["commit 1", "run 5", "ready 1"])
    }

    @Test func aCoordinatorThatWasStartedSinceDoesNotTakeItBackByNotKnowing() {
        var rig = Rig.serving()
        _ = rig.offer(1)
        _ = rig.hear(pong(true))
        _ = rig.hear(.unknownSession(PBUnknownSession()))
        _ = rig.hear(.welcome(.make { $0.adopted = [1] }))
        #expect(rig.hear(pong(false)) == ["ready 0"])
        _ = rig.hear(pong(true))
        #expect(rig.hear(pong(false)) == ["ready 2"])
    }
}
