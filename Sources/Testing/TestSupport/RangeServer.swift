import Synchronization

/// A server of one file that answers requests for parts, for tests of remote archives; it can simulate many kinds of
/// servers.
public final class RangeServer: Sendable {
    /// How it behaves.
    public struct Manner: Sendable {
        /// The validators in its answers.
        public enum Validator: Sendable, CaseIterable { case etag, weakETag, lastModified, none }
        /// See ``Validator``.
        public var validator = Validator.etag
        /// Answers with the whole file, whatever is asked for.
        public var ignoresRange = false
        /// Answers with the part one byte further on.
        public var isShifted = false
        /// Looks at If-Match and If-Unmodified-Since.
        public var heedsConditions = true
        /// Each first answer for a range ends after half of its bytes.
        public var cutsFirst = false
        /// Names one of two versions in turns, as two machines behind one address do.
        public var alternates = false
        /// Redirects requests to another path first.
        public var redirects = false
        /// As a good server.
        public init() {}
    }
    private struct State: Sendable {
        var bytes: [UInt8]
        var number = 1
        var sent = 0
        var whenAsked: (request: Int, bytes: [UInt8])?
        var asked = 0
        /// The status of answers after a number of requests, and how many there are.
        var refusal: (status: Int, after: Int, times: Int)?
        /// Numbers the versions that answers name in turns.
        var turns = 0
    }
    private final class Shelf: Sendable {
        let state: Mutex<State>
        init(_ bytes: [UInt8]) { state = Mutex(State(bytes: bytes)) }
    }
    private let shelf: Shelf
    private let server: ScriptedServer

    /// Serves `bytes` at ``url``.
    public init(_ bytes: [UInt8], _ manner: Manner = Manner()) throws {
        let shelf = Shelf(bytes)
        self.shelf = shelf
        server = try ScriptedServer { request in
            if manner.redirects, !request.path.hasPrefix("/real") {
                return .reply(302, headers: [("Location", "/real\(request.path)")])
            }
            let (bytes, number, refusal) = shelf.state.withLock { state in
                state.asked += 1
                if manner.alternates { state.turns += 1 }
                if let (request, bytes) = state.whenAsked, state.asked > request {
                    (state.bytes, state.number, state.whenAsked) = (bytes, state.number + 1, nil)
                }
                let isRefused =
                    state.refusal.map { state.asked > $0.after && state.asked <= $0.after + $0.times } ?? false
                return (state.bytes, state.number + state.turns % 2, isRefused ? state.refusal?.status : nil)
            }
            if let refusal { return .reply(refusal, headers: [("Content-Type", "application/xml")]) }
            let answer = Self.answer(request, from: bytes, number: number, manner: manner)
            if case .reply(_, _, let body) = answer { shelf.state.withLock { $0.sent += body.count } }
            return answer
        }
    }

    private static func answer(
        _ request: ScriptedServer.Request, from bytes: [UInt8], number: Int, manner: Manner
    ) -> ScriptedServer.Answer {
        var headers: [(String, String)] = []
        switch manner.validator {
        case .etag: headers.append(("ETag", "\"v\(number)\""))
        case .weakETag: headers.append(("ETag", "W/\"v\(number)\""))
        case .lastModified: headers.append(("Last-Modified", "Mon, 23 Nov 2026 00:00:0\(number % 10) GMT"))
        case .none: break
        }
        if manner.ignoresRange { return .reply(200, headers: headers, body: bytes) }
        if manner.heedsConditions {
            if let wanted = request.headers["if-match"], wanted != "\"v\(number)\"" { return .reply(412) }
            if let wanted = request.headers["if-unmodified-since"], headers.last?.1 != wanted { return .reply(412) }
        }
        let ends = (request.headers["range"] ?? "").dropFirst("bytes=".count).split(separator: "-").compactMap {
            Int($0)
        }
        guard ends.count == 2, ends[0] <= ends[1] else { return .reply(400) }
        guard ends[0] < bytes.count else { return .reply(416) }
        let start = min(ends[0] + (manner.isShifted && ends[0] > 0 ? 1 : 0), bytes.count - 1)
        let end = min(ends[1] + 1, bytes.count)
        headers.append(("Content-Range", "bytes \(start)-\(end - 1)/\(bytes.count)"))
        if manner.cutsFirst, ends[0] > 0, end - start > 1, !request.path.contains("whole"), isFirst(request) {
            var text = "HTTP/1.1 206 Part\r\nContent-Length: \(end - start)\r\n"
            for (name, value) in headers { text += "\(name): \(value)\r\n" }
            return .raw(Array((text + "\r\n").utf8) + bytes[start..<start + (end - start) / 2])
        }
        return .reply(206, headers: headers, body: Array(bytes[start..<end]))
    }

    /// Every second request is cut: the one after it goes on.
    private static func isFirst(_ request: ScriptedServer.Request) -> Bool { request.earlier.isMultiple(of: 2) }

    /// The address of the file.
    public var url: String { "\(server.url)/planet.pmtiles" }

    /// Every request so far.
    public var requests: [ScriptedServer.Request] { server.requests }

    /// Bytes of bodies sent so far.
    public var sent: Int { shelf.state.withLock(\.sent) }

    /// Replaces the file by another version.
    public func replace(with bytes: [UInt8]) {
        shelf.state.withLock { ($0.bytes, $0.number) = (bytes, $0.number + 1) }
    }

    /// Replaces the file by another version after a number of further requests.
    public func replace(with bytes: [UInt8], afterRequests count: Int) {
        shelf.state.withLock { $0.whenAsked = ($0.asked + count, bytes) }
    }

    /// Answers requests after a number of further ones with a status; without a number of times for good.
    public func refuse(with status: Int, afterRequests count: Int = 0, times: Int = 1 << 40) {
        shelf.state.withLock { $0.refusal = (status, $0.asked + count, times) }
    }

    /// Closes everything.
    public func stop() { server.stop() }
}
