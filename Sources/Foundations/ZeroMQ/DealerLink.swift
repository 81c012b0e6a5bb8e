public import Errors
internal import Synchronization

/// The state of a dealer's connection to its router.
public enum LinkState: Hashable, Sendable, CustomStringConvertible {
    /// No connection was made yet.
    case connecting
    /// The handshake succeeded; frames can be sent.
    case connected
    /// The connection broke; the dealer is reconnecting.
    case disconnected
    /// The router refused the connection; retried with growing pauses. The reason is a sentence for people.
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

/// The client end of a link: one DEALER socket on a separate thread.
///
/// It reconnects without limit. After a refused handshake libzmq stops trying, so the socket is created again.
public final class DealerLink: Sendable {
    /// The endpoint this link connects to.
    public let endpoint: String
    private let channel: LinkChannel<[UInt8], DealerJob>
    private let status: LinkStatus
    private let patience: Duration
    private let maxFrameBytes: Int

    /// Starts to connect.
    ///
    /// Does not wait for the connection.
    ///
    /// - Parameters:
    ///   - connect: The router's endpoint, for example "tcp://coordinator:7471".
    ///   - security: ``LinkSecurity/plain`` or `.curveClient`.
    ///   - options: Limits and times. The first of ``LinkOptions/maxFrameBytes`` limits received and sent frames.
    /// - Throws: ``ZeroMQError`` `bad-endpoint`, `plain-refused` or `library-failed`; nothing stays open.
    public init(connect: String, security: LinkSecurity, options: LinkOptions = LinkOptions()) throws(ZeroMQError) {
        let endpoint = try Endpoint(connect)
        try endpoint.check(security, options: options, to: "connect")
        let channel = try LinkChannel<[UInt8], DealerJob>(options)
        let status = LinkStatus()
        self.endpoint = connect
        self.channel = channel
        self.status = status
        patience = options.sendPatience
        maxFrameBytes = options.maxFrameBytes.first ?? 256 << 10
        try PollThread.start("packhorse.dealer") { started in
            DealerEngine.run(
                channel, status: status, to: endpoint, security: security, options: options, onStart: started)
        }
    }

    deinit { channel.stop() }

    /// The current state of the link.
    public var state: LinkState { status.value }

    /// Number of connections that were made so far.
    ///
    /// A frame that was sent in an earlier connection, or its answer, may be lost.
    public var connections: Int { status.connections }

    /// All waiting frames, or the first ones that arrive within `limit`.
    ///
    /// - Returns: Empty after the time limit, and early when ``state`` changed.
    /// - Throws: ``ZeroMQError`` `closed`, or `CancellationError`.
    public func receive(upTo limit: Duration) async throws -> [[UInt8]] { try await channel.receive(upTo: limit) }

    /// Hands frames to libzmq, in order.
    ///
    /// Waits for a connection and for space in the queue, at most ``LinkOptions/sendPatience``. A frame that libzmq
    /// accepted may still be lost: important messages need an answer.
    ///
    /// - Throws: ``ZeroMQError`` `unreachable` or `refused`; frames after the first failed one were not sent. Also
    ///   `too-large`, when nothing was sent, and `closed`.
    public func send(_ frames: [[UInt8]]) async throws(ZeroMQError) {
        if let large = frames.first(where: { $0.count > maxFrameBytes }) {
            throw ZeroMQError(.tooLarge, "A frame has \(large.count) bytes; the limit is \(maxFrameBytes).")
        }
        let failure: ZeroMQError? = await withCheckedContinuation { continuation in
            if !channel.submit(.send(frames, .now + patience, continuation)) {
                continuation.resume(returning: ZeroMQError(.closed, "The link to '\(endpoint)' was closed."))
            }
        }
        if let failure { throw failure }
    }

    /// Closes the connection and connects again with a new socket.
    ///
    /// Frames that libzmq still holds are lost.
    public func reconnect() async {
        await withCheckedContinuation { continuation in
            if !channel.submit(.rebuild(continuation)) { continuation.resume() }
        }
    }

    /// Closes the socket and waits until thread and descriptors are gone, at most about ``LinkOptions/linger``.
    public func close() async { await channel.close() }
}

/// The state that the thread writes and all callers read.
final class LinkStatus: Sendable {
    private let state = Mutex((value: LinkState.connecting, connections: 0))

    var value: LinkState { state.withLock { $0.value } }

    /// Handshakes that succeeded.
    var connections: Int { state.withLock { $0.connections } }

    /// A handshake succeeded.
    func countConnection() { state.withLock { $0.connections += 1 } }

    /// Returns whether this changed the state.
    func change(to new: LinkState) -> Bool {
        state.withLock { state in
            defer { state.value = new }
            return state.value != new
        }
    }
}
