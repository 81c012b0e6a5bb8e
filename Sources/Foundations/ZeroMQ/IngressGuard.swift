/// Finds peers that fill this process's memory with a message that they never finish.
///
/// libzmq 4.3.4 does not limit an unfinished multipart message: the high-water mark counts only complete messages, and
/// `ZMQ_MAXMSGSIZE` limits each part. In a measurement one peer took the process to 2,708 MiB. What libzmq holds of a
/// connection is what it has received (TCP_INFO), less what still waits in the kernel, less what was delivered. An
/// honest peer sends one frame per message: once its socket has been read until empty, at most one frame is incomplete.
///
/// Pure: the poll thread queries the kernel and closes connections.
struct IngressGuard {
    /// The limits for unfinished data of one endpoint's peers.
    struct Limit: Sendable {
        /// Largest frame.
        let frame: Int64
        /// Bytes of complete messages that libzmq queues from one peer while they are not read.
        let queue: Int64
        /// Whether a few received bytes can cost many bytes of memory.
        ///
        /// An empty part has two bytes and costs 64; under CURVE a part has at least 35 bytes.
        let isPlain: Bool
    }

    /// The kernel's data about a connection.
    ///
    /// `received` is read before `waiting`, so that their difference is never too large.
    struct Sample: Sendable {
        let received: Int64
        let waiting: Int64
    }

    struct Connection {
        let endpoint: Int
        let inode: UInt64
        var route: [UInt8]?
        var key: String?
        var strikes: [ContinuousClock.Instant] = []
        fileprivate var delivered: Int64 = 0
        fileprivate var deliveredAt: ContinuousClock.Instant
        fileprivate var sample: Sample?
        /// Resident memory before the peer began the message that is unfinished now.
        fileprivate var memoryBefore: Int64
        /// Whether the last check found that the unfinished message costs many times its bytes.
        fileprivate var isAmplified = false
    }

    /// Tolerance for estimated sizes: framing, handshake, libzmq's read buffer of 8 KiB.
    static let slack: Int64 = 64 << 10
    /// The allowed growth of memory while a plain peer's message is unfinished, and the multiple of its bytes from
    /// which the message counts as amplified.
    static let amplified: (memory: Int64, factor: Int64) = (24 << 20, 8)
    /// Bytes of framing credited for each part: 9 of ZMTP and 33 of CURVE, rounded up.
    static let partCredit: Int64 = 64
    /// Bytes credited for each second since the last message: two ZMTP heartbeats every 5 s are 18.
    static let heartbeatCredit: Int64 = 32
    /// The third multipart message within a minute closes a connection.
    static let maxStrikes = 3

    private let limits: [Limit]
    private(set) var connections: [Int32: Connection] = [:]
    private var routes: [[UInt8]: Int32] = [:]

    init(_ limits: [Limit]) { self.limits = limits }

    mutating func accepted(
        _ descriptor: Int32, endpoint: Int, inode: UInt64, memory: Int64, at now: ContinuousClock.Instant
    ) {
        closed(descriptor)
        connections[descriptor] = Connection(
            endpoint: endpoint, inode: inode, deliveredAt: now, memoryBefore: memory)
    }

    mutating func closed(_ descriptor: Int32) {
        guard let connection = connections.removeValue(forKey: descriptor) else { return }
        if let route = connection.route, routes[route] == descriptor { routes[route] = nil }
    }

    /// The connection of a route.
    ///
    /// Routes are numbered per socket, so the endpoint must match too.
    func descriptor(endpoint: Int, route: [UInt8]) -> Int32? {
        routes[[UInt8(truncatingIfNeeded: endpoint)] + route]
    }

    /// Counts a complete message that was read.
    mutating func delivered(
        _ descriptor: Int32, bytes: Int, parts: Int, route: [UInt8], key: String?, memory: Int64,
        at now: ContinuousClock.Instant
    ) {
        guard var connection = connections[descriptor] else { return }
        let idle = min((now - connection.deliveredAt).components.seconds, 60)
        connection.delivered += Int64(bytes) + Int64(parts) * Self.partCredit + idle * Self.heartbeatCredit
        connection.deliveredAt = now
        connection.memoryBefore = memory
        connection.isAmplified = false
        connection.key = key
        if connection.route == nil {
            let route = [UInt8(truncatingIfNeeded: connection.endpoint)] + route
            connection.route = route
            routes[route] = descriptor
        }
        connections[descriptor] = connection
    }

    /// Counts a message that is not one frame.
    ///
    /// Returns whether the connection must be closed.
    mutating func strike(_ descriptor: Int32, at now: ContinuousClock.Instant) -> Bool {
        guard var connection = connections[descriptor] else { return false }
        connection.strikes = connection.strikes.filter { now - $0 < .seconds(60) } + [now]
        connections[descriptor] = connection
        return connection.strikes.count >= Self.maxStrikes
    }

    /// Stores the kernel's data about every connection, and forgets connections that the kernel does not know any more.
    mutating func sampleConnections(_ read: (Int32, Connection) -> Sample?) {
        for (descriptor, connection) in connections {
            guard let sample = read(descriptor, connection) else { continue }
            connections[descriptor]?.sample = sample
            // More was credited than was received. The excess must not accumulate.
            connections[descriptor]?.delivered = min(connection.delivered, sample.received)
        }
    }

    /// The connections of an endpoint that hold too much data, at the last check.
    ///
    /// - Parameters:
    ///   - isDrained: Whether the endpoint's socket has been read until empty since the last check.
    ///   - memory: Resident memory of the process.
    mutating func offenders(at endpoint: Int, isDrained: Bool, memory: Int64) -> [(descriptor: Int32, held: Int64)] {
        guard limits.indices.contains(endpoint) else { return [] }
        let limit = limits[endpoint]
        var found: [(Int32, Int64)] = []
        for (descriptor, connection) in connections where connection.endpoint == endpoint {
            guard let sample = connection.sample else { continue }
            let held = sample.received - sample.waiting - connection.delivered
            if isDrained { connections[descriptor]?.sample = nil }
            if held <= Self.slack {
                connections[descriptor]?.memoryBefore = memory
                continue
            }
            let most = limit.frame + Self.slack + (isDrained ? 0 : limit.queue)
            let gained = memory - connection.memoryBefore
            let isAmplified =
                limit.isPlain && isDrained && gained > Self.amplified.memory && gained > Self.amplified.factor * held
            connections[descriptor]?.isAmplified = isAmplified
            // Twice without a complete message in between, so that memory used by other peers meanwhile is not
            // attributed to this one.
            if held > most || isAmplified && connection.isAmplified { found.append((descriptor, held)) }
        }
        return found
    }
}
