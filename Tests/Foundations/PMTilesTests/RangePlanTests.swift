import Testing

@testable import PMTiles

struct RangePlanTests {
    private static let plan = RangePlan(
        archive: .init(length: 100_000, etag: "\"a\"", lastModified: "", head: [1, 2, 3]),
        runs: [
            .init(tile: 40, count: 3, length: 10, offset: 1_000),
            .init(tile: 20, count: 1, length: 10, offset: 1_000),
            .init(tile: 43, count: 2, length: 500, offset: 1_010),
            .init(tile: 45, count: 1, length: 7, offset: 9_000),
            .init(tile: 1, count: 4, length: 0, offset: 0),
        ], requests: [1_000..<1_510, 9_000..<9_007])

    @Test func aPlanIsReadAsItWasWritten() throws {
        let bytes = Self.plan.encoded
        let read = try #require(RangePlan(bytes))
        #expect(read == Self.plan && read.encoded == bytes && read.tiles == 11)
    }

    @Test func positionsAreThoseOfTheTiles() throws {
        let runs = try #require(Self.plan.runs(at: 2..<8))
        #expect(runs.map(\.tile) == [42, 20, 43, 45, 1] && runs.map(\.count) == [1, 1, 2, 1, 1])
        #expect(Self.plan.runs(at: 0..<11)?.count == 5)
        #expect(Self.plan.runs(at: 0..<12) == nil && Self.plan.runs(at: 20..<21) == nil)
    }

    @Test func damagedBytesAreRefusedOrAnotherPlan() {
        let bytes = Self.plan.encoded
        for end in bytes.indices { #expect(RangePlan(Array(bytes[..<end])) == nil) }
        #expect(RangePlan(bytes + [0]) == nil)
        for index in bytes.indices {
            for value in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
                var changed = bytes
                changed[index] = value
                if let plan = RangePlan(changed) {
                    #expect(plan.encoded == changed)
                    #expect(plan.runs(at: 0..<plan.tiles) != nil)
                }
            }
        }
    }

    @Test func theLargestPlanThatIsMadeCanBeRead() throws {
        // As many tiles as one plan is made for, each with a body of its own, and each in a request of its own.
        let count: UInt64 = 500_000
        let runs = (0..<count).map {
            RangePlan.Run(tile: (1 << 40) + $0 * 7 % count * 3, count: 1, length: 4 << 20, offset: $0 << 23)
        }
        let plan = RangePlan(
            archive: .init(length: 1 << 62, etag: "", lastModified: "", head: [UInt8](repeating: 7, count: 16_384)),
            runs: runs, requests: runs.compactMap(\.place))
        let bytes = plan.encoded
        #expect(bytes.count < RangePlan.largest / 2)
        #expect(RangePlan(bytes) == plan)
    }
}
