import Testing

@testable import Wire

struct CRC32CTests {
    /// Source of the vectors: RFC 3720, B.4, and the usual check value of "123456789".
    @Test(
        arguments: [
            ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
            ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
            (Array(0..<32), 0x46DD_794E),
            (Array("123456789".utf8), 0xE306_9283),
            ([], 0),
        ] as [([UInt8], UInt32)])
    func publishedVectorsHold(bytes: [UInt8], expected: UInt32) {
        #expect(CRC32C.of(bytes) == expected)
    }

    @Test func aSplitSumEqualsTheWhole() {
        let bytes = (0..<257).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        for split in 0...bytes.count {
            var sum = CRC32C()
            sum.update(bytes[..<split])
            sum.update(bytes[split...])
            #expect(sum.value == CRC32C.of(bytes))
        }
    }
}
