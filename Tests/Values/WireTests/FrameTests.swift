import Errors
import Foundation
import Testing

@testable import Wire

struct FrameTests {
    @Test(arguments: Samples.messages)
    func everyMessageRoundTrips(message: Message) throws {
        let frame = Samples.frame(message)
        let bytes = try frame.encoded()
        #expect(try Frame(decoding: bytes) == frame)
        #expect(try Frame(decoding: bytes).encoded() == bytes)
    }

    @Test func thereIsASampleOfEveryType() {
        #expect(Set(Samples.messages.map(\.type)) == Set(MessageType.allCases))
    }

    /// The vectors were computed from the layout in docs/formats/wire.md by an independent program (Python, bitwise CRC).
    @Test func theGoldenVectorsHold() throws {
        let ready = Frame(
            session: 0x0123_4567_89AB_CDEF, seq: 42, re: 41, epoch: 3, minor: 0, .ready(.make { $0.credit = 5 }))
        #expect(
            try ready.encoded().hex
                == "504b4831010002000200000000000000efcdab89674523012a00000000000000290000000000000003000000"
                + "3e1c04720805")
        let unknown = Frame(session: 1, seq: 1, minor: 0, .unknownSession(PBUnknownSession()))
        #expect(
            try unknown.encoded().hex
                == "504b483101002700000000000000000001000000000000000100000000000000000000000000000000000000"
                + "c4357f12")
        var ack = Samples.frame(.ack(.make { ($0.token, $0.digest) = (1 << 32 | 8, Samples.digest(1)) }))
        ack.minor = 0
        #expect(
            try ack.encoded().hex
                == "504b4831010025002800000000000000efcdab89674523012a00000000000000290000000000000003000000"
                + "f16c94d208888080801012200102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20")
    }

    @Test func everyTruncationAndEveryFlippedBitIsRefused() throws {
        let bytes = try Samples.frame(Samples.messages[3]).encoded()
        for length in 0..<bytes.count {
            #expect(throws: WireError.self) { try Frame(decoding: Array(bytes[..<length])) }
        }
        for bit in 0..<(bytes.count * 8) {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: WireError.self) { try Frame(decoding: flipped) }
        }
    }

    @Test func aFrameIsRefusedWithTheCodeOfItsFault() throws {
        let bytes = try Samples.frame(.ready(.make { $0.credit = 5 })).encoded()
        #expect(code(of: []) == .badLength)
        #expect(code(of: bytes + [0]) == .badLength)
        #expect(code(of: changed(bytes, 0, to: 0x51)) == .badMagic)
        #expect(code(of: changed(bytes, 4, to: 2)) == .versionMismatch)
        #expect(code(of: changed(bytes, 7, to: 1)) == .unsupported)
        #expect(code(of: changed(bytes, 12, to: 1)) == .unsupported)
        #expect(code(of: changed(bytes, 6, to: 0xEE)) == .unsupported)
        #expect(code(of: changed(bytes, 44, to: bytes[44] ^ 1, resum: false)) == .badChecksum)
        var zero = bytes
        zero.replaceSubrange(16..<24, with: [UInt8](repeating: 0, count: 8))
        #expect(code(of: resummed(zero)) == .badValue)
        #expect(code(of: changed(bytes, 48, to: 0x0F)) == .badBody)
    }

    @Test func aRefusedBodyCarriesItsHeaderSoThatItCanBeAnswered() throws {
        let bytes = changed(try Samples.frame(.ping(PBPing())).encoded(), 6, to: 0xEE)
        let error = #expect(throws: WireError.self) { try Frame(decoding: bytes) }
        #expect(error?.header?.seq == 42)
        #expect(error?.header?.session == 0x0123_4567_89AB_CDEF)
    }

    @Test func aNewerMinorVersionsExtraFieldsAreSkipped() throws {
        var bytes = try Samples.frame(.ready(.make { $0.credit = 5 })).encoded()
        bytes[5] = 9
        bytes += [0xFA, 0x01, 0x03, 1, 2, 3]
        bytes[8] += 6
        let frame = try Frame(decoding: resummed(bytes))
        #expect(frame.message == .ready(.make { $0.credit = 5 }))
        #expect(frame.minor == 9)
    }

    @Test func aBodyBeyondTheBoundOfItsTypeIsRefusedBeforeItIsDecoded() throws {
        let big = Frame(session: 1, seq: 1, .bye(.make { $0.reason = String(repeating: "x", count: 20_000) }))
        #expect(throws: WireError.self) { try big.encoded() }
        let body = [UInt8](repeating: 0, count: 2000)
        let header = FrameHeader(
            minor: 0, type: MessageType.ready.rawValue, bodyLength: 2000, session: 1, seq: 1, re: 0, epoch: 0)
        #expect(code(of: header.encoded(before: body) + body) == .tooLarge)
    }

    @Test func aListBeyondItsBoundIsRefusedBeforeItIsDecoded() throws {
        let body = [UInt8](repeatElement([0x62, 0x00], count: 1025).joined())  // Hello.held, 1,025 empty entries
        let header = FrameHeader(
            minor: 0, type: MessageType.hello.rawValue, bodyLength: UInt32(body.count), session: 1, seq: 1, re: 0,
            epoch: 0)
        #expect(code(of: header.encoded(before: body) + body) == .tooMany)
    }

    @Test func aListBeyondItsBoundIsNotSent() {
        let labels = (0..<33).map { "label-\($0)" }
        let error = #expect(throws: WireError.self) {
            try Frame(session: 1, seq: 1, .submit(.make { $0.labels = labels })).encoded()
        }
        #expect(error?.message == "The submit message has 33 entries in labels; the limit is 32.")
    }

    @Test func valuesOutOfRangeAreRefused() throws {
        #expect(code(of: .commit(PBCommit())) == .badValue)
        #expect(code(of: .offer(PBOffer())) == .badValue)
        #expect(code(of: .ack(.make { $0.digest = Data([1]) })) == .badValue)
        #expect(code(of: .ready(.make { $0.credit = .max })) == .tooMany)
        #expect(code(of: .submit(.make { $0.zoomMax = 23 })) == .badValue)
        #expect(code(of: .submit(.make { $0.allowedMissing = .nan })) == .badValue)
        #expect(code(of: .submit(.make { $0.tileset = Data(repeating: 32, count: (128 << 10) + 1) })) == .tooLarge)
        let outside = PBTileFailure.make { $0.tile = Samples.tile(1, 2, 0) }
        #expect(code(of: .jobStatus(.make { $0.failures = [outside] })) == .badValue)
        var commit = PBFetchResult()
        commit.shard = Samples.digest(0)
        commit.stored = .max
        commit.empty = 1
        #expect(code(of: .commit(.make { $0.fetch = commit })) == .badValue)
    }

    private func code(of bytes: [UInt8]) -> WireError.Code? {
        do {
            _ = try Frame(decoding: bytes)
            return nil
        } catch {
            return error.code
        }
    }

    /// The code with which the decoder refuses a frame that the encoder would have made.
    private func code(of message: Message) -> WireError.Code? {
        do {
            return code(of: try Frame(session: 1, seq: 1, message).encoded())
        } catch {
            Issue.record("not encodable: \(error)")
            return nil
        }
    }

    private func changed(_ bytes: [UInt8], _ at: Int, to value: UInt8, resum: Bool = true) -> [UInt8] {
        var bytes = bytes
        bytes[at] = value
        return resum ? resummed(bytes) : bytes
    }
}

/// The frame with the checksum its other bytes ask for.
func resummed(_ frame: [UInt8]) -> [UInt8] {
    guard frame.count >= FrameHeader.byteCount else { return frame }
    let sum = FrameHeader.checksums(of: frame).expected
    return frame[..<44] + withUnsafeBytes(of: sum.littleEndian) { Array($0) } + frame[48...]
}
