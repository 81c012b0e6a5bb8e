internal import CZeroMQ
internal import Errors
internal import Foundation

/// One libzmq context.
///
/// Used only on one thread, like its sockets: neither is Sendable.
final class SocketContext {
    fileprivate let raw: UnsafeMutableRawPointer

    /// A context for `maxSockets` sockets at most; libzmq's own limit is 1,023.
    init(maxSockets: Int32 = 1_023) throws(ZeroMQError) {
        guard let raw = zmq_ctx_new() else { throw Socket.failure("create a context") }
        self.raw = raw
        if zmq_ctx_set(raw, ZMQ_MAX_SOCKETS, maxSockets) != 0 { throw Socket.failure("set the number of sockets") }
    }

    /// Ends the context.
    ///
    /// Waits at most the longest linger time of its sockets, which must all be closed.
    func terminate() {
        while zmq_ctx_term(raw) != 0, zmq_errno() == EINTR {}
    }
}

/// One libzmq socket, owned by the thread that created it.
final class Socket {
    /// One received message: its first parts, and whether there were more than requested.
    struct Received {
        var parts: [[UInt8]] = []
        var hasMore = false
        /// All bytes and parts of the message, including discarded ones.
        var bytes = 0
        var count = 0
        var user: String?
        /// The descriptor of its connection, -1 when that is unknown.
        var descriptor: Int32 = -1
    }

    enum SendOutcome {
        case sent
        case full
        case unreachable
    }

    private let raw: UnsafeMutableRawPointer
    private let message = UnsafeMutablePointer<zmq_msg_t>.allocate(capacity: 1)
    private var isOpen = true

    init(_ context: SocketContext, _ type: Int32) throws(ZeroMQError) {
        guard let raw = zmq_socket(context.raw, type) else { throw Self.failure("create a socket") }
        self.raw = raw
    }

    deinit {
        close()
        message.deallocate()
    }

    func close() {
        guard isOpen else { return }
        isOpen = false
        zmq_close(raw)
    }

    func set(_ option: Int32, _ value: Int32) throws(ZeroMQError) {
        var value = value
        if zmq_setsockopt(raw, option, &value, MemoryLayout<Int32>.size) != 0 {
            throw Self.failure("set option \(option)")
        }
    }

    func set(_ option: Int32, wide value: Int64) throws(ZeroMQError) {
        var value = value
        if zmq_setsockopt(raw, option, &value, MemoryLayout<Int64>.size) != 0 {
            throw Self.failure("set option \(option)")
        }
    }

    func set(_ option: Int32, _ value: String) throws(ZeroMQError) {
        if zmq_setsockopt(raw, option, value, value.utf8.count) != 0 { throw Self.failure("set option \(option)") }
    }

    /// Binds and returns the endpoint with the port that was bound.
    func bind(_ endpoint: String) throws(ZeroMQError) -> String {
        guard zmq_bind(raw, endpoint) == 0 else {
            let number = zmq_errno()
            if number == EADDRINUSE {
                throw ZeroMQError(
                    .addressInUse,
                    "'\(endpoint)' is in use. Stop the process that listens there or choose another port.")
            }
            throw ZeroMQError(.badEndpoint, "Cannot listen at '\(endpoint)': \(Self.text(number)).")
        }
        var text = [CChar](repeating: 0, count: 1024)
        var length = text.count
        guard zmq_getsockopt(raw, ZMQ_LAST_ENDPOINT, &text, &length) == 0 else { return endpoint }
        return Z85.text(text)
    }

    func connect(_ endpoint: String) throws(ZeroMQError) {
        guard zmq_connect(raw, endpoint) == 0 else {
            throw ZeroMQError(.badEndpoint, "Cannot connect to '\(endpoint)': \(Self.text(zmq_errno())).")
        }
    }

    func monitor(_ endpoint: String, events: Int32) throws(ZeroMQError) {
        if zmq_socket_monitor(raw, endpoint, events) != 0 { throw Self.failure("watch a socket") }
    }

