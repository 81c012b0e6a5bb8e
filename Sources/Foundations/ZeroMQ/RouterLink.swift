public import Errors

/// A connected peer of a router.
///
/// Valid until it disconnects, and not reused soon.
///
/// It identifies a connection, not a process. The sender is identified by ``Inbound/user`` and by the frame's session.
public struct PeerID: Hashable, Sendable {
    /// The index of the router's endpoint that it is connected to.
    public let endpointIndex: Int
    let route: [UInt8]
}

/// One frame from a peer.
public struct Inbound: Sendable {
    /// The connection that it came from.
    public let peer: PeerID
    /// The peer's name in the allow-list; `nil` on a plain link.
    public let user: String?
    /// The peer's permissions, according to the current allow-list; on a plain link all.
    public let roles: PeerRoles
    /// The index of the router's endpoint at which it arrived.
    public var endpointIndex: Int { peer.endpointIndex }
    /// The frame.
    public let bytes: [UInt8]
}

/// The number of refusals of a router since it was opened.
public struct RouterCounters: Hashable, Sendable {
    /// Messages of more than one frame, dropped.
    public var multipart = 0
    /// Dropped frames of peers whose key was removed from the allow-list.
    public var revoked = 0
    /// Handshakes refused by the allow-list.
    public var refused = 0
    /// Closed connections: unfinished floods, revoked keys, repeated invalid data, and those of ``RouterLink/cut(_:)``.
    public var cut = 0
}

/// The server end of a link: ROUTER sockets on a separate thread.
///
/// Several endpoints may be served, each with its own frame limit. Peers need no name: libzmq numbers connections. A
/// message must be exactly one frame. Others are dropped and counted, and the third one within a minute closes the
/// connection, as does a message that grows without end (``IngressGuard``).
public final class RouterLink: Sendable {
    /// The endpoints with the ports that were bound, in the given order.
    public let boundEndpoints: [String]
    private let channel: LinkChannel<Inbound, RouterJob>
    private let patience: Duration

    /// Binds all of `bind` and starts to serve.
    ///
    /// Blocks for some milliseconds.
    ///
    /// - Parameters:
    ///   - bind: Endpoints such as "tcp://127.0.0.1:7470"; port "*" takes a free port.
    ///   - security: ``LinkSecurity/plain`` or `.curveServer`.
    ///   - options: Limits and times.
    /// - Throws: ``ZeroMQError`` `bad-endpoint`, `address-in-use`, `plain-refused` or `library-failed`; nothing stays open.
    public init(bind: [String], security: LinkSecurity, options: LinkOptions = LinkOptions()) throws(ZeroMQError) {
        var endpoints: [Endpoint] = []
        for text in bind {
            let endpoint = try Endpoint(text)
            try endpoint.check(security, options: options, to: "listen there")
            endpoints.append(endpoint)
        }
        guard !endpoints.isEmpty else { throw ZeroMQError(.badEndpoint, "A router needs at least one endpoint.") }
        let channel = try LinkChannel<Inbound, RouterJob>(options)
        let sockets = endpoints
        self.channel = channel
        patience = options.sendPatience
        boundEndpoints = try PollThread.start("packhorse.router") { started in
            RouterEngine.run(channel, on: sockets, security: security, options: options, onStart: started)
        }
    }

    deinit { channel.stop() }

    /// All waiting frames, or the first ones that arrive within `limit`.
    ///
    /// Ordered per peer. While they are not received, at most ``LinkOptions/inboxFrames`` are held and TCP flow control
    /// stops the peers.
    ///
    /// - Returns: Empty after the time limit.
    /// - Throws: ``ZeroMQError`` `closed`, or `CancellationError`.
    public func receive(upTo limit: Duration) async throws -> [Inbound] { try await channel.receive(upTo: limit) }

    /// Ends a running ``receive(upTo:)`` with the frames that have arrived, because its caller has other work.
    ///
    /// When none is running, the next one does not wait.
    public func wake() { channel.poke() }

    /// Hands frames to their peers, in order per peer, and returns when libzmq has accepted or dropped all of them.
    ///
    /// A frame that libzmq accepted may still be lost: important messages need an answer.
    ///
    /// - Returns: The peers, each once, that are gone or did not read for ``LinkOptions/sendPatience``. Frames for such
    ///   a peer are lost from the first failed one on.
    public func send(_ frames: [(PeerID, [UInt8])]) async -> [PeerID] {
        await withCheckedContinuation { continuation in
            let job = RouterJob.send(frames, .now + patience, continuation)
            if !channel.submit(job) { continuation.resume(returning: RouterJob.peers(frames)) }
        }
    }

    /// Closes the connections of these peers.
    ///
    /// They may connect again.
    public func cut(_ peers: [PeerID]) {
        // A closed link has no connections.
        _ = channel.submit(.cut(peers))
    }

    /// The number of refusals so far.
    public func counters() async -> RouterCounters {
        await withCheckedContinuation { continuation in
            if !channel.submit(.count(continuation)) { continuation.resume(returning: RouterCounters()) }
        }
    }

    /// Closes all sockets and waits until thread and descriptors are gone, at most about ``LinkOptions/linger``.
    public func close() async { await channel.close() }
}
