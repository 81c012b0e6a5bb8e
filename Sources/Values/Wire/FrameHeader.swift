/// The 48 bytes before every message body, little-endian.
///
///      0  4  magic "PKH1"            16  8  session
///      4  1  wire major              24  8  seq
///      5  1  wire minor              32  8  re
///      6  1  message type            40  4  epoch
///      7  1  flags (0)               44  4  CRC-32C of bytes 0..<44 and the body
///      8  4  body length             48  …  body
///     12  4  payload length (0)
///
/// Source of the layout: Packhorse's own protocol PHP/1. The fixed header is similar to that of Flux RFC 3.
public struct FrameHeader: Hashable, Sendable {
    /// Size of a header.
    ///
    /// Unit: bytes.
    public static let byteCount = 48

    static let magic: [UInt8] = Array("PKH1".utf8)

    /// Wire minor version of the sender.
    public var minor: UInt8
    /// The raw message type.
    ///
    /// It may be unknown to this build.
    public var type: UInt8
    /// Length of the body.
    ///
    /// Unit: bytes.
    public var bodyLength: UInt32
    /// Random number of the sending process, never 0.
    ///
    /// An answer has the number of the process that asked.
    public var session: UInt64
    /// Counts the frames of a sender from 1.
    ///
    /// Gaps are logged and not fatal.
    public var seq: UInt64
    /// The `seq` of the frame that this one answers, else 0.
    public var re: UInt64
    /// The coordinator's epoch, 0 while the sender does not know it.
    public var epoch: UInt32

    /// Reads and checks the header of `frame`.
    ///
    /// The body must fill the rest of the frame exactly.
    ///
    /// The checksum is compared by ``Frame``, after all checks made here.
    ///
    /// - Throws: ``WireError`` `bad-length`, `bad-magic`, `version-mismatch`, `unsupported` or `bad-value`.
    init(decoding frame: [UInt8]) throws(WireError) {
        guard frame.count >= Self.byteCount else {
            throw WireError(.badLength, "The frame has \(frame.count) bytes; a header alone has \(Self.byteCount).")
        }
        guard frame[0..<4].elementsEqual(Self.magic) else {
            throw WireError(.badMagic, "The frame does not begin with 'PKH1'; the peer is not a Packhorse process.")
        }
        guard frame[4] == WireVersion.major else {
            throw WireError(
                .versionMismatch,
                "The peer uses wire version \(frame[4]).\(frame[5]); this build uses \(WireVersion.description)."
                    + " Upgrade the older of the two.")
        }
        minor = frame[5]
        type = frame[6]
        bodyLength = Self.integer(frame, 8)
        session = Self.integer(frame, 16)
        seq = Self.integer(frame, 24)
        re = Self.integer(frame, 32)
        epoch = Self.integer(frame, 40)
        let payloadLength: UInt32 = Self.integer(frame, 12)
        guard frame[7] == 0, payloadLength == 0 else {
            throw WireError(
                .unsupported,
                "The frame has flags \(frame[7]) and a payload of \(payloadLength) bytes; this build supports neither.",
                header: self)
        }
        guard Int(bodyLength) == frame.count - Self.byteCount else {
            throw WireError(
                .badLength,
                "The header announces a body of \(bodyLength) bytes; the frame has \(frame.count - Self.byteCount).",
                header: self)
        }
        guard session != 0 else { throw WireError(.badValue, "The frame's session is 0; it must be random.") }
    }

    init(minor: UInt8, type: UInt8, bodyLength: UInt32, session: UInt64, seq: UInt64, re: UInt64, epoch: UInt32) {
        self.minor = minor
        self.type = type
        self.bodyLength = bodyLength
        self.session = session
        self.seq = seq
        self.re = re
        self.epoch = epoch
    }

    /// A frame of any type and body that fits a header, for fuzzing.
    package static func framed(type: UInt8, body: [UInt8]) -> [UInt8] {
        let header = FrameHeader(
            minor: WireVersion.minors.upperBound, type: type, bodyLength: UInt32(truncatingIfNeeded: body.count),
            session: 1, seq: 1, re: 0, epoch: 1)
        return header.encoded(before: body) + body
    }

    /// The header's bytes with the checksum over header and `body`.
    func encoded(before body: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount + body.count)
        bytes += Self.magic
        bytes += [WireVersion.major, minor, type, 0]
        Self.append(bodyLength, to: &bytes)
        Self.append(UInt32(0), to: &bytes)
        Self.append(session, to: &bytes)
        Self.append(seq, to: &bytes)
        Self.append(re, to: &bytes)
        Self.append(epoch, to: &bytes)
        var sum = CRC32C()
        sum.update(bytes[...])
        sum.update(body[...])
        Self.append(sum.value, to: &bytes)
        return bytes
    }

    /// The checksum in a frame, and the expected one.
    ///
    /// `frame` must contain at least a header.
    static func checksums(of frame: [UInt8]) -> (found: UInt32, expected: UInt32) {
        var sum = CRC32C()
        sum.update(frame[0..<44])
        sum.update(frame[byteCount...])
        return (integer(frame, 44), sum.value)
    }

    /// `offset` and the integer's width are within the 48 bytes that were checked first.
    private static func integer<T: FixedWidthInteger & UnsignedInteger>(_ bytes: [UInt8], _ offset: Int) -> T {
        var value: T = 0
        for at in stride(from: offset + T.bitWidth / 8 - 1, through: offset, by: -1) {
            value = value << 8 | T(bytes[at])
        }
        return value
    }

    private static func append<T: FixedWidthInteger>(_ value: T, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
    }
}