    /// Ends the events of ``monitor(_:events:)``.
    ///
    /// The reader of the events must still exist.
    func endMonitor() { zmq_socket_monitor(raw, nil, 0) }

    func pollItem(_ events: Int32) -> zmq_pollitem_t {
        zmq_pollitem_t(socket: raw, fd: 0, events: Int16(events), revents: 0)
    }

    /// The next complete message without waiting, or `nil`.
    ///
    /// Parts beyond `maxParts` are read and discarded.
    func receive(maxParts: Int) -> Received? {
        var received = Received()
        while true {
            zmq_msg_init(message)
            defer { zmq_msg_close(message) }
            guard zmq_msg_recv(message, raw, ZMQ_DONTWAIT) >= 0 else {
                // A message becomes readable as a whole, so only its first part may be missing.
                return nil
            }
            received.bytes += zmq_msg_size(message)
            received.count += 1
            if received.parts.count < maxParts {
                received.parts.append(
                    Array(UnsafeRawBufferPointer(start: zmq_msg_data(message), count: zmq_msg_size(message))))
            } else {
                received.hasMore = true
            }
            if zmq_msg_more(message) == 0 {
                received.user = zmq_msg_gets(message, "User-Id").map { String(cString: $0) }
                received.descriptor = zmq_msg_get(message, ZMQ_SRCFD)
                return received
            }
        }
    }

    /// Hands one part to libzmq without waiting.
    func send(_ bytes: [UInt8], more: Bool = false) -> SendOutcome {
        while true {
            let flags = ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)
            if bytes.withUnsafeBytes({ zmq_send(raw, $0.baseAddress, $0.count, flags) }) >= 0 { return .sent }
            switch zmq_errno() {
            case EINTR: continue
            case EAGAIN: return .full
            default: return .unreachable
            }
        }
    }

    static func failure(_ what: String) -> ZeroMQError {
        let number = zmq_errno()
        let text = "libzmq could not \(what): \(text(number))."
        guard [EMFILE, ENFILE, ENOMEM].contains(number) else { return ZeroMQError(.library, text) }
        return ZeroMQError(.noResources, text, hint: "raise the limits of open files and memory: ulimit -n, ulimit -v")
    }

    static func text(_ number: Int32) -> String { String(cString: zmq_strerror(number)) }
}

extension Socket {
    /// Sets the common options of every socket of a link.
    ///
    /// ZMTP's own heartbeats stay off. Once a peer's queue is full, libzmq 4.3.4 no longer reads its connection. When
    /// that connection is then reset, the next heartbeat writes to it and ends the whole process (`Assertion failed:
    /// !_io_error`). The kernel's keep-alive probes also find a host that has disappeared. See docs/decisions/0046.
    func configure(_ options: LinkOptions, _ endpoint: Endpoint, maxFrameBytes: Int) throws(ZeroMQError) {
        let seconds = max(1, LinkOptions.keepAlive.milliseconds / 1_000)
        try set(ZMQ_LINGER, options.linger.milliseconds)
        try set(ZMQ_SNDHWM, options.sendHighWater)
        try set(ZMQ_RCVHWM, options.receiveFrames(maxFrameBytes))
        try set(ZMQ_MAXMSGSIZE, wide: Int64(maxFrameBytes))
        try set(ZMQ_HANDSHAKE_IVL, LinkOptions.handshake.milliseconds)
        try set(ZMQ_TCP_KEEPALIVE, 1)
        try set(ZMQ_TCP_KEEPALIVE_IDLE, seconds)
        try set(ZMQ_TCP_KEEPALIVE_INTVL, seconds)
        try set(ZMQ_TCP_KEEPALIVE_CNT, 2)
        try set(ZMQ_TCP_MAXRT, seconds &* 3_000)
        try set(ZMQ_RECONNECT_IVL, options.reconnectMin.milliseconds)
        try set(ZMQ_RECONNECT_IVL_MAX, options.reconnectMax.milliseconds)
        if !endpoint.isIPv4 { try set(ZMQ_IPV6, 1) }
    }
}
