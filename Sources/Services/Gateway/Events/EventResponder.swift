internal import ClusterClient
internal import Errors
internal import Foundation
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import ServiceLifecycle
internal import Synchronization
internal import Wire

/// Answers with the event log: as pages, or as a stream that can be resumed.
struct EventResponder: Sendable {
    /// The most streams, in all and of one client; a team may share a token.
    static let (most, maxEach) = (200, 16)
    /// How long the coordinator waits for the next event; then a comment is sent.
    static let wait = Duration.seconds(2)
    private static let commentEvery = 7

    let services: GatewayServices

    static func events(_ routed: RoutedRequest) async throws(Problem) -> Response {
        try await EventResponder(services: routed.services).respond(routed)
    }

    private func respond(_ routed: RoutedRequest) async throws(Problem) -> Response {
        let request = routed.request
        var after = UInt64(try routed.number("after", 0...Int.max) ?? 0)
        let job = UInt64(try routed.number("job", 1...Int.max) ?? 0)
        let accepts = request.headers[.accept]?.lowercased() ?? ""
        guard accepts.contains("text/event-stream") else {
            let limit = UInt32(try routed.number("limit", 1...1_000) ?? 100)
            return try await page(after, job, limit)
        }
        if let last = request.headers.value(.lastEventID) {
            guard let seq = UInt64(last), seq <= UInt64(Int.max) else {
                throw Problem(.badParameter, "Last-Event-ID is the number of an event.")
            }
            after = seq
        }
        // Proves that the coordinator answers before the stream begins.
        let first = try await services.cluster.ask { [after] in try await $0.events(after: after, limit: 1, job: job) }
        guard let ticket = services.streams.open(routed.caller.client) else {
            throw Problem(.tooManyRequests, "Too many event streams are open.", retryAfter: 10)
        }
        let isReset = after > 0 && first.first > after + 1
        return Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: ResponseBody { [after] writer in
                // A client whose connection was cut resumes at once: its old stream must not count any more.
                try await request.body.consumeWithInboundCloseHandler(
                    { _ in
                        try await stream(after, job, isReset: isReset, routed.caller, while: ticket, to: &writer)
                    }, onInboundClosed: { ticket.close() })
            })
    }

    private func page(_ after: UInt64, _ job: UInt64, _ limit: UInt32) async throws(Problem) -> Response {
        struct Page: Encodable, Sendable {
            let events: [PBEventRecord]
            /// The oldest and the newest event of the log.
            let first: UInt64
            let last: UInt64
        }
        let page = try await services.cluster.read("events \(after) \(job) \(limit)") {
            let answer = try await $0.events(after: after, limit: limit, job: job)
            return Page(events: answer.events, first: answer.first, last: answer.last)
        }
        return APIResponder.json(page)
    }

    /// Sends events until the client leaves or its token ends.
    private func stream(
        _ after: UInt64, _ job: UInt64, isReset: Bool, _ caller: Caller, while ticket: StreamCounts.Ticket,
        to writer: inout any ResponseBodyWriter
    ) async throws {
        var after = after
        if isReset { try await writer.write(ByteBuffer(string: "event: reset\ndata: {}\n\n")) }
        var turns = 0
        // The feed has the newest events only.
        var isBehind = true
        // A stream of a token that was removed ends.
        while !Task.isCancelled, !Task.isShuttingDownGracefully, ticket.isOpen, services.access.isKnown(caller) {
            let piece: EventPiece
            if job != 0 || isBehind {
                (piece, isBehind) = try await ask(after, job)
            } else if let found = try await services.feed?.next(after: after) {
                piece = found
            } else {
                isBehind = true
                continue
            }
            after = max(after, piece.last)
            turns = piece.text.readableBytes == 0 ? turns + 1 : 0
            if turns == 0 {
                try await writer.write(piece.text)
            } else if turns.isMultiple(of: Self.commentEvery) {
                try await writer.write(ByteBuffer(string: ": nothing new\n\n"))
            }
        }
        try await writer.finish(nil)
    }

    /// The events after a number, and whether more of them may be there.
    private func ask(_ after: UInt64, _ job: UInt64) async throws(Problem) -> (EventPiece, isBehind: Bool) {
        let answer = try await services.cluster.ask {
            try await $0.events(after: after, limit: UInt32(EventFeed.limit), wait: Self.wait, job: job)
        }
        let text = answer.events.map(services.eventTexts.text).joined()
        // Events of other jobs must not be asked for again.
        let last = answer.events.last?.seq ?? (job == 0 ? after : answer.last)
        return (EventPiece(text: ByteBuffer(string: text), last: last), last < answer.last)
    }
}

/// Counts the open streams.
final class StreamCounts: Sendable {
    /// Counts one stream until it is closed.
    final class Ticket: Sendable {
        private let counts: StreamCounts
        private let client: RateBuckets.Client
        private let open = Mutex(true)

        fileprivate init(_ counts: StreamCounts, _ client: RateBuckets.Client) {
            self.counts = counts
            self.client = client
        }

        deinit { close() }

        /// Whether the client is still there.
        var isOpen: Bool { open.withLock { $0 } }

        /// The client has left.
        func close() {
            let wasOpen = open.withLock { isOpen in
                defer { isOpen = false }
                return isOpen
            }
            if wasOpen { counts.close(client) }
        }
    }

    private let streams = Mutex<[RateBuckets.Client: Int]>([:])

    /// How many are open.
    var count: Int { streams.withLock { $0.values.reduce(0, +) } }

    /// Counts one more; `nil` when there are too many.
    func open(_ client: RateBuckets.Client) -> Ticket? {
        let isOpen = streams.withLock { streams -> Bool in
            guard streams.values.reduce(0, +) < EventResponder.most,
                streams[client, default: 0] < EventResponder.maxEach
            else { return false }
            streams[client, default: 0] += 1
            return true
        }
        return isOpen ? Ticket(self, client) : nil
    }

    private func close(_ client: RateBuckets.Client) {
        streams.withLock { streams in
            guard let count = streams[client] else { return }
            streams[client] = count > 1 ? count - 1 : nil
        }
    }
}
