internal import Logging
internal import Telemetry

/// Watches the connections of a router's sockets and closes those that violate a rule.
///
/// Used on the router's poll thread.
struct ConnectionWatch {
    /// Interval between two checks of the process's memory.
    static let pace: Duration = .milliseconds(10)
    /// Connections are checked when memory has grown by this, or after the time below.
    static let growth: Int64 = 4 << 20
    static let patience: Duration = .milliseconds(500)
    /// Interval between two reads of the allow-list, which itself reads its folder once a second.
    static let audit: Duration = .milliseconds(250)

    private var ingress: IngressGuard
    private let memory = ResidentMemory()
    private let logger: Logger?
    private var resident: Int64 = 0
    private var lookedAt = ContinuousClock.now
    private var lookedMemory: Int64 = 0
    private var pacedAt = ContinuousClock.now
    private var auditedAt = ContinuousClock.now
    /// Endpoints whose last check has not been evaluated.
    private var open: Set<Int> = []
    private var logged: [ContinuousClock.Instant] = []
    /// Number of connections closed so far.
    private(set) var cuts = 0

    init(_ limits: [IngressGuard.Limit], _ logger: Logger?) {
        ingress = IngressGuard(limits)
        self.logger = logger
    }

    /// When the next check is due; `nil` without connections.
    var nextLook: ContinuousClock.Instant? { ingress.connections.isEmpty ? nil : pacedAt + Self.pace }

    mutating func handle(_ event: SocketMonitor.Event, at endpoint: Int) {
        switch event {
        case .accepted(let descriptor):
            guard let inode = PeerSocket.inode(descriptor) else { return }
            if ingress.connections.isEmpty { resident = memory.bytes }
            ingress.accepted(descriptor, endpoint: endpoint, inode: inode, memory: resident, at: .now)
        case .disconnected(let descriptor): ingress.closed(descriptor)
        case .connected, .handshakeSucceeded, .refused, .broken, .unreachable: break
        }
    }

    mutating func delivered(_ message: Socket.Received, _ key: String?, at now: ContinuousClock.Instant) {
        ingress.delivered(
            message.descriptor, bytes: message.bytes, parts: message.count, route: message.parts.first ?? [], key: key,
            memory: resident, at: now)
    }

    /// Counts a message that is not one frame.
    mutating func strike(_ descriptor: Int32, at now: ContinuousClock.Instant) {
        if ingress.strike(descriptor, at: now) { cut(descriptor, "it sent three multipart messages within a minute") }
    }

    /// Reads the state of all connections from the kernel when memory has grown or enough time has passed.
    mutating func sampleConnections(at now: ContinuousClock.Instant) {
        guard !ingress.connections.isEmpty, now - pacedAt >= Self.pace else { return }
        pacedAt = now
        resident = memory.bytes
        lookedMemory = min(lookedMemory, resident)
        guard resident - lookedMemory > Self.growth || now - lookedAt >= Self.patience else { return }
        lookedAt = now
        lookedMemory = resident
        ingress.sampleConnections { descriptor, _ in PeerSocket.sample(descriptor) }
        open = Set(ingress.connections.values.map(\.endpoint))
    }

    /// Closes the connections of an endpoint that hold too much data.
    mutating func judge(_ endpoint: Int, isDrained: Bool) {
        guard open.contains(endpoint) else { return }
        if isDrained { open.remove(endpoint) }
        for (descriptor, held) in ingress.offenders(at: endpoint, isDrained: isDrained, memory: resident) {
            cut(descriptor, "it sent \(held) bytes of an unfinished message")
        }
    }

    /// Closes the connections whose key is no longer in the list.
    mutating func expel(not list: AllowList, at now: ContinuousClock.Instant) {
        guard now - auditedAt >= Self.audit else { return }
        auditedAt = now
        for (descriptor, connection) in ingress.connections {
            guard let key = connection.key, list.entry(z85: key) == nil else { continue }
            cut(descriptor, "its key was removed from the allow-list")
        }
    }

    mutating func cut(_ peer: PeerID) {
        guard let descriptor = ingress.descriptor(endpoint: peer.endpointIndex, route: peer.route) else { return }
        cut(descriptor, "it sent invalid data")
    }

    private mutating func cut(_ descriptor: Int32, _ reason: String) {
        guard let connection = ingress.connections[descriptor] else { return }
        PeerSocket.cut(descriptor, inode: connection.inode)
        ingress.closed(descriptor)
        cuts += 1
        // A peer that reconnects at once must not fill the log.
        logged.removeAll { $0.duration(to: .now) > .seconds(1) }
        guard logged.count < 5 else { return }
        logged.append(.now)
        logger?.warning(
            "Connection closed",
            metadata: [LogKey.peerKey: "\(connection.key ?? "-")", LogKey.reason: "\(reason)"])
    }
}
