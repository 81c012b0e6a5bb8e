internal import MetricsFormat
internal import NIOCore
internal import NIOHTTP1

/// Answers the one request of a connection, and closes it.
final class MetricsHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let source: PageSource
    private let time: TimeAmount
    private var deadline: Scheduled<Void>?
    private var isAnswered = false

    private init(_ source: PageSource, _ time: TimeAmount) {
        self.source = source
        self.time = time
    }

    /// Adds the bounds, the codec and the handler to a new connection.
    static func install(in channel: any Channel, _ source: PageSource, _ limits: MetricsServer.Limits) throws {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(RequestLimit(limits.requestBytes))
        try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: false)
        try pipeline.addHandler(MetricsHandler(source, limits.time))
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        // Neither a slow request nor a slow reader keeps a connection.
        deadline = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // A body is not read: the head decides.
        guard case .head(let head) = unwrapInboundIn(data) else { return }
        let path = head.uri.prefix { $0 != "?" }
        guard path == "/metrics" else { return answer(.notFound, "The only page is /metrics.\n", head, context) }
        guard head.method == .GET || head.method == .HEAD else {
            return answer(.methodNotAllowed, "Use GET or HEAD.\n", head, context)
        }
        guard let page = source.page else {
            return answer(.serviceUnavailable, "The program is starting.\n", head, context)
        }
        answer(.ok, page, head, context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case is RequestLimit.Exceeded: answer(.requestHeaderFieldsTooLarge, "The request is too large.\n", nil, context)
        case is HTTPParserError: answer(.badRequest, "The request cannot be read.\n", nil, context)
        default: context.close(promise: nil)
        }
    }

    private func answer(
        _ status: HTTPResponseStatus, _ body: String, _ request: HTTPRequestHead?, _ context: ChannelHandlerContext
    ) {
        guard !isAnswered else { return }
        isAnswered = true
        var headers: HTTPHeaders = [
            "content-type": status == .ok ? MetricsText.contentType : "text/plain; charset=utf-8",
            "content-length": "\(body.utf8.count)", "cache-control": "no-store", "connection": "close",
        ]
        if status == .methodNotAllowed { headers.add(name: "allow", value: "GET, HEAD") }
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if request?.method != .HEAD {
            context.write(
                wrapOutboundOut(.body(.byteBuffer(context.channel.allocator.buffer(string: body)))), promise: nil)
        }
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
            // A connection that is closed while bytes come in is reset, and the client loses the answer. So only the sending half
            // ends now; what comes in is dropped for a while.
            channel.close(mode: .output, promise: nil)
            channel.eventLoop.scheduleTask(in: .milliseconds(500)) { channel.close(promise: nil) }
        }
    }
}

/// Refuses a connection that sends more than a request needs.
final class RequestLimit: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// Too many bytes came.
    struct Exceeded: Error {}

    private let most: Int
    private var count = 0

    init(_ most: Int) { self.most = most }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let wasWithin = count <= most
        count += unwrapInboundIn(data).readableBytes
        if count <= most {
            context.fireChannelRead(data)
        } else if wasWithin {
            context.fireErrorCaught(Exceeded())
        }
    }
}
