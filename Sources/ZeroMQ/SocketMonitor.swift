internal import CZeroMQ
internal import Errors

/// Reads the events of one socket: what happens to its connections below the messages.
final class SocketMonitor {
    enum Event {
        /// TCP is up, the handshake runs.
        case connected
        /// A peer has connected to us; its descriptor.
        case accepted(Int32)
        case handshakeSucceeded
        /// The connection with this descriptor has ended.
        case disconnected(Int32)
        /// The handshake failed by the other side's word or for what it said; a sentence for people.
        case refused(String)
        /// The other side went away during the handshake, which is how a router answers a wrong key, or dies.
        case broken
        /// No connection could be made: nobody listens.
        case unreachable
    }

    private static let events =
        ZMQ_EVENT_CONNECTED | ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED
        | ZMQ_EVENT_CLOSED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL
        | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH

    private let pair: Socket
    private let watched: Socket

    init(_ context: SocketContext, _ socket: Socket, _ endpoint: String) throws(ZeroMQError) {
        watched = socket
        try socket.monitor(endpoint, events: Self.events)
        pair = try Socket(context, ZMQ_PAIR)
        try pair.set(ZMQ_LINGER, 0)
        try pair.connect(endpoint)
    }

    var pollItem: zmq_pollitem_t { pair.pollItem(ZMQ_POLLIN) }

    /// To be called before the watched socket is closed.
    ///
    /// The events end first: libzmq's I/O thread waits for ever, and with it every connection of the context, when it has one to tell and
    /// nobody is there to read it.
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
                return .refused("our key is not in its list of authorized keys")
            case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
                return .refused("it does not speak our protocol; are keys given on one side only?")
            case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL: return .broken
            case ZMQ_EVENT_CLOSED: return .unreachable
            default: continue
            }
        }
        return nil
    }
}
