/// The delivery of notifications to one receiver as a value: `handle(event, now) -> effects`.
///
/// One request at a time, in the order of the log. A request that gets no final answer is repeated after a wait of 1 s,
/// which doubles up to 5 min, until the event is 24 h old. Then it is dropped, and the wait stays as it is: a receiver
/// that is gone costs one request in five minutes.
public struct Delivery: Sendable {
    /// What happened.
    public enum Event: Sendable {
        /// A pause is over, or the log may have new lines.
        case woken
        /// The next notifications after ``Delivery/position``; empty at the end of the log.
        case read([LoggedNotification])
        /// The log could not be read.
        case unreadable
        /// The receiver answered.
        ///
        /// - Parameter retryAfter: What its Retry-After asks for; milliseconds.
        case answered(status: Int, retryAfter: Int64?)
        /// No answer came; the text says why.
        case unanswered(String)
    }

    /// What the caller must do, in this order.
    ///
    /// The last effect, and only it, is `read`, `send`, `pause` or `wait`; its result is the next event.
    public enum Effect: Hashable, Sendable {
        /// Make the position durable.
        case save(UInt64)
        /// Log it.
        case report(Report)
        /// Read the next notifications after this position.
        case read(after: UInt64)
        /// Send a request.
        case send(LoggedNotification)
        /// Wait so many milliseconds.
        case pause(Int64)
        /// Wait until the log may have new lines.
        case wait
    }

    /// What an operator should know.
    public enum Report: Hashable, Sendable {
        /// The first of several requests got no final answer.
        case failing(LoggedNotification, why: String)
        /// Requests are answered again.
        case recovered(failures: Int)
        /// The receiver does not want this notification; it is not sent again.
        case refused(LoggedNotification, status: Int)
        /// The notification is too old to be sent again.
        case dropped(LoggedNotification, why: String)
    }

    /// The requests that failed since the last final answer.
    public struct Trouble: Hashable, Sendable {
        /// How many.
        public var failures: Int
        /// Why the last one failed.
        public var why: String
        /// When the event happened that waits; milliseconds since 1970.
        public var waitsSince: Int64
    }

    /// The number of the last event that needs no further request.
    public private(set) var position: UInt64
    /// `nil` while requests are answered.
    public private(set) var trouble: Trouble?
    private var queue: ArraySlice<LoggedNotification> = []

    static let firstPause: Int64 = 1_000
    static let longestPause: Int64 = 300_000
    static let longestAge: Int64 = 86_400_000
    /// The pause after a failed read of the log, which the coordinator repeats too.
    static let pauseOfReads: Int64 = 5_000

    /// Begins after a position.
    public init(position: UInt64) { self.position = position }

    /// Handles an event.
    ///
    /// - Parameter now: Milliseconds since 1970.
    public mutating func handle(_ event: Event, now: Int64) -> [Effect] {
        switch event {
        case .woken: return [next]
        case .read(let page):
            queue = page[...]
            return [queue.isEmpty ? .wait : next]
        case .unreadable: return [.pause(Self.pauseOfReads)]
        case .answered(let status, let retryAfter):
            switch status {
            case 200..<300: return finish(nil)
            case 408, 425, 429: return fail("HTTP \(status)", retryAfter: retryAfter, now: now)
            case 400..<500: return finish(queue.first.map { .refused($0, status: status) })
            default: return fail("HTTP \(status)", retryAfter: retryAfter, now: now)
            }
        case .unanswered(let why): return fail(why, retryAfter: nil, now: now)
        }
    }

    private var next: Effect { queue.first.map { Effect.send($0) } ?? .read(after: position) }

    /// The receiver gave a final answer.
    private mutating func finish(_ report: Report?) -> [Effect] {
        var effects = [removeFirst(), report.map { Effect.report($0) }].compactMap { $0 }
        if let trouble, report == nil { effects.append(.report(.recovered(failures: trouble.failures))) }
        trouble = nil
        return effects + [next]
    }

    private mutating func fail(_ why: String, retryAfter: Int64?, now: Int64) -> [Effect] {
        guard let first = queue.first else { return [next] }
        let failures = (trouble?.failures ?? 0) + 1
        trouble = Trouble(failures: failures, why: why, waitsSince: first.wall)
        var effects: [Effect] = []
        if failures == 1 { effects.append(.report(.failing(first, why: why))) }
        if now - first.wall >= Self.longestAge {
            if let save = removeFirst() { effects.append(save) }
            effects.append(.report(.dropped(first, why: why)))
        }
        let doubled = min(Self.firstPause << Int64(min(failures - 1, 20)), Self.longestPause)
        return effects + [.pause(max(doubled, min(retryAfter ?? 0, Self.longestAge)))]
    }

    private mutating func removeFirst() -> Effect? {
        guard let first = queue.popFirst() else { return nil }
        position = first.content.seq
        return .save(position)
    }
}
