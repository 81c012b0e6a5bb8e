import Testing

@testable import Gateway

/// Held requests, event by event; GatewaySimulationTests has their worlds.
struct HeldExtractsTests {
    private static let client = RateBuckets.Client.token("one")

    @Test func oneRequestIsHeldAndServed() {
        var held = HeldExtracts()
        #expect(held.handle(.asked(1, "m1", Self.client, isRanged: false), now: 0) == [.submit("m1")])
        #expect(held.handle(.submitted("m1", job: 7), now: 1) == [] && held.jobs == ["m1": 7])
        #expect(held.handle(.tick, now: 14) == [])
        #expect(held.handle(.tick, now: 15) == [.sendByte(1)] && held.handle(.tick, now: 16) == [])
        #expect(held.handle(.asked(2, "m1", Self.client, isRanged: false), now: 20) == [])
        #expect(held.handle(.tick, now: 30) == [.sendByte(1)])
        #expect(
            held.handle(.published("m1"), now: 31) == [.serve(1, skipping: 2), .serve(2, skipping: 0)])
        #expect(held.heldCount == 0 && held.jobs.isEmpty && held.handle(.tick, now: 500) == [])
    }

    @Test func aFailureIsAStatusOrACut() {
        var held = HeldExtracts()
        _ = held.handle(.asked(1, "m1", Self.client, isRanged: false), now: 0)
        _ = held.handle(.tick, now: 15)
        _ = held.handle(.asked(2, "m1", Self.client, isRanged: false), now: 16)
        #expect(held.handle(.failed("m1", reason: "x"), now: 17) == [.cut(1), .refuse(2, .failed("x"))])
        #expect(held.handle(.asked(3, "m1", Self.client, isRanged: true), now: 18) == [.submit("m1")])
        #expect(held.handle(.notSubmitted("m1", .away), now: 19) == [.refuse(3, .away)])
    }
}
