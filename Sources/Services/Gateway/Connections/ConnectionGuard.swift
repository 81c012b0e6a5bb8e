internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import WebRequests

/// What guards share: limits, counts, and who is a proxy.
struct ConnectionRules: Sendable {
    var clock = ConnectionClock.Limits()
    /// Bytes of a head, without the bodies.
    var headBytes = 16 << 10
    /// Bytes of a request line's target.
    var targetBytes = RequestPath.most
    /// Bytes of a body.
    var bodyBytes = 4 << 20
    var counts = ConnectionCounts(most: 10_000, mostEach: 64)
    /// Peers whose connections are not counted by address.
    var proxies: [NetworkRange] = []
    var onCut: @Sendable (ConnectionClock.Cut) -> Void = { _ in }
}

/// Bounds of one connection: deadlines, sizes, and how many there are.
///
/// Two handlers share it, both on the connection's event loop: one sees bytes, the other sees requests and answers.
final class ConnectionGuard {
    private let rules: ConnectionRules
    private var clock: ConnectionClock
    private var network: NetworkAddress?
    private var isCounted = false
    private var timer: RepeatedTask?
    /// Bytes since the last complete head.
    private var headBytes = 0
    private var bodyBytes = 0
    private var isInHead = true
    /// Whether the connection is being closed, so that nothing more is read.
    private(set) var isClosing = false
    /// Whether the connection ends with the answer to the newest request.
    private var closesAfterAnswers = false

    init(_ rules: ConnectionRules) {
        self.rules = rules
        clock = ConnectionClock(rules.clock, now: Self.now)
    }

    private static var now: Double { Double(NIODeadline.now().uptimeNanoseconds) / 1e9 }

    // MARK: - Life

    func opened(_ channel: any Channel) {
        if let address = channel.remoteAddress?.ipAddress.flatMap(NetworkAddress.init),
            !rules.proxies.contains(where: { $0.contains(address) })
        {
            network = address.network
        }
        isCounted = rules.counts.open(network)
        guard isCounted else {
            // Not before the connection is set up.
            let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
            channel.eventLoop.execute { bound.value.cut(.tooMany, channel) }
            return
        }
        let all = [
            rules.clock.head, rules.clock.body, rules.clock.bodyGrace, rules.clock.idle, rules.clock.reader,
        ]
        let tick = TimeAmount.milliseconds(Int64(1_000 * max(0.02, min(5, (all.min() ?? 5) / 4))))
        // The timer ends with the connection.
        let loop = channel.eventLoop
        let bound = NIOLoopBound((self, channel), eventLoop: loop)
        timer = loop.scheduleRepeatedTask(initialDelay: tick, delay: tick) { _ in
            let (guardian, channel) = bound.value
            guard let cut = guardian.clock.verdict(Self.now) else { return }
            guardian.cut(cut, channel)
        }
    }

    func closed() {
        timer?.cancel()
        timer = nil
        isClosing = true
        if isCounted { rules.counts.close(network) }
        isCounted = false
    }

    private func cut(_ reason: ConnectionClock.Cut, _ channel: any Channel) {
        guard !isClosing else { return }
        isClosing = true
        rules.onCut(reason)
        channel.close(mode: .all, promise: nil)
    }

    // MARK: - Bytes

    /// Bytes are about to be read as a request.
    func read(_ count: Int) {
        guard isInHead else { return }
        headBytes += count
        clock.readHead(now: Self.now)
    }

    /// The bytes were read; refuses a head that is still not complete beyond its bound.
    func didRead(_ channel: any Channel) {
        if isInHead, headBytes > rules.headBytes + rules.targetBytes + 1_024 { cut(.oversize, channel) }
    }

    func write(_ count: Int) { clock.wrote(count, now: Self.now) }

    func flushed(_ count: Int) { clock.flushed(count, now: Self.now) }

    // MARK: - Requests

    /// What the head of a request leads to; `nil` lets it pass.
    func head(_ head: inout HTTPRequestHead) -> HTTPResponseStatus? {
        isInHead = false
        headBytes = 0
        bodyBytes = 0
        clock.endHead(now: Self.now)
        guard head.uri.utf8.count <= rules.targetBytes else { return .uriTooLong }
        let size = head.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        guard size <= rules.headBytes else { return .requestHeaderFieldsTooLarge }
        let hosts = head.headers[canonicalForm: "host"].count
        guard hosts == 1 || hosts == 0 && head.version == .http1_0 else { return .badRequest }
        if let text = head.headers.first(name: "content-length") {
            guard let length = Int(text) else { return .badRequest }
            guard length <= rules.bodyBytes else { return .payloadTooLarge }
        }
        // The decoder reads nothing more after a request for another protocol, which this server never changes to.
        let isLast = !head.isKeepAlive || head.method == .CONNECT || head.headers.contains(name: "upgrade")
        // The server closes after an answer only when the field is exactly this.
        if isLast { head.headers.replaceOrAdd(name: "connection", value: "close") }
        closesAfterAnswers = isLast
        return nil
    }

    /// Bytes of a body; `false` when there are too many.
    func body(_ count: Int, _ channel: any Channel) -> Bool {
        clock.readBody(count)
        bodyBytes += count
        guard bodyBytes > rules.bodyBytes else { return true }
        cut(.oversize, channel)
        return false
    }

    func endRequest() {
        isInHead = true
        clock.endRequest(now: Self.now)
    }

