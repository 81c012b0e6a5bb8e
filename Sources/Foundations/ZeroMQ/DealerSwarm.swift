internal import CZeroMQ
public import Errors

/// Many DEALER sockets on the calling thread, which look like a thousand workers to a router.
///
/// Only for measurements; a worker uses a ``DealerLink``. Not Sendable: its sockets belong to the thread that created
/// it.
public final class DealerSwarm {
    private let context: SocketContext
    private let sockets: [Socket]
    private var items: [zmq_pollitem_t]

    /// Connects `count` sockets.
    ///
    /// Does not wait for the connections.
    ///
    /// - Throws: ``ZeroMQError`` `bad-endpoint`, `plain-refused`, `bad-key` or `library-failed`; nothing stays open.
    public init(connect: String, security: LinkSecurity, count: Int, options: LinkOptions = LinkOptions())
        throws(ZeroMQError)
    {
        let endpoint = try Endpoint(connect)
        try endpoint.check(security, options: options, to: "connect")
        context = try SocketContext(maxSockets: Int32(clamping: count + 16))
        var sockets: [Socket] = []
        for _ in 0..<count {
            let socket = try Socket(context, ZMQ_DEALER)
            try socket.configure(options, endpoint, maxFrameBytes: options.maxFrameBytes.first ?? 256 << 10)
            if case .curveClient(let keys, let serverKey) = security {
                try socket.set(ZMQ_CURVE_SERVERKEY, serverKey.z85)
                try socket.set(ZMQ_CURVE_PUBLICKEY, keys.publicKey.z85)
                try socket.set(ZMQ_CURVE_SECRETKEY, keys.secret)
            }
            try socket.connect(endpoint.text)
            sockets.append(socket)
        }
        self.sockets = sockets
        items = sockets.map { $0.pollItem(ZMQ_POLLIN) }
    }

    /// Closes everything.
    ///
    /// Frames that libzmq still holds are lost after the linger time of the options.
    public func close() {
        for socket in sockets { socket.close() }
        context.terminate()
    }

    /// Waiting frames, at most 64 of each socket.
    ///
    /// Blocks for at most `limit` until there is one.
    ///
    /// - Throws: ``ZeroMQError`` `library-failed`.
    public func receive(upTo limit: Duration) throws(ZeroMQError) -> [(index: Int, frame: [UInt8])] {
        try PollThread.poll(&items, until: .now + limit)
        var found: [(index: Int, frame: [UInt8])] = []
        for (index, item) in items.enumerated() where item.revents != 0 {
            for _ in 0..<64 {
                guard let message = sockets[index].receive(maxParts: 1) else { break }
                if let frame = message.parts.first { found.append((index, frame)) }
            }
        }
        return found
    }

    /// Hands a frame of one of the sockets to libzmq.
    ///
    /// Returns false when its queue is full.
    public func send(_ frame: [UInt8], from index: Int) -> Bool { sockets[index].send(frame) == .sent }
}
