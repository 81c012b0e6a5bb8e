internal import CZeroMQ
internal import Errors
internal import Logging

/// The requests to a router's thread.
enum RouterJob: Sendable {
    case send([(PeerID, [UInt8])], ContinuousClock.Instant, CheckedContinuation<[PeerID], Never>)
    case count(CheckedContinuation<RouterCounters, Never>)
    case cut([PeerID])

    /// The peers of `frames`, each once, in order.
    static func peers(_ frames: some Sequence<(PeerID, [UInt8])>) -> [PeerID] {
        var seen: Set<PeerID> = []
        return frames.map { $0.0 }.filter { seen.insert($0).inserted }
    }
}

/// The loop of a router's thread.
///
/// Every socket is a local variable of ``run(_:_:_:_:_:)`` and never leaves it.
final class RouterEngine {
    /// A send that is not finished because a peer's queue was full.
    private struct Pending {
        var frames: [(PeerID, [UInt8])]
        var lost: [PeerID] = []
        let deadline: ContinuousClock.Instant
        let continuation: CheckedContinuation<[PeerID], Never>
    }

    private let channel: LinkChannel<Inbound, RouterJob>
    private let security: LinkSecurity
    private let logger: Logger?
    private let zap: ZAPHandler?
    private let sockets: [Socket]
    private let monitors: [SocketMonitor]
    private var watch: ConnectionWatch
    private var pending: [Pending] = []
    private var counters = RouterCounters()

    static func run(
        _ channel: LinkChannel<Inbound, RouterJob>, on endpoints: [Endpoint], security: LinkSecurity,
        options: LinkOptions, onStart started: (Result<[String], ZeroMQError>) -> Void
    ) {
        var reason = ZeroMQError(.closed, "The link was closed.")
        do throws(ZeroMQError) {
            let context = try SocketContext()
            defer { context.terminate() }
            var bound: [String] = []
            let engine = try RouterEngine(
                channel, in: context, on: endpoints, security: security, options: options, bound: &bound)
            started(.success(bound))
            defer { engine.close() }
            try engine.serve()
        } catch {
            reason = error
            started(.failure(error))
        }
        for job in channel.end(reason) {
            switch job {
            case .send(let frames, _, let continuation): continuation.resume(returning: RouterJob.peers(frames))
            case .count(let continuation): continuation.resume(returning: RouterCounters())
            case .cut: break
            }
        }
    }

    private init(
        _ channel: LinkChannel<Inbound, RouterJob>, in context: SocketContext, on endpoints: [Endpoint],
        security: LinkSecurity, options: LinkOptions, bound: inout [String]
    ) throws(ZeroMQError) {
        self.channel = channel
        self.security = security
        logger = options.logger
        if case .curveServer(_, let list) = security {
            zap = try ZAPHandler(context, allowing: list, logger: options.logger)
        } else {
            zap = nil
        }
        var opened: [Socket] = []
        var watched: [SocketMonitor] = []
        var limits: [IngressGuard.Limit] = []
        for (index, endpoint) in endpoints.enumerated() {
            let sizes = options.maxFrameBytes
            let size = sizes.isEmpty ? 256 << 10 : sizes[min(index, sizes.count - 1)]
            let socket = try Socket(context, ZMQ_ROUTER)
            try socket.configure(options, endpoint, maxFrameBytes: size)
            try socket.set(ZMQ_ROUTER_MANDATORY, 1)
            try Self.secure(socket, security)
            // Created before the bind, so that no connection is missed.
            watched.append(try SocketMonitor(context, watching: socket, at: "inproc://packhorse.monitor.\(index)"))
            bound.append(try socket.bind(endpoint.text))
            opened.append(socket)
            limits.append(
                IngressGuard.Limit(
                    frame: Int64(size), queue: Int64(size) * Int64(options.receiveFrames(size)),
                    isPlain: security.isPlain))
        }
        sockets = opened
        monitors = watched
        watch = ConnectionWatch(limits, options.logger)
    }

    private static func secure(_ socket: Socket, _ security: LinkSecurity) throws(ZeroMQError) {
        switch security {
        case .plain: break
        case .curveServer(let keys, _):
            try socket.set(ZMQ_CURVE_SERVER, 1)
            try socket.set(ZMQ_CURVE_SECRETKEY, keys.secret)
            try socket.set(ZMQ_ZAP_DOMAIN, ZAPHandler.domain)
            try socket.set(ZMQ_ZAP_ENFORCE_DOMAIN, 1)
        case .curveClient:
            throw ZeroMQError(.badKey, "A router needs CURVE server keys: its own key pair and an allow-list.")
        }
    }