    func endAnswer() { clock.endAnswer(now: Self.now) }

    /// Whether the answer that begins now is the last one of the connection.
    var isLastAnswer: Bool { closesAfterAnswers && clock.isAtLastAnswer }

    /// Whether an answer can be written here: none is being made, and none was made for a request whose body is not
    /// complete.
    var mayAnswer: Bool { isInHead && !clock.isAnswering }

    /// Nothing more is read, because a refusal is being sent.
    func refuse(_ reason: ConnectionClock.Cut?) {
        isClosing = true
        if let reason { rules.onCut(reason) }
    }
}

/// Sees the bytes of a connection.
private final class ByteHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = IOData

    private let state: ConnectionGuard

    init(_ state: ConnectionGuard) { self.state = state }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !state.isClosing else { return }
        state.read(unwrapInboundIn(data).readableBytes)
        context.fireChannelRead(data)
        state.didRead(context.channel)
    }

    func channelInactive(context: ChannelHandlerContext) {
        state.closed()
        context.fireChannelInactive()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let count = unwrapOutboundIn(data).readableBytes
        state.write(count)
        let promise = promise ?? context.eventLoop.makePromise()
        let bound = NIOLoopBound(state, eventLoop: context.eventLoop)
        promise.futureResult.whenComplete { _ in bound.value.flushed(count) }
        context.write(data, promise: promise)
    }
}

/// Sees the requests and answers of a connection.
private final class RequestHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let state: ConnectionGuard

    init(_ state: ConnectionGuard) { self.state = state }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !state.isClosing else { return }
        switch unwrapInboundIn(data) {
        case .head(var head):
            let mayAnswer = state.mayAnswer
            if let status = state.head(&head) {
                refuse(status, context, mayAnswer: mayAnswer)
            } else {
                // A client that asks first sends no body without this; the size that it states was checked.
                if mayAnswer, head.version == .http1_1,
                    head.headers[canonicalForm: "expect"].contains(where: { $0.lowercased() == "100-continue" })
                {
                    let interim = HTTPResponseHead(version: .http1_1, status: .continue)
                    context.writeAndFlush(wrapOutboundOut(.head(interim)), promise: nil)
                }
                context.fireChannelRead(wrapInboundOut(.head(head)))
            }
        case .body(let bytes):
            if state.body(bytes.readableBytes, context.channel) { context.fireChannelRead(data) }
        case .end:
            state.endRequest()
            context.fireChannelRead(data)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is HTTPParserError || error is NIOHTTPDecoderError else {
            context.fireErrorCaught(error)
            return
        }
        guard !state.isClosing else { return }
        let isLarge = if case .headerOverflow? = error as? HTTPParserError { true } else { false }
        refuse(isLarge ? .requestHeaderFieldsTooLarge : .badRequest, context, mayAnswer: state.mayAnswer)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head) where state.isLastAnswer:
            head.headers.replaceOrAdd(name: "connection", value: "close")
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end:
            state.endAnswer()
            context.write(data, promise: promise)
        default: context.write(data, promise: promise)
        }
    }

    /// Answers without the rest of the server, and closes.
    private func refuse(_ status: HTTPResponseStatus, _ context: ChannelHandlerContext, mayAnswer: Bool) {
        state.refuse(status == .badRequest ? nil : .oversize)
        guard mayAnswer else {
            context.close(promise: nil)
            return
        }
        let headers: HTTPHeaders = ["connection": "close", "content-length": "0", "cache-control": "no-store"]
        context.write(
            wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))), promise: nil)
        // A connection that is closed while bytes come in is reset, and the client loses the answer. So only the
        // sending half ends now; what comes in is dropped for a while.
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
            channel.close(mode: .output, promise: nil)
            channel.eventLoop.scheduleTask(in: .seconds(2)) { channel.close(mode: .all, promise: nil) }
        }
    }
}

/// Puts the two handlers of a guard to their places in the pipeline of a new connection.
final class GuardInstaller: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Never

    private let rules: ConnectionRules
    /// TCP_NOTSENT_LOWAT of Linux (tcp(7)).
    private static let unsentLimit = NIOBSDSocket.Option(rawValue: 25)

    init(_ rules: ConnectionRules) { self.rules = rules }

    func handlerAdded(context: ChannelHandlerContext) {
        let state = ConnectionGuard(rules)
        let pipeline = context.pipeline.syncOperations
        do {
            let decoder = try pipeline.context(handlerType: ByteToMessageHandler<HTTPRequestDecoder>.self).handler
            try pipeline.addHandler(RequestHandler(state), position: .after(decoder))
            try pipeline.addHandler(ByteHandler(state), position: .first)
            // A quarter of NIO's, because the memory of a thousand slow downloads counts.
            try context.channel.syncOptions?.setOption(
                .writeBufferWaterMark, value: .init(low: 8 << 10, high: 16 << 10))
            #if os(Linux)
                // Without it the system keeps up to 4 MiB for each slow client. A thousand use up the memory that it has for
                // TCP (/proc/sys/net/ipv4/tcp_mem), and answers to all others stall.
                try context.channel.syncOptions?.setOption(
                    .tcpOption(Self.unsentLimit), value: 128 << 10)
            #endif
            state.opened(context.channel)
        } catch {
            // Without its bounds a connection is not served.
            context.close(promise: nil)
        }
    }
}
