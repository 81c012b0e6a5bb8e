public import Errors

/// A connected peer of a router: valid until it disconnects, never reused soon.
///
/// It names a connection, not a process; who speaks is in ``Inbound/user`` and in the frame's session.
public struct PeerID: Hashable, Sendable {
    /// Which of the router's endpoints it is connected to.
    public let endpointIndex: Int
    let route: [UInt8]
}

/// One frame from a peer.
public struct Inbound: Sendable {
    /// The connection it came from.
    public let peer: PeerID
    /// The peer's name in the allow-list; `nil` on a plain link.
    public let user: String?
    /// What the peer may do, by the allow-list as it is now; on a plain link everything.
    public let roles: PeerRoles
    /// Which of the router's endpoints it came in at.
    public var endpointIndex: Int { peer.endpointIndex }
    /// The frame.
    public let bytes: [UInt8]
}

/// What a router has refused since it was opened.
public struct RouterCounters: Hashable, Sendable {
    /// Messages of more than one frame, dropped.
    public var multipart = 0
    /// Frames of peers whose key was taken off the allow-list, dropped.
    public var revoked = 0
    /// Handshakes refused by the allow-list.
    public var refused = 0
    /// Connections cut: unfinished floods, revoked keys, repeated nonsense, and what ``RouterLink/cut(_:)`` named.
    public var cut = 0
}

/// The serving end of a link: ROUTER sockets on a thread of their own.
///
/// Several endpoints may be served, each with its own bound on frames. Peers need no name of their own: libzmq numbers
/// connections. A message must be exactly one frame; others are dropped and counted, and the third within a minute ends the
/// connection, as does a message that grows without end (``IngressGuard``).
public final class RouterLink: Sendable {
    /// The endpoints with their real ports, in the order given.
    public let boundEndpoints: [String]
    private let channel: LinkChannel<Inbound, RouterJob>
    private let patience: Duration

    /// Binds all of `bind` and starts to serve.
    ///
    /// Blocks for the milliseconds this takes.
    ///
    /// - Parameters:
    ///   - bind: Endpoints such as "tcp://127.0.0.1:7470"; port "*" takes a free one.
    ///   - security: ``LinkSecurity/plain`` or `.curveServer`.
    ///   - options: Limits and habits.
    /// - Throws: ``ZeroMQError`` `bad-endpoint`, `address-in-use`, `plain-refused` or `engine`; nothing stays open.
    public init(bind: [String], security: LinkSecurity, options: LinkOptions = LinkOptions()) throws(ZeroMQError) {
        var endpoints: [Endpoint] = []
        for text in bind {
            let endpoint = try Endpoint(text)
            try endpoint.check(security, options, "listen there")
            endpoints.append(endpoint)
        }
        guard !endpoints.isEmpty else { throw ZeroMQError(.badEndpoint, "A router needs an endpoint to listen at.") }
        let channel = try LinkChannel<Inbound, RouterJob>(options)
        let sockets = endpoints
        self.channel = channel
        patience = options.sendPatience
        boundEndpoints = try PollThread.start("packhorse.router") { started in
            RouterEngine.run(channel, sockets, security, options, started)
        }
    }

    deinit { channel.stop() }

    /// All frames that wait, or the first to come within `limit`.
    ///
    /// Ordered per peer. While nobody receives, at most ``LinkOptions/inboxFrames`` are held and TCP pushes back.
    ///
    /// - Returns: Nothing when the time is over.
    /// - Throws: ``ZeroMQError`` `closed`, or `CancellationError`.
    public func receive(upTo limit: Duration) async throws -> [Inbound] { try await channel.receive(upTo: limit) }

    /// Ends a running ``receive(upTo:)`` with what there is, because its caller has something else to do.
    ///
    /// When none runs, the next one does not wait.
    public func wake() { channel.poke() }

    /// Hands frames to their peers, in order per peer, and returns when libzmq has taken them all or given them up.
    ///
    /// Taken is not delivered: what matters needs an answer.
    ///
    /// - Returns: The peers, each once, that are gone or did not read for ``LinkOptions/sendPatience``; the frames
    ///   meant for them from the first failed one on are lost.
    public func send(_ frames: [(PeerID, [UInt8])]) async -> [PeerID] {
        await withCheckedContinuation { continuation in
            let job = RouterJob.send(frames, .now + patience, continuation)
            if !channel.submit(job) { continuation.resume(returning: RouterJob.peers(frames)) }
        }
    }

    /// Ends the connections of these peers; they may connect again.
    public func cut(_ peers: [PeerID]) {
        // A link that has ended has no connections left.
        _ = channel.submit(.cut(peers))
    }

    /// What was refused so far.
    public func counters() async -> RouterCounters {
        await withCheckedContinuation { continuation in
            if !channel.submit(.count(continuation)) { continuation.resume(returning: RouterCounters()) }
        }
    }

    /// Closes all sockets and waits until thread and descriptors are gone, at most about ``LinkOptions/linger``.
    public func close() async { await channel.close() }
}
