internal import NIOCore
internal import NIOHTTP1

/// Sees the bytes of a connection.
final class ByteHandler: ChannelDuplexHandler {
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
final class RequestHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let state: ConnectionGuard
    private var isRefused = false

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
        refuse(
            isLarge ? .requestHeaderFieldsTooLarge : .badRequest, context,
            mayAnswer: state.mayAnswer || state.mayAnswerInBody)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // The answer of the server comes after a refusal in its place.
        guard !isRefused else { return promise?.succeed() ?? () }
        switch unwrapOutboundIn(data) {
        case .head(var head):
            // 100 Continue is no answer yet.
            if head.status.code >= 200 { state.beginAnswer() }
            if state.isLastAnswer { head.headers.replaceOrAdd(name: "connection", value: "close") }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end:
            state.endAnswer()
            context.write(data, promise: promise)
        default: context.write(data, promise: promise)
        }
    }

    /// Answers without the rest of the server, and closes.
    private func refuse(_ status: HTTPResponseStatus, _ context: ChannelHandlerContext, mayAnswer: Bool) {
        state.refuse([.badRequest, .notImplemented].contains(status) ? nil : .oversize)
        isRefused = true
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
