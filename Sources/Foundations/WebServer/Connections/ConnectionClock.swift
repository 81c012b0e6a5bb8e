/// The deadlines of one connection, as a value: `event(now)`, then ``verdict(_:)``.
///
/// A deadline of the request runs only while the server waits for the client: not while an answer is being made.
/// Times are seconds of a clock that never goes back.
package struct ConnectionClock: Sendable {
    /// The bounds.
    package struct Limits: Sendable, Hashable {
        /// Seconds for a request head, from its first byte.
        package var head = 10.0
        /// Seconds for a body.
        package var body = 60.0
        /// Bytes that a body must bring for each second, after ``bodyGrace`` seconds.
        package var bodyRate = 1_024.0
        /// Unit: seconds.
        package var bodyGrace = 5.0
        /// Seconds without a request.
        package var idle = 75.0
        /// Seconds in which a client must take something of an answer.
        package var reader = 60.0
        /// Seconds from the beginning of the connection to its end.
        package var whole = Double.infinity

        /// The bounds of a public server.
        package init() {}
    }

    /// Why a connection is cut.
    package enum Cut: String, Sendable, Hashable, CaseIterable {
        /// No request came.
        case idle
        /// A head was not complete in time.
        case slowHead = "slow-head"
        /// A body came too slowly.
        case slowBody = "slow-body"
        /// The client took nothing of an answer.
        case slowReader = "slow-reader"
        /// There were too many connections.
        case tooMany = "too-many"
        /// A head or a body was too long.
        case oversize
    }

    private enum Inbound: Sendable {
        case idle(since: Double)
        case head(since: Double)
        case body(since: Double, bytes: Double)
    }

    private let limits: Limits
    private let start: Double
    private var inbound: Inbound
    /// Requests whose answer did not end.
    private var open = 0
    /// Bytes that were given to the system and not taken.
    private var pending = 0
    /// When the client last took something, or had nothing to take.
    private var took: Double

    init(_ limits: Limits = Limits(), now: Double) {
        self.limits = limits
        start = now
        inbound = .idle(since: now)
        took = now
    }

    /// Whether no request is being read or answered.
    var isIdle: Bool {
        if case .idle = inbound { return open == 0 }
        return false
    }

    /// Whether an answer has begun or is being made.
    var isAnswering: Bool { open > 0 }

    /// Whether one answer is missing.
    var isAtLastAnswer: Bool { open == 1 }

    /// Bytes of a head came.
    mutating func readHead(now: Double) {
        if case .idle = inbound { inbound = .head(since: now) }
    }

    /// The head is complete.
    mutating func endHead(now: Double) {
        inbound = .body(since: now, bytes: 0)
        open += 1
    }

    /// Bytes of a body came.
    mutating func readBody(_ count: Int) {
        if case .body(let since, let bytes) = inbound { inbound = .body(since: since, bytes: bytes + Double(count)) }
    }

    /// The body is complete.
    mutating func endRequest(now: Double) { inbound = .idle(since: now) }

    /// The last byte of an answer was given to the system.
    mutating func endAnswer(now: Double) {
        open = max(0, open - 1)
        // A client that sent the next request early is not blamed for the time of the answer.
        switch inbound {
        case .idle: inbound = .idle(since: now)
        case .head: inbound = .head(since: now)
        case .body: break
        }
    }

    /// Bytes were given to the system.
    mutating func wrote(_ count: Int, now: Double) {
        if pending == 0 { took = now }
        pending += count
    }

    /// The system took bytes.
    mutating func flushed(_ count: Int, now: Double) {
        pending = max(0, pending - count)
        took = now
    }

    /// Whether the connection must be cut now.
    func verdict(_ now: Double) -> Cut? {
        if now - start >= limits.whole { return pending > 0 ? .slowReader : .idle }
        if pending > 0, now - took >= limits.reader { return .slowReader }
        switch inbound {
        case .idle(let since):
            return open == 0 && pending == 0 && now - since >= limits.idle ? .idle : nil
        case .head(let since): return open == 0 && now - since >= limits.head ? .slowHead : nil
        case .body(let since, let bytes):
            let time = now - since
            let isSlow = time > limits.bodyGrace && bytes < (time - limits.bodyGrace) * limits.bodyRate
            return time >= limits.body || isSlow ? .slowBody : nil
        }
    }
}
