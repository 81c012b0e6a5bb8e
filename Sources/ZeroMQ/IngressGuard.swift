/// Finds peers that fill this process's memory with a message they never finish.
///
/// libzmq bounds frames and whole messages, but not the parts of an unfinished one, which nobody sees. What a connection has
/// received (TCP_INFO) less what still waits in the kernel, less what was delivered, is what libzmq holds of it. An honest peer
/// sends one frame a message: once its socket has been read empty, at most one frame is missing
/// (docs/decisions/0018-roles-and-ingress-guard.md).
///
/// Pure: the poll thread asks the kernel and cuts.
struct IngressGuard {
    /// What one endpoint's peers may keep unfinished.
    struct Limit: Sendable {
        /// Largest frame.
        let frame: Int64
        /// Whole messages that libzmq queues from one peer while nobody reads.
        let queue: Int64
        /// Whether a few bytes of wire may cost many of memory.
        ///
        /// Two bytes, an empty part, cost 64; under CURVE a part has at least 35.
        let isPlain: Bool
    }

    /// What the kernel says of a connection.
    ///
    /// `received` is asked before `waiting`, so that their difference is never too much.
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
        /// Whether the last look found that the unfinished message costs many times its bytes.
        fileprivate var isAmplified = false
    }

    /// Room for what is estimated: framing, handshake, libzmq's read buffer of 8 KiB.
    static let slack: Int64 = 64 << 10
    /// Memory that may be gained while a plain peer's message is unfinished, and how many times its bytes that is.
    static let amplified: (memory: Int64, factor: Int64) = (24 << 20, 8)
    /// Bytes of framing credited with each part: 9 of ZMTP and 33 of CURVE, rounded up.
    static let partCredit: Int64 = 64
    /// Bytes credited for each second since the last message: two ZMTP heartbeats every 5 s are 18.
    static let heartbeatCredit: Int64 = 32
    /// Three multipart messages in a minute close a connection.
    static let mostStrikes = 3

    private let limits: [Limit]
    private(set) var connections: [Int32: Connection] = [:]
    private var routes: [[UInt8]: Int32] = [:]

    init(_ limits: [Limit]) { self.limits = limits }

    mutating func accepted(
        _ descriptor: Int32, endpoint: Int, inode: UInt64, memory: Int64, at now: ContinuousClock.Instant
    ) {
        gone(descriptor)
        connections[descriptor] = Connection(
            endpoint: endpoint, inode: inode, deliveredAt: now, memoryBefore: memory)
    }

    mutating func gone(_ descriptor: Int32) {
        guard let connection = connections.removeValue(forKey: descriptor) else { return }
        if let route = connection.route, routes[route] == descriptor { routes[route] = nil }
    }

    /// Which connection a route names; routes are numbered per socket, so the endpoint must fit too.
    func descriptor(endpoint: Int, route: [UInt8]) -> Int32? {
        routes[[UInt8(truncatingIfNeeded: endpoint)] + route]
    }

    /// A whole message was read.
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

    /// Counts a message that is not one frame; whether the connection must go.
    mutating func strike(_ descriptor: Int32, at now: ContinuousClock.Instant) -> Bool {
        guard var connection = connections[descriptor] else { return false }
        connection.strikes = connection.strikes.filter { now - $0 < .seconds(60) } + [now]
        connections[descriptor] = connection
        return connection.strikes.count >= Self.mostStrikes
    }

    /// Notes what the kernel says of every connection; those it no longer knows are forgotten.
    mutating func look(_ ask: (Int32, Connection) -> Sample?) {
        for (descriptor, connection) in connections {
            guard let sample = ask(descriptor, connection) else { continue }
            connections[descriptor]?.sample = sample
            // More was credited than came: nobody may save that up.
            connections[descriptor]?.delivered = min(connection.delivered, sample.received)
        }
    }

    /// The connections of an endpoint that hold too much, as of the last look.
    ///
    /// - Parameters:
    ///   - isDrained: Whether the endpoint's socket has been read empty since the last look.
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
            // Twice with no whole message between: what others gained meanwhile is not taken for its fault.
            if held > most || isAmplified && connection.isAmplified { found.append((descriptor, held)) }
        }
        return found
    }
}
