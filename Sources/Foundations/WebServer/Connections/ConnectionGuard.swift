internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import WebRequests

/// What guards share: limits, counts, and who is a proxy.
package struct ConnectionRules: Sendable {
    /// The deadlines.
    package var clock = ConnectionClock.Limits()
    /// Bytes of a head, without the bodies.
    package var headBytes = 16 << 10
    /// Bytes of a request line's target.
    package var targetBytes = RequestPath.maxBytes
    /// Bytes of a body.
    package var bodyBytes = 4 << 20
    /// How many connections there may be.
    package var counts = ConnectionCounts(most: 10_000, maxEach: 64)
    /// Peers whose connections are not counted by address.
    package var proxies: [NetworkRange] = []
    /// Whether a connection may have more than one request.
    package var isKeptAlive = true
    /// Called when a connection is cut.
    package var onCut: @Sendable (ConnectionClock.Cut) -> Void = { _ in }

    /// The rules of a public server.
    package init() {}
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
    /// Whether the head of an answer was written and its end was not.
    private var hasBegunAnswer = false
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
        if let address = channel.peer,
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
            rules.clock.whole,
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
        if let refusal = Self.refusal(ofCoding: head) { return refusal }
        if let text = head.headers.first(name: "content-length") {
            guard let length = Int(text) else { return .badRequest }
            guard length <= rules.bodyBytes else { return .payloadTooLarge }
        }
        // The decoder reads nothing more after a request for another protocol, which this server never changes to.
        let isLast =
            !rules.isKeptAlive || !head.isKeepAlive || head.method == .CONNECT || head.headers.contains(name: "upgrade")
        // The server closes after an answer only when the field is exactly this.
        if isLast { head.headers.replaceOrAdd(name: "connection", value: "close") }
        closesAfterAnswers = isLast
        return nil
    }

    /// Why a body cannot be read as its head says it comes (RFC 9112, 6.1 and 6.3).
    private static func refusal(ofCoding head: HTTPRequestHead) -> HTTPResponseStatus? {
        guard head.headers.contains(name: "transfer-encoding") else { return nil }
        let codings = head.headers[canonicalForm: "transfer-encoding"].map { $0.lowercased() }
        if head.version == .http1_0 || head.headers.contains(name: "content-length") { return .badRequest }
        if codings == ["chunked"] { return nil }
        let isKnown = codings.allSatisfy { $0 == "chunked" || $0.isEmpty }
        return isKnown ? .badRequest : .notImplemented
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

    func beginAnswer() { hasBegunAnswer = true }

    func endAnswer() {
        hasBegunAnswer = false
        clock.endAnswer(now: Self.now)
    }

    /// Whether all requests before the newest one were answered.
    var isOnlyRequest: Bool { clock.isAtLastAnswer }

    /// Whether the answer that begins now is the last one of the connection.
    var isLastAnswer: Bool { closesAfterAnswers && (clock.isAtLastAnswer || !rules.isKeptAlive) }

    /// Whether an answer can be written here: none is being made, and none was made for a request whose body is not
    /// complete.
    var mayAnswer: Bool { isInHead && !clock.isAnswering }

    /// Whether an answer can be written here to the request whose body is being read, in place of that of the server.
    var mayAnswerInBody: Bool { !isInHead && clock.isAtLastAnswer && !hasBegunAnswer }

    /// Nothing more is read, because a refusal is being sent.
    func refuse(_ reason: ConnectionClock.Cut?) {
        isClosing = true
        if let reason { rules.onCut(reason) }
    }
}