    private func close() {
        for send in pending { send.continuation.resume(returning: RouterJob.peers(send.frames) + send.lost) }
        for monitor in monitors { monitor.close() }
        for socket in sockets { socket.close() }
        zap?.close()
    }

    private func serve() throws(ZeroMQError) {
        while true {
            let reads = channel.hasRoom
            var items = [channel.wakeItem]
            if let zap { items.append(zap.pollItem) }
            items += monitors.map(\.pollItem)
            if reads { items += sockets.map { $0.pollItem(ZMQ_POLLIN) } }
            try PollThread.poll(&items, until: nextDeadline)
            zap?.answer()
            for (index, monitor) in monitors.enumerated() {
                while let event = monitor.next() { watch.handle(event, at: index) }
            }
            // Checked before they are read: data that arrives meanwhile must not count against a peer.
            watch.sampleConnections(at: .now)
            for (index, socket) in sockets.enumerated() {
                let isDrained = reads && read(socket, index)
                watch.judge(index, isDrained: isDrained)
            }
            if case .curveServer(_, let list) = security { watch.expel(not: list, at: .now) }
            let (jobs, stopping) = channel.takeJobs()
            for job in jobs { accept(job) }
            flush()
            if stopping { return }
            channel.expire(at: .now)
        }
    }

    private var nextDeadline: ContinuousClock.Instant? {
        // A ROUTER socket gives no event for a full peer, so it is tried again soon.
        let retry: ContinuousClock.Instant? = pending.isEmpty ? nil : .now + .milliseconds(5)
        return [retry, channel.nextDeadline, watch.nextLook].compactMap { $0 }.min()
    }

    /// Reads at most 256 messages, so that no socket blocks the others.
    ///
    /// Returns whether none is left.
    private func read(_ socket: Socket, _ index: Int) -> Bool {
        var batch: [Inbound] = []
        var bytes = 0
        defer { channel.deliver(batch, bytes: bytes) }
        let now = ContinuousClock.now
        for _ in 0..<256 {
            guard let message = socket.receive(maxParts: 2) else { return true }
            let key = message.user.flatMap { $0.isEmpty ? nil : $0 }
            watch.delivered(message, key, at: now)
            guard message.parts.count == 2, !message.hasMore else {
                counters.multipart += 1
                watch.strike(message.descriptor, at: now)
                continue
            }
            var peer: (name: String?, roles: PeerRoles) = (nil, .all)
            if case .curveServer(_, let list) = security {
                guard let key, let entry = list.entry(z85: key) else {
                    counters.revoked += 1
                    continue
                }
                peer = (entry.name, entry.roles)
            }
            batch.append(
                Inbound(
                    peer: PeerID(endpointIndex: index, route: message.parts[0]), user: peer.name, roles: peer.roles,
                    bytes: message.parts[1]))
            bytes += message.parts[1].count
        }
        return false
    }

    private func accept(_ job: RouterJob) {
        switch job {
        case .send(let frames, let deadline, let continuation):
            pending.append(Pending(frames: frames, deadline: deadline, continuation: continuation))
        case .count(let continuation):
            counters.refused = zap?.refused ?? 0
            counters.cut = watch.cuts
            continuation.resume(returning: counters)
        case .cut(let peers): for peer in peers { watch.cut(peer) }
        }
    }

    /// Sends what can be sent.
    ///
    /// Frames to a full peer stay queued, and later frames to the same peer wait behind them.
    private func flush() {
        var full: Set<PeerID> = []
        let now = ContinuousClock.now
        pending = pending.compactMap { send in
            var send = send
            var rest: [(PeerID, [UInt8])] = []
            for (peer, bytes) in send.frames where !send.lost.contains(peer) {
                switch full.contains(peer) ? .full : transmit(peer, bytes) {
                case .sent: break
                case .unreachable: send.lost.append(peer)
                case .full:
                    full.insert(peer)
                    rest.append((peer, bytes))
                }
            }
            if !rest.isEmpty, now < send.deadline {
                send.frames = rest
                return send
            }
            send.continuation.resume(returning: send.lost + RouterJob.peers(rest))
            return nil
        }
    }

    private func transmit(_ peer: PeerID, _ bytes: [UInt8]) -> Socket.SendOutcome {
        guard sockets.indices.contains(peer.endpointIndex) else { return .unreachable }
        let socket = sockets[peer.endpointIndex]
        let outcome = socket.send(peer.route, more: true)
        return outcome == .sent ? socket.send(bytes) : outcome
    }
}
