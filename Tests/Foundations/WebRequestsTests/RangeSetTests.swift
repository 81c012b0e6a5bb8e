import Testing

@testable import WebRequests

struct RangeSetTests {
    /// Header, size, expectation.
    private static let cases: [(String?, UInt64, RangeSet)] = [
        (nil, 10, .whole),
        ("bytes=0-4", 10, .one(0..<5)),
        ("BYTES=0-4", 10, .one(0..<5)),
        ("bytes=0-", 10, .one(0..<10)),
        ("bytes=9-", 10, .one(9..<10)),
        ("bytes=-5", 10, .one(5..<10)),
        ("bytes=-50", 10, .one(0..<10)),
        ("bytes=-0", 10, .unsatisfiable),
        ("bytes=10-", 10, .unsatisfiable),
        ("bytes=10-20", 10, .unsatisfiable),
        ("bytes=4-400", 10, .one(4..<10)),
        ("bytes=99999999999999999999999-", 10, .unsatisfiable),
        ("bytes=0-99999999999999999999999", 10, .one(0..<10)),
        ("bytes=0-18446744073709551615", 10, .one(0..<10)),
        ("bytes=-99999999999999999999999", 10, .one(0..<10)),
        ("bytes=0-0", 0, .unsatisfiable),
        ("bytes=-1", 0, .unsatisfiable),
        ("bytes=5-4", 10, .whole),
        ("bytes=", 10, .whole),
        ("bytes=-", 10, .whole),
        ("bytes=a-b", 10, .whole),
        ("bytes=1-2-3", 10, .whole),
        ("bytes=1 - 2", 10, .whole),
        ("bytes=+1-2", 10, .whole),
        ("bytes 0-4", 10, .whole),
        ("items=0-4", 10, .whole),
        ("bytes=0-1,3-4", 10, .several([0..<2, 3..<5])),
        ("bytes=0-1, 3-4 ,\t6-", 10, .several([0..<2, 3..<5, 6..<10])),
        ("bytes=,0-1,,3-4,", 10, .several([0..<2, 3..<5])),
        ("bytes=0-1,2-3", 10, .several([0..<2, 2..<4])),
        ("bytes=0-1,20-30", 10, .one(0..<2)),
        ("bytes=20-30,40-", 10, .unsatisfiable),
        ("bytes=0-4,2-6", 10, .whole),
        ("bytes=5-6,0-1", 10, .whole),
        ("bytes=0-1,-2", 10, .several([0..<2, 8..<10])),
        ("bytes=0-1,x", 10, .whole),
    ]

    @Test(arguments: cases.indices) func aHeaderSelects(_ index: Int) {
        let (header, size, expected) = Self.cases[index]
        #expect(RangeSet(header, size: size) == expected, "\(header ?? "none") of \(size)")
    }

    @Test func aHundredRangesAreTheMost() {
        func header(_ count: Int) -> String {
            "bytes=" + (0..<count).map { "\($0 * 2)-\($0 * 2)" }.joined(separator: ",")
        }
        guard case .several(let parts) = RangeSet(header(100), size: 1_000) else {
            Issue.record("100 ranges were not taken")
            return
        }
        #expect(parts.count == 100)
        #expect(RangeSet(header(101), size: 1_000) == .whole)
    }
}
