internal import CZeroMQ
internal import Errors
internal import Logging
internal import Telemetry

/// Answers libzmq's questions whether a key may connect (ZeroMQ RFC 27).
///
/// Used on the router's poll thread. Bound before any other socket of its context: with an enforced domain libzmq
/// accepts no peer while the handler is missing.
final class ZAPHandler {
    /// The domain of all Packhorse sockets.
    static let domain = "packhorse"

    private let socket: Socket
    private let list: AllowList
    private let logger: Logger?
    private(set) var refused = 0

    init(_ context: SocketContext, allowing list: AllowList, logger: Logger?) throws(ZeroMQError) {
        self.list = list
        self.logger = logger
        socket = try Socket(context, ZMQ_REP)
        try socket.set(ZMQ_LINGER, 0)
        _ = try socket.bind("inproc://zeromq.zap.01")
    }

    var pollItem: zmq_pollitem_t { socket.pollItem(ZMQ_POLLIN) }

    func close() { socket.close() }

    /// Answers the waiting questions, at most 64 of them.
    func answer() {
        for _ in 0..<64 {
            guard let request = socket.receive(maxParts: 7) else { return }
            let reply = verdict(request)
            for (index, part) in reply.enumerated() {
                guard socket.send(part, more: index + 1 < reply.count) == .sent else { break }
            }
        }
    }

    /// The answer to a request: version, request id, status, text, user id, metadata.
    ///
    /// The user id is the key itself. Names and roles are looked up for every message, so that a change affects open
    /// connections.
    ///
    /// Request: version, id, domain, address, routing id, mechanism, credentials.
    private func verdict(_ request: Socket.Received) -> [[UInt8]] {
        let parts = request.parts
        let id = parts.count > 1 ? parts[1] : []
        guard parts.count == 7, !request.hasMore, parts[0].elementsEqual("1.0".utf8),
            parts[2].elementsEqual(Self.domain.utf8), parts[5].elementsEqual("CURVE".utf8),
            let key = PublicKey(bytes: parts[6])
        else { return refuse(id, status: "400", reason: "bad request") }
        guard list.entry(of: key) != nil else {
            logger?.info(
                "Peer with an unknown key refused",
                metadata: [
                    LogKey.peerKey: "\(key)",
                    LogKey.peerAddress: "\(String(decoding: parts[3], as: UTF8.self))",
                ])
            return refuse(id, status: "400", reason: "unknown key")
        }
        return [Array("1.0".utf8), id, Array("200".utf8), Array("OK".utf8), Array(key.z85.utf8), []]
    }

    private func refuse(_ id: [UInt8], status: String, reason text: String) -> [[UInt8]] {
        refused += 1
        return [Array("1.0".utf8), id, Array(status.utf8), Array(text.utf8), [], []]
    }
}
