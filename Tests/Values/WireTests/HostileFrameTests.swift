import Errors
import Testing

@testable import Wire

struct HostileFrameTests {
    /// Half of the mutants get a fitting length and checksum, so that the body decoder sees them too.
    @Test func aHundredThousandMutationsNeverTrap() throws {
        let seeds = try Samples.messages.map { try Samples.frame($0).encoded() }
        var random = SeededGenerator(state: 20_240_229)
        var accepted = 0
        var codes: Set<WireError.Code> = []
        for round in 0..<100_000 {
            var bytes = seeds[round % seeds.count]
            for _ in 0...Int.random(in: 0..<4, using: &random) { mutate(&bytes, seeds, &random) }
            if Bool.random(using: &random), bytes.count >= FrameHeader.byteCount {
                let length = UInt32(bytes.count - FrameHeader.byteCount)
                withUnsafeBytes(of: length.littleEndian) { bytes.replaceSubrange(8..<12, with: $0) }
                bytes = resummed(bytes)
            }
            do {
                let frame = try Frame(decoding: bytes)
                accepted += 1
                #expect(try Frame(decoding: frame.encoded()) == frame)
            } catch {
                codes.insert(error.code)
            }
        }
        #expect(accepted > 1000, "The mutants must reach behind the checksum.")
        #expect(codes.count == 9, "The mutants must reach every refusal: \(codes)")
    }

    @Test func deepNestingIsRefused() throws {
        // 500 times "start of group 31", an unknown field: groups are the one thing that nests without a length.
        let body: [UInt8] = (0..<500).flatMap { _ in [0xFB as UInt8, 0x01] }
        let header = FrameHeader(
            minor: 0, type: MessageType.fail.rawValue, bodyLength: UInt32(body.count), session: 1, seq: 1, re: 0,
            epoch: 0)
        let error = #expect(throws: WireError.self) { try Frame(decoding: header.encoded(before: body) + body) }
        #expect(error?.code == .badBody)
    }

    private func mutate(_ bytes: inout [UInt8], _ seeds: [[UInt8]], _ random: inout SeededGenerator) {
        guard !bytes.isEmpty else { return }
        let at = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<7, using: &random) {
        case 0: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes[at] = UInt8.random(in: 0...255, using: &random)
        case 2: bytes[at] = [0x00, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
        case 3: bytes.removeSubrange(at...)
        case 4: bytes.insert(contentsOf: bytes[at...].prefix(40), at: at)
        case 5:
            let other = seeds.randomElement(using: &random) ?? bytes
            bytes.replaceSubrange(at..., with: other.suffix(from: min(at, other.count)))
        default:
            let body = min(at, FrameHeader.byteCount)
            bytes.insert(
                contentsOf: repeatElement(bytes[at], count: Int.random(in: 1...2000, using: &random)),
                at: bytes.count - (bytes.count > body ? 1 : 0))
        }
    }
}
