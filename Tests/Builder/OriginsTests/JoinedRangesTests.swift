import Testing

@testable import Origins

struct JoinedRangesTests {
    private func parts(_ wanted: [Range<UInt64>], _ overfetch: Double = 0.05, most: UInt64 = 1_000) -> [Range<UInt64>] {
        JoinedRanges.parts(wanted, overfetch: overfetch, most: most).map(\.range)
    }

    @Test func neighboursAreOneRequestAndSmallGapsAreFetchedAlong() {
        #expect(parts([]).isEmpty)
        #expect(parts([0..<10, 10..<20], 0) == [0..<20])
        #expect(parts([0..<100, 104..<204], 0.02) == [0..<204])
        #expect(parts([0..<100, 105..<205], 0.02) == [0..<100, 105..<205])
    }

    @Test func theSmallestGapsComeFirst() {
        // 300 bytes wanted: 6 of gaps are allowed.
        #expect(parts([0..<100, 106..<206, 208..<308], 0.02) == [0..<100, 106..<308])
    }

    @Test func noPartIsLongerThanAllowedUnlessOneRangeIs() {
        #expect(parts([0..<600, 600..<900, 900..<1_100], 0) == [0..<900, 900..<1_100])
        #expect(parts([0..<5_000, 5_000..<5_001], 0) == [0..<5_000, 5_000..<5_001])
    }

    @Test func everyRangeLiesInOnePartAndTheGapsInTheirBound() {
        var state: UInt64 = 3
        func random(_ bound: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % bound
        }
        for _ in 0..<200 {
            var at: UInt64 = random(100)
            let wanted = (0..<(1 + random(60))).map { _ in
                let range = at..<at + 1 + random(80)
                at = range.upperBound + (random(3) == 0 ? 0 : random(30))
                return range
            }
            let parts = JoinedRanges.parts(wanted, overfetch: 0.1, most: 300)
            #expect(parts.flatMap { Array($0.pieces) } == Array(wanted.indices))
            for part in parts {
                #expect(part.range.lowerBound == wanted[part.pieces.lowerBound].lowerBound)
                #expect(part.range.upperBound == wanted[part.pieces.upperBound - 1].upperBound)
                #expect(part.range.count <= 300 || part.pieces.count == 1)
            }
            let needed = wanted.reduce(0) { $0 + $1.count }
            let fetched = parts.reduce(0) { $0 + $1.range.count }
            #expect(Double(fetched) <= Double(needed) * 1.1)
        }
    }
}
