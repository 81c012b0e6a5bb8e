public import Errors
internal import Synchronization

/// How a dealer stands with its router.
public enum LinkState: Hashable, Sendable, CustomStringConvertible {
    /// No connection was made yet.
    case connecting
    /// The handshake succeeded; frames travel.
    case connected
    /// The connection broke; it is being made again.
    case disconnected
    /// The router refused us; tried again with growing pauses. The reason is a sentence for people.
    case refused(reason: String)
    /// ``DealerLink/close()`` was called.
    case closed

    /// One line for people.
    public var description: String {
        switch self {
        case .connecting: "connecting"
        case .connected: "connected"
        case .disconnected: "disconnected"
        case .refused(let reason): "refused: \(reason)"
        case .closed: "closed"
        }
    }
}

/// The asking end of a link: one DEALER socket on a thread of its own.
///
/// Connections are made again for ever. After a refused handshake, where libzmq gives up, the socket is rebuilt.
public final class DealerLink: Sendable {
    /// The endpoint this link connects to.
    public let endpoint: String
    private let channel: LinkChannel<[UInt8], DealerJob>
    private let status: LinkStatus
    private let patience: Duration
    private let maxFrameBytes: Int

    /// Starts to connect; does not wait for the connection.
    ///
    /// - Parameters:
    ///   - connect: The router's endpoint, e.g. "tcp://coordinator:7471".
    ///   - security: ``LinkSecurity/plain`` or `.curveClient`.
    ///   - options: Limits and habits; the first of ``LinkOptions/maxFrameBytes`` bounds what is received and sent.
    /// - Throws: ``ZeroMQError`` `bad-endpoint`, `plain-refused` or `engine`; nothing stays open.
    public init(connect: String, security: LinkSecurity, options: LinkOptions = LinkOptions()) throws(ZeroMQError) {
        let endpoint = try Endpoint(connect)
        try endpoint.check(security, options, "connect")
        let channel = try LinkChannel<[UInt8], DealerJob>(options)
        let status = LinkStatus()
        self.endpoint = connect
        self.channel = channel
        self.status = status
        patience = options.sendPatience
        maxFrameBytes = options.maxFrameBytes.first ?? 256 << 10
        try PollThread.start("packhorse.dealer") { started in
            DealerEngine.run(channel, status, endpoint, security, options, started)
        }
    }

    deinit { channel.stop() }

    /// How the link stands now.
    public var state: LinkState { status.value }

    /// All frames that wait, or the first to come within `limit`.
    ///
    /// - Returns: Nothing when the time is over, and early when ``state`` changed.
    /// - Throws: ``ZeroMQError`` `closed`, or `CancellationError`.
    public func receive(upTo limit: Duration) async throws -> [[UInt8]] { try await channel.receive(upTo: limit) }

    /// Hands frames to libzmq, in order.
    ///
    /// Waits for a connection and for room, at most ``LinkOptions/sendPatience``. Taken is not delivered: what matters
    /// needs an answer.
    ///
    /// - Throws: ``ZeroMQError`` `unreachable` or `refused`; frames behind the first that failed were not sent. Also
    ///   `too-large`, when nothing was sent, and `closed`.
    public func send(_ frames: [[UInt8]]) async throws(ZeroMQError) {
        if let large = frames.first(where: { $0.count > maxFrameBytes }) {
            throw ZeroMQError(.tooLarge, "A frame has \(large.count) bytes; at most \(maxFrameBytes) may leave here.")
        }
        let failure: ZeroMQError? = await withCheckedContinuation { continuation in
            if !channel.submit(.send(frames, .now + patience, continuation)) {
                continuation.resume(returning: ZeroMQError(.closed, "The link to '\(endpoint)' was closed."))
            }
        }
        if let failure { throw failure }
    }

    /// Drops the connection and makes another with a new socket; frames that libzmq still held are lost.
    public func reconnect() async {
        await withCheckedContinuation { continuation in
            if !channel.submit(.rebuild(continuation)) { continuation.resume() }
        }
    }

    /// Closes the socket and waits until thread and descriptors are gone, at most about ``LinkOptions/linger``.
    public func close() async { await channel.close() }
}

/// The state the thread writes and everybody reads.
final class LinkStatus: Sendable {
    private let state = Mutex(LinkState.connecting)

    var value: LinkState { state.withLock { $0 } }

    /// Whether this changed anything.
    func change(to new: LinkState) -> Bool {
        state.withLock { state in
            defer { state = new }
            return state != new
        }
    }
}
