internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import NIOHTTP1

/// Answers requests on the event loop of their connection when the answer is ready at once.
///
/// These need no task, and none of the handlers that tasks need. All others go on to the task of the connection.
/// A request is answered here only when all earlier ones were answered, and when the client has taken what was written before; so
/// answers keep their order, and a client that reads nothing is bounded by the task.
final class LoopAnswers: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// Makes the answer to a request of this connection.
    typealias Answerer = (Request) -> WebServer.Answer

    /// What the task still has to do for a request.
    private struct Pending {
        /// `nil` for a request of which the task does everything.
        var head: HTTPRequest?
        var work: WebServer.Work?
    }

    private let state: ConnectionGuard
    private let answer: Answerer
    /// The head of a request whose end has not come.
    private var held: HTTPRequestHead?
    /// The requests that went on to the task, which takes them in this order.
    ///
    /// Most connections never have one, so it takes no memory before.
    private var pending: CircularBuffer<Pending>?
    private var hasWritten = false
    /// Whether the last answer of the connection was written.
    private var isEnded = false

    init(_ state: ConnectionGuard, answer: @escaping Answerer) {
        self.state = state
        self.answer = answer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isEnded else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            if mayAnswer(head, context) { held = head } else { pass(head, to: context) }
        case .body:
            if let head = held { pass(head, to: context) }
            context.fireChannelRead(data)
        case .end:
            guard let head = held else { return context.fireChannelRead(data) }
            guard let request = Request(head) else {
                pass(head, to: context)
                return context.fireChannelRead(data)
            }
            switch answer(request) {
            case .now(let whole):
                held = nil
                write(whole, context)
            case .later(let work):
                pass(head, left: Pending(head: request.head, work: work), to: context)
                context.fireChannelRead(data)
            }
        }
    }

    /// The work that is left for the next request of the task; `nil` = everything.
    ///
    /// Called once by the task for each request, on the loop.
    func takeWork(_ head: HTTPRequest) -> WebServer.Work? {
        guard let next = pending?.popFirst(), next.head == head else { return nil }
        return next.work
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if hasWritten { context.flush() }
        hasWritten = false
        context.fireChannelReadComplete()
    }

    private func mayAnswer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) -> Bool {
        (head.method == .GET || head.method == .HEAD) && head.version == .http1_1
            && head.uri.utf8.first == UInt8(ascii: "/")
            && state.isOnlyRequest && context.channel.isWritable && !head.headers.contains(name: "content-length")
            && !head.headers.contains(name: "transfer-encoding")
    }

    private func pass(
        _ head: HTTPRequestHead, left: Pending = Pending(), to context: ChannelHandlerContext
    ) {
        held = nil
        pending = pending ?? CircularBuffer(initialCapacity: 1)
        pending?.append(left)
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    private func write(_ answer: WholeAnswer, _ context: ChannelHandlerContext) {
        let isLast = state.isLastAnswer
        let status = HTTPResponseStatus(statusCode: answer.status.code, reasonPhrase: answer.status.reasonPhrase)
        let headers = HTTPHeaders(answer.headers.map { ($0.name.rawName, $0.value) })
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if let body = answer.body, body.readableBytes > 0 {
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        }
        context.write(wrapOutboundOut(.end(nil)), promise: nil)
        hasWritten = true
        guard isLast else { return }
        // As the task does after its last answer: the client closes the rest.
        isEnded = true
        context.flush()
        context.close(mode: .output, promise: nil)
    }
}

extension Request {
    /// A request without a body, as the codec of the task would make it; `nil` for one that only that can read.
    fileprivate init?(_ head: HTTPRequestHead) {
        let method: HTTPRequest.Method
        switch head.method {
        case .GET: method = .get
        case .HEAD: method = .head
        default: return nil
        }
        var fields = HTTPFields()
        fields.reserveCapacity(head.headers.count)
        var host: String?
        for (name, value) in head.headers {
            if host == nil, name.utf8.count == 4, name.lowercased() == "host" {
                host = value
            } else if let name = HTTPField.Name(name) {
                fields.append(HTTPField(name: name, value: value))
            }
        }
        self.init(
            head: HTTPRequest(method: method, scheme: "http", authority: host, path: head.uri, headerFields: fields),
            body: RequestBody(buffer: ByteBuffer()))
    }
}
