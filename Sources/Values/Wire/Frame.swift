/// A message with its header: the content of one ZeroMQ frame.
public struct Frame: Hashable, Sendable {
    /// Random number of the process that started the conversation, never 0.
    ///
    /// An answer has the number of the process that asked.
    public var session: UInt64
    /// Counts the frames of a sender from 1.
    public var seq: UInt64
    /// The `seq` of the frame that this one answers, else 0.
    public var re: UInt64
    /// The coordinator's epoch, 0 while unknown.
    public var epoch: UInt32
    /// Wire minor version of the sender.
    public var minor: UInt8
    /// The message.
    public var message: Message

    /// A frame of this build's newest minor version, unless `minor` says otherwise.
    public init(
        session: UInt64, seq: UInt64, re: UInt64 = 0, epoch: UInt32 = 0, minor: UInt8 = WireVersion.minors.upperBound,
        _ message: Message
    ) {
        self.session = session
        self.seq = seq
        self.re = re
        self.epoch = epoch
        self.minor = minor
        self.message = message
    }

    /// The frame's bytes.
    ///
    /// Equal frames give equal bytes.
    ///
    /// - Throws: ``WireError`` `bad-value` when the session is 0, `too-large` or `bad-body` when the message cannot be
    ///   sent. The receiver would refuse the same frames.
    public func encoded() throws(WireError) -> [UInt8] {
        guard session != 0 else { throw WireError(.badValue, "The frame's session is 0; it must be random.") }
        let body = try message.encodedBody()
        guard let length = UInt32(exactly: body.count) else {
            throw WireError(.tooLarge, "The \(message.type) message has \(body.count) bytes.")
        }
        let header = FrameHeader(
            minor: minor, type: message.type.rawValue, bodyLength: length, session: session, seq: seq, re: re,
            epoch: epoch)
        return header.encoded(before: body) + body
    }

    /// Decodes exactly one frame.
    ///
    /// Never traps, whatever the bytes.
    ///
    /// Checked in this order: length, magic, version, checksum, type, size, list lengths, body, values. Memory is
    /// bounded by the type's limits before the body is decoded.
    ///
    /// - Throws: ``WireError``, with the header if the frame can be answered.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        let header = try FrameHeader(decoding: bytes)
        let sums = FrameHeader.checksums(of: bytes)
        guard sums.found == sums.expected else {
            throw WireError(
                .badChecksum,
                "The frame's CRC-32C is \(String(sums.found, radix: 16)); its bytes give"
                    + " \(String(sums.expected, radix: 16)).")
        }
        guard let type = MessageType(rawValue: header.type) else {
            throw WireError(
                .unsupported, "Message type \(header.type) of wire minor \(header.minor) is unknown to this build.",
                header: header)
        }
        do {
            message = try Message(type, decoding: Array(bytes[FrameHeader.byteCount...]))
        } catch {
            throw error.of(header)
        }
        session = header.session
        seq = header.seq
        re = header.re
        epoch = header.epoch
        minor = header.minor
    }
}
