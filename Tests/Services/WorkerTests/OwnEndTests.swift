import TestSupport
import Testing
import Wire
import ZeroMQ

@testable import Worker

extension Rig {
    /// Lets time pass while the coordinator answers.
    fileprivate mutating func listen(_ time: Int64) -> [String] {
        var log: [String] = []
        for _ in 0..<(time / 1_000) {
            log += hear(.pong(PBPong()))
            log += pass(1_000)
        }
        return log
    }
}

/// A worker that ends without a request: when there is no work, and before its time limit.
struct OwnEndTests {
    @Test func withoutWorkItEndsAfterItsPatience() {
        var rig = Rig.serving { $0.untilIdle = 20_000 }
        #expect(!rig.listen(19_000).contains("end idle"))
        #expect(rig.listen(2_000).suffix(2) == ["bye", "end idle"])
    }

    @Test func workResetsThePatienceEvenIfItEndsBetweenTwoTicks() {
        var rig = Rig.serving { $0.untilIdle = 20_000 }
        let digest = Rig.digest
        _ = rig.listen(14_000)
        _ = rig.offer(1)
        _ = rig.finish(1)
        #expect(!rig.listen(30_000).contains("end idle"), "a result that is not acknowledged is work")
        _ = rig.hear(.ack(.make { ($0.token, $0.digest) = (1, digest) }))
        #expect(!rig.listen(19_000).contains("end idle"))
        #expect(rig.listen(2_000).contains("end idle"))
    }

    @Test func timeWithoutACoordinatorIsNotIdle() {
        var rig = Rig.serving { ($0.untilIdle, $0.orphaned) = (20_000, 60_000) }
        let log = rig.pass(59_000)
        #expect(log.contains("reconnect") && !log.contains("end idle"))
        #expect(rig.pass(2_000).last == "end orphaned")
    }

    @Test func withoutAPatienceItWaits() {
        var rig = Rig.serving()
        #expect(!rig.listen(4_000_000).contains { $0.hasPrefix("end") })
    }

    /// A limit of ten minutes: no work from 558 s on, everything back at 588 s.
    @Test func beforeItsTimeLimitItTakesNoWorkFinishesWhatItCanAndReturnsTheRest() {
        var rig = Rig.serving { $0.timeLimit = 600_000 }
        rig.now = 550_000
        for token in 1...3 as ClosedRange<UInt64> { _ = rig.offer(token) }
        let log = rig.listen(9_000)
        #expect(log.contains("return [3]") && log.contains("ready 0"), "\(log)")
        #expect(rig.offer(4) == ["return [4]"])
        #expect(rig.hear(.pong(PBPong())) == ["ready 0"], "the coordinator, which did not ask, does not take it back")
        let digest = Rig.digest
        _ = rig.finish(1)
        _ = rig.hear(.ack(.make { ($0.token, $0.digest) = (1, digest) }))
        let end = rig.listen(30_000)
        #expect(end.contains("cancel 2") && end.contains("return [2]"), "\(end)")
        #expect(end.suffix(2) == ["bye", "end out of time"])
        #expect(rig.now <= 590_000)
    }

    @Test func withoutWorkItEndsWhenNoMoreIsTaken() {
        var rig = Rig.serving { $0.timeLimit = 600_000 }
        rig.now = 550_000
        #expect(rig.listen(9_000).suffix(2) == ["bye", "end out of time"])
    }

    /// The next work is expected to take as long as the longest.
    @Test func longWorkMakesItStopEarlier() {
        var rig = Rig.serving { $0.timeLimit = 3_600_000 }
        let digest = Rig.digest
        _ = rig.offer(1)
        rig.now += 400_000
        _ = rig.finish(1)
        _ = rig.hear(.ack(.make { ($0.token, $0.digest) = (1, digest) }))
        rig.now = 3_080_000
        #expect(!rig.listen(6_000).contains("end out of time"))
        #expect(rig.listen(5_000).last == "end out of time", "500 s and the reserve before the limit")
    }

    @Test func aShortLimitLeavesMostOfItForWork() {
        var rig = Rig.serving { $0.timeLimit = 60_000 }
        #expect(rig.listen(31_000).filter { $0.hasPrefix("end") }.isEmpty)
        #expect(rig.listen(3_000).last == "end out of time")
    }

    /// Real sockets: a fetch that does not end is given up when the limit is near, and the lease comes back.
    @Test(.timeLimit(.minutes(15)))
    func aRunningWorkerReturnsItsLeaseBeforeItsDeadline() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let coordinator = try FakeCoordinator()
        let origin = try ScriptedServer { _ in .trickle }
        defer { origin.stop() }
        // Under the load of all tests, twenty seconds can pass before the worker has its lease.
        let deadline = ContinuousClock.now + .seconds(60)
        let service = stable.service(coordinator.endpoint) { $0.deadline = deadline }
        let worker = Task { try await service.run() }
        let (peer, session, _) = try await coordinator.welcome()
        let token = coordinator.token(1)
        try await coordinator.say(.offer(try stable.offer(token, origin.url)), to: peer, about: session)
        let (given, _, _) = try await coordinator.expect { if case .return(let body) = $0 { body } else { nil } }
        #expect(given.tokens == [token])
        _ = try await coordinator.expect { message -> Bool? in if case .bye = message { true } else { nil } }
        try await worker.value
        #expect(ContinuousClock.now < deadline)
        await coordinator.link.close()
    }
}
