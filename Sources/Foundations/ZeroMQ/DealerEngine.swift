internal import CZeroMQ
internal import Errors
internal import Logging
internal import Telemetry

/// The requests to a dealer's thread.
enum DealerJob: Sendable {
    case send([[UInt8]], ContinuousClock.Instant, CheckedContinuation<ZeroMQError?, Never>)
    case rebuild(CheckedContinuation<Void, Never>)
}

/// The loop of a dealer's thread.
///
/// Its sockets are used only by this thread.
final class DealerEngine {
    private struct Pending {
        var frames: ArraySlice<[UInt8]>
        let deadline: ContinuousClock.Instant
        let continuation: CheckedContinuation<ZeroMQError?, Never>
    }

    private let channel: LinkChannel<[UInt8], DealerJob>
    private let status: LinkStatus
    private let context: SocketContext
    private let endpoint: Endpoint
    private let security: LinkSecurity
    private let options: LinkOptions
    private var socket: Socket
    private var monitor: SocketMonitor
    private var generation = 0
    private var isHandshaking = false
    /// Consecutive handshakes that the other side broke off.
    private var brokenHandshakes = 0
    private var backoff: Duration
    private var rebuildAt: ContinuousClock.Instant?
    private var pending: [Pending] = []

    static func run(
        _ channel: LinkChannel<[UInt8], DealerJob>, status: LinkStatus, to endpoint: Endpoint,
        security: LinkSecurity, options: LinkOptions, onStart started: (Result<Void, ZeroMQError>) -> Void
    ) {
        var reason = ZeroMQError(.closed, "The link to '\(endpoint.text)' was closed.")
        do throws(ZeroMQError) {
            let context = try SocketContext()
            defer { context.terminate() }
            let engine = try DealerEngine(
                channel, status: status, in: context, to: endpoint, security: security, options: options)
            started(.success(()))
            defer { engine.close() }
            try engine.serve()
        } catch {
            reason = error
            started(.failure(error))
        }
        _ = status.change(to: .closed)
        for job in channel.end(reason) {
            switch job {
            case .send(_, _, let continuation): continuation.resume(returning: reason)
            case .rebuild(let continuation): continuation.resume()
            }
        }
    }

    private init(
        _ channel: LinkChannel<[UInt8], DealerJob>, status: LinkStatus, in context: SocketContext,
        to endpoint: Endpoint, security: LinkSecurity, options: LinkOptions
    ) throws(ZeroMQError) {
        self.channel = channel
        self.status = status
        self.context = context
        self.endpoint = endpoint
        self.security = security
        self.options = options
        backoff = options.reconnectMin
        (socket, monitor) = try Self.open(
            in: context, to: endpoint, security: security, options: options, generation: generation)
    }

    private static func open(
        in context: SocketContext, to endpoint: Endpoint, security: LinkSecurity, options: LinkOptions,
        generation: Int
    ) throws(ZeroMQError) -> (Socket, SocketMonitor) {
        let socket = try Socket(context, ZMQ_DEALER)
        try socket.configure(options, endpoint, maxFrameBytes: options.maxFrameBytes.first ?? 256 << 10)
        try socket.set(ZMQ_IMMEDIATE, 1)
        switch security {
        case .plain: break
        case .curveClient(let keys, let serverKey):
            try socket.set(ZMQ_CURVE_SERVERKEY, serverKey.z85)
            try socket.set(ZMQ_CURVE_PUBLICKEY, keys.publicKey.z85)
            try socket.set(ZMQ_CURVE_SECRETKEY, keys.secret)
        case .curveServer:
            throw ZeroMQError(
                .badKey, "A dealer needs CURVE client keys: its own key pair and the server's public key.")
        }
        let monitor = try SocketMonitor(context, watching: socket, at: "inproc://packhorse.monitor.\(generation)")
        try socket.connect(endpoint.text)
        return (socket, monitor)
    }

    private func close() {
        flush()
        for send in pending {
            send.continuation.resume(returning: ZeroMQError(.closed, "The link to '\(endpoint.text)' was closed."))
        }
        monitor.close()
        socket.close()
    }

