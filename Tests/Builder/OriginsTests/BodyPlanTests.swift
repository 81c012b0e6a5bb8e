import Testing

@testable import Origins

struct BodyPlanTests {
    @Test func whatOneBatchSavesAnotherMayUse() {
        let plan = BodyPlan(overfetch: 0.1, most: 1_000_000)
        let apart: [Range<UInt64>] = [0..<100, 130..<230]
        #expect(plan.parts(apart).count == 2, "30 bytes are more than a tenth of 200")
        // 20 bytes saved before, 100 by a range without gaps.
        #expect(plan.parts([1_000..<2_000]).count == 1)
        #expect(plan.parts(apart).count == 1)
        for _ in 0..<3 { #expect(plan.parts(apart).count == 1) }
        var fetched = 0.0
        var wanted = 0.0
        for _ in 0..<100 {
            fetched += JoinedRanges.bytes(plan.parts(apart).map(\.range))
            wanted += JoinedRanges.bytes(apart)
        }
        #expect(fetched <= wanted * 1.1 + 150)
    }

    @Test func gapsThatTakeLongerThanARequestAreNeverFetched() {
        let plan = BodyPlan(overfetch: 1, most: 10_000_000)
        let far = JoinedRanges.longestGap
        #expect(plan.parts([0..<1_000_000, 1_000_000 + far..<2_000_000]).count == 1)
        #expect(plan.parts([0..<1_000_000, 1_000_001 + far..<2_000_000]).count == 2)
    }

    @Test func smallBodiesAreKeptTheOldestLeast() {
        let plan = BodyPlan(overfetch: 0, most: 1_000)
        func place(_ number: Int) -> Range<UInt64> { UInt64(number * 16_384)..<UInt64((number + 1) * 16_384) }
        let body = [UInt8](repeating: 1, count: 16_384)
        for number in 0..<2_000 {
            plan.cache(body, at: place(number))
            #expect(plan.body(at: place(0)) == body, "asked for all the time")
        }
        let kept = (0..<2_000).count { plan.body(at: place($0)) != nil }
        #expect(kept >= 256 && kept <= 512 && plan.body(at: place(1_999)) != nil)
        plan.cache([UInt8](repeating: 1, count: 16_385), at: 5..<16_390)
        #expect(plan.body(at: 5..<16_390) == nil, "too large to be worth it")
    }
}
