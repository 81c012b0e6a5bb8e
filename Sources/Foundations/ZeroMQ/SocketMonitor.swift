internal import CZeroMQ
internal import Errors

/// Reads the events of one socket: changes of its connections.
final class SocketMonitor {
    enum Event {
        /// TCP is connected and the handshake is running.
        case connected
        /// A peer has connected to us; its descriptor.
        case accepted(Int32)
        case handshakeSucceeded
        /// The connection with this descriptor has ended.
        case disconnected(Int32)
        /// The handshake failed because the other side refused it, or sent something invalid; a sentence for people.
        case refused(String)
        /// The other side closed the connection during the handshake. A router does this for a wrong key, or when it
        /// ends.
        case broken
        /// No connection could be made: no process listens there.
        case unreachable
    }

    private static let events =
        ZMQ_EVENT_CONNECTED | ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED
        | ZMQ_EVENT_CLOSED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL
        | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH

    private let pair: Socket
    private let watched: Socket

    init(_ context: SocketContext, watching socket: Socket, at endpoint: String) throws(ZeroMQError) {
        watched = socket
        try socket.monitor(endpoint, events: Self.events)
        pair = try Socket(context, ZMQ_PAIR)
        try pair.set(ZMQ_LINGER, 0)
        try pair.connect(endpoint)
    }

    var pollItem: zmq_pollitem_t { pair.pollItem(ZMQ_POLLIN) }

    /// Must be called before the watched socket is closed.
    ///
    /// The events must end first: libzmq's I/O thread waits without limit when it has an event and no reader, and it
    /// blocks every connection of the context.
    func close() {
        watched.endMonitor()
        pair.close()
    }

    /// The next event without waiting.
    ///
    /// A part of six bytes, event and value (a descriptor or an error), then a part with the address.
    func next() -> Event? {
        while let message = pair.receive(maxParts: 2) {
            guard let head = message.parts.first, head.count >= 6 else { continue }
            let event = Int32(UInt16(head[0]) | UInt16(head[1]) << 8)
            let value = head[2..<6].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            switch event {
            case ZMQ_EVENT_CONNECTED: return .connected
            case ZMQ_EVENT_ACCEPTED: return .accepted(Int32(bitPattern: value))
            case ZMQ_EVENT_HANDSHAKE_SUCCEEDED: return .handshakeSucceeded
            case ZMQ_EVENT_DISCONNECTED: return .disconnected(Int32(bitPattern: value))
            case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
                return .refused("this process's key is not in its list of authorized keys")
            case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
                return .refused("it uses another protocol, or keys are given on one side only")
            case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL: return .broken
            case ZMQ_EVENT_CLOSED: return .unreachable
            default: continue
            }
        }
        return nil
    }
}