    private func serve() throws(ZeroMQError) {
        while true {
            var events = channel.hasRoom ? ZMQ_POLLIN : 0
            if !pending.isEmpty { events |= ZMQ_POLLOUT }
            var items = [channel.wakeItem, monitor.pollItem, socket.pollItem(events)]
            try PollThread.poll(&items, until: nextDeadline)
            while let event = monitor.next() { handle(event) }
            if events & ZMQ_POLLIN != 0 { read() }
            let (jobs, stopping) = channel.takeJobs()
            for job in jobs { try accept(job) }
            flush()
            if stopping { return }
            if let rebuildAt, rebuildAt <= .now { try rebuild() }
            channel.expire(at: .now)
        }
    }

    private var nextDeadline: ContinuousClock.Instant? {
        [rebuildAt, channel.nextDeadline, pending.map(\.deadline).min()].compactMap { $0 }.min()
    }

    private func read() {
        var batch: [[UInt8]] = []
        for _ in 0..<256 {
            guard let message = socket.receive(maxParts: 1) else { break }
            if let frame = message.parts.first, !message.hasMore { batch.append(frame) }
        }
        channel.deliver(batch, bytes: batch.reduce(0) { $0 + $1.count })
    }

    private func accept(_ job: DealerJob) throws(ZeroMQError) {
        switch job {
        case .send(let frames, let deadline, let continuation):
            pending.append(Pending(frames: frames[...], deadline: deadline, continuation: continuation))
        case .rebuild(let continuation):
            defer { continuation.resume() }
            try rebuild()
        }
    }

    private func flush() {
        let now = ContinuousClock.now
        while var send = pending.first {
            while let frame = send.frames.first, socket.send(frame) == .sent { send.frames.removeFirst() }
            pending[0] = send
            if send.frames.isEmpty {
                send.continuation.resume(returning: nil)
            } else if now >= send.deadline {
                send.continuation.resume(returning: failure)
            } else {
                return
            }
            pending.removeFirst()
        }
    }

    private var failure: ZeroMQError {
        if case .refused(let reason) = status.value {
            return ZeroMQError(.refused, "'\(endpoint.text)' refused the connection: \(reason)")
        }
        return ZeroMQError(
            .unreachable,
            "No answer from '\(endpoint.text)' (\(status.value)). Is a coordinator running there?")
    }

    // MARK: - The connection

    private func rebuild() throws(ZeroMQError) {
        rebuildAt = nil
        isHandshaking = false
        generation += 1
        monitor.close()
        socket.close()
        (socket, monitor) = try Self.open(
            in: context, to: endpoint, security: security, options: options, generation: generation)
        if status.value == .connected { change(to: .disconnected) }
    }

    private func handle(_ event: SocketMonitor.Event) {
        switch event {
        case .connected: isHandshaking = true
        case .handshakeSucceeded:
            isHandshaking = false
            brokenHandshakes = 0
            backoff = options.reconnectMin
            rebuildAt = nil
            status.countConnection()
            change(to: .connected)
        case .disconnected:
            if isHandshaking {
                broken()
            } else if status.value == .connected {
                change(to: .disconnected)
            }
        case .refused(let reason): refused(reason)
        case .broken: broken()
        case .unreachable:
            brokenHandshakes = 0
            if case .refused = status.value { change(to: .disconnected) }
        case .accepted: break
        }
    }

    /// Counts a connection that was closed during its handshake.
    ///
    /// Once may mean that the router ended at that moment. Twice in a row means that the router refuses this peer.
    private func broken() {
        brokenHandshakes += 1
        if brokenHandshakes > 1 {
            change(
                to: .refused(
                    reason:
                        "it closed the connection during the handshake; the server's public key may be wrong, or keys are given on"
                        + " one side only"))
        }
        planRebuild()
    }

    private func refused(_ reason: String) {
        change(to: .refused(reason: reason))
        planRebuild()
    }

    /// After a failed handshake libzmq may never try again.
    private func planRebuild() {
        isHandshaking = false
        guard rebuildAt == nil else { return }
        let jitter = Double.random(in: 0.8...1.2)
        rebuildAt = .now + backoff * jitter
        backoff = min(backoff * 2, options.reconnectMax)
    }

    private func change(to state: LinkState) {
        guard status.change(to: state) else { return }
        options.logger?.info("Link state changed", metadata: [LogKey.linkState: "\(state)"])
        channel.interrupt()
    }
}
