internal import NIOCore
internal import NIOHTTP1

/// Installs the handlers of a guard in a new connection, and the one that answers on its loop.
final class GuardInstaller: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Never

    private let rules: ConnectionRules
    /// Makes answers on the loop; `nil` = a task makes all of them.
    private let answer: WebServer.Answerer?
    /// TCP_NOTSENT_LOWAT of Linux (tcp(7)).
    private static let unsentLimit = NIOBSDSocket.Option(rawValue: 25)

    init(_ rules: ConnectionRules, answer: WebServer.Answerer?) {
        self.rules = rules
        self.answer = answer
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let state = ConnectionGuard(rules)
        let pipeline = context.pipeline.syncOperations
        do {
            let decoder = try pipeline.context(handlerType: ByteToMessageHandler<HTTPRequestDecoder>.self).handler
            let requests = RequestHandler(state)
            try pipeline.addHandler(requests, position: .after(decoder))
            if let answer {
                let connection = WebServer.Connection(peer: context.channel.peer, loop: context.eventLoop)
                try pipeline.addHandler(LoopAnswers(state) { answer($0, connection) }, position: .after(requests))
            }
            try pipeline.addHandler(ByteHandler(state), position: .first)
            // A quarter of NIO's, because the memory of a thousand slow downloads counts.
            try context.channel.syncOptions?.setOption(
                .writeBufferWaterMark, value: .init(low: 8 << 10, high: 16 << 10))
            #if os(Linux)
                // Without it the system keeps up to 4 MiB for each slow client. A thousand use up the memory that it has for
                // TCP (/proc/sys/net/ipv4/tcp_mem), and answers to all others stall.
                if context.channel.localAddress?.port != nil {
                    try context.channel.syncOptions?.setOption(.tcpOption(Self.unsentLimit), value: 128 << 10)
                }
            #endif
            state.opened(context.channel)
        } catch {
            // Without its bounds a connection is not served.
            context.close(promise: nil)
        }
    }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        // Its work is done, and each handler takes memory of each idle connection.
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }
}
