import Testing

@testable import ZeroMQ

struct IngressGuardTests {
    private static let frame: Int64 = 256 << 10
    private static let limit = IngressGuard.Limit(frame: frame, queue: 32 * frame, isPlain: true)
    private let start = ContinuousClock.now

    private func one() -> IngressGuard {
        var ingress = IngressGuard([Self.limit])
        ingress.accepted(5, endpoint: 0, inode: 1, memory: 50 << 20, at: start)
        return ingress
    }

    private func judged(
        _ ingress: inout IngressGuard, received: Int64, waiting: Int64 = 0, isDrained: Bool = true,
        memory: Int64 = 50 << 20
    ) -> [Int64] {
        ingress.sampleConnections { _, _ in IngressGuard.Sample(received: received, waiting: waiting) }
        return ingress.offenders(at: 0, isDrained: isDrained, memory: memory).map(\.held)
    }

    @Test func oneUnfinishedFrameIsHonestAndWhatWaitsInTheKernelCostsNothing() {
        var ingress = one()
        #expect(judged(&ingress, received: Self.frame + IngressGuard.slack).isEmpty)
        #expect(judged(&ingress, received: 20 << 20, waiting: 20 << 20).isEmpty)
    }

    @Test func moreThanAFrameUnfinishedIsAnOffence() {
        var ingress = one()
        let held = Self.frame + IngressGuard.slack + 1
        #expect(judged(&ingress, received: held) == [held])
    }

    @Test func whileNobodyReadsAQueueOfWholeMessagesIsHonest() {
        var ingress = one()
        let most = Self.limit.queue + Self.frame + IngressGuard.slack
        #expect(judged(&ingress, received: most, isDrained: false).isEmpty)
        #expect(judged(&ingress, received: most + 1, isDrained: false) == [most + 1])
    }

    @Test func aLookIsJudgedOnceItsMessagesAreRead() {
        var ingress = one()
        ingress.sampleConnections { _, _ in IngressGuard.Sample(received: 1 << 20, waiting: 0) }
        #expect(ingress.offenders(at: 0, isDrained: false, memory: 0).isEmpty)
        for _ in 0..<4 {
            ingress.delivered(5, bytes: 256 << 10, parts: 1, route: [0, 1], key: nil, memory: 0, at: start)
        }
        #expect(ingress.offenders(at: 0, isDrained: true, memory: 0).isEmpty)
    }

    @Test func aYearOfSmallMessagesAndHeartbeatsNeverAddsUp() {
        var ingress = one()
        var received: Int64 = 900  // the handshake
        var now = start
        for _ in 0..<100_000 {
            now += .seconds(5)
            received += 80 + 42 + 90  // a report, its framing under CURVE, two heartbeats
            ingress.delivered(5, bytes: 85, parts: 2, route: [0, 1], key: nil, memory: 0, at: now)
        }
        #expect(judged(&ingress, received: received).isEmpty)
        // Nor has it saved up anything.
        let held = Self.frame + IngressGuard.slack + 1
        #expect(judged(&ingress, received: received + held) == [held])
    }

    @Test func emptyPartsAreNoticedByTheMemoryTheyCost() {
        var ingress = one()
        #expect(judged(&ingress, received: 200 << 10, memory: 60 << 20).isEmpty)
        #expect(judged(&ingress, received: 250 << 10, memory: 76 << 20).isEmpty)
        #expect(judged(&ingress, received: 260 << 10, memory: 80 << 20) == [260 << 10])
    }

    @Test func memoryGainedBeforeTheLastWholeMessageDoesNotCount() {
        var ingress = one()
        ingress.delivered(5, bytes: 100, parts: 1, route: [0, 1], key: nil, memory: 90 << 20, at: start)
        #expect(judged(&ingress, received: 250 << 10, memory: 91 << 20).isEmpty)
    }

    @Test func memoryThatOthersNeedIsNotTheFaultOfAPeerWithoutUnfinishedBytes() {
        var ingress = one()
        #expect(judged(&ingress, received: 10_000, memory: 500 << 20).isEmpty)
    }

    @Test func aNewConnectionWithTheNumberOfAnOldOneStartsAnew() {
        var ingress = one()
        ingress.delivered(5, bytes: 1 << 30, parts: 1, route: [0, 1], key: "k", memory: 0, at: start)
        #expect(ingress.descriptor(endpoint: 0, route: [0, 1]) == 5)
        ingress.accepted(5, endpoint: 0, inode: 2, memory: 0, at: start)
        #expect(ingress.descriptor(endpoint: 0, route: [0, 1]) == nil)
        #expect(ingress.connections[5]?.key == nil)
        #expect(!judged(&ingress, received: 1 << 20).isEmpty)
    }

    @Test func theThirdMultipartMessageWithinAMinuteIsOneTooMany() {
        var ingress = one()
        let verdicts = [0, 30, 61, 62].map { ingress.strike(5, at: start + .seconds($0)) }
        #expect(verdicts == [false, false, false, true])
    }
}
