import Synchronization

/// An S3 server in memory for tests, without signatures: objects of one bucket, with or without comparisons.
public final class ScriptedBucket: Sendable {
    /// What it compares before it stores an object.
    public enum Comparison: String, Sendable, CaseIterable {
        /// `If-None-Match` and `If-Match`.
        case all
        /// `If-None-Match` alone.
        case absence
        /// Nothing: it ignores the headers.
        case none
        /// It answers 501 to a request with one of the headers.
        case refused
    }

    /// What happens to a request.
    public enum Fate: Sendable {
        /// It is carried out and answered.
        case answered
        /// It is carried out, and the connection ends without an answer.
        case unanswered
        /// It is answered with this status and changes nothing.
        case refused(Int)
    }

    /// A request about an object.
    public struct Request: Sendable {
        /// GET, PUT, HEAD or DELETE.
        public let method: String
        /// The name of the object, without the bucket.
        public let name: String
        /// The value of `If-None-Match` or `If-Match`.
        public let condition: String?
        /// How many requests with the same method and name came before.
        public let earlier: Int
    }

    private struct State {
        var objects: [String: [UInt8]] = [:]
        var requests: [Request] = []
    }

    /// The name of the bucket.
    public static let name = "maps"

    private let comparison: Comparison
    private let state = Mutex(State())
    private let fate: @Sendable (Request, inout [String: [UInt8]]) -> Fate
    private let server = Mutex<ScriptedServer?>(nil)

    /// - Parameter fate: Decides about each request before it is carried out; it may change the objects, as another
    ///   publisher does.
    public init(
        _ comparison: Comparison,
        _ fate: @escaping @Sendable (Request, inout [String: [UInt8]]) -> Fate = { _, _ in .answered }
    ) throws {
        self.comparison = comparison
        self.fate = fate
        let running = try ScriptedServer { [weak self] request in self?.answer(request) ?? .reply(503) }
        server.withLock { $0 = running }
    }

    /// `http://127.0.0.1:port`.
    public var url: String { server.withLock { $0?.url } ?? "" }

    /// The objects by name.
    public var objects: [String: [UInt8]] { state.withLock { $0.objects } }

    /// The requests about objects so far.
    public var requests: [Request] { state.withLock { $0.requests } }

    /// Puts an object as another program does; `nil` removes it.
    public func set(_ name: String, _ bytes: [UInt8]?) { state.withLock { $0.objects[name] = bytes } }

    /// Ends the server.
    public func stop() { server.withLock { $0?.stop() } }

    /// The entity tag of bytes; equal for equal bytes, as with S3.
    public static func tag(_ bytes: [UInt8]) -> String {
        let hash = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return "\"\(hash)-\(bytes.count)\""
    }

    private func answer(_ sent: ScriptedServer.Request) -> ScriptedServer.Answer {
        let parts = sent.path.split(separator: "?", maxSplits: 1)
        let path = parts.first.map { $0.dropFirst("/\(Self.name)".count) } ?? ""
        guard path.hasPrefix("/") else { return state.withLock { .reply(200, body: Self.list($0.objects)) } }
        let name = String(path.dropFirst())
        return state.withLock { state in
            let request = Request(
                method: sent.method, name: name,
                condition: sent.headers["if-none-match"] ?? sent.headers["if-match"],
                earlier: state.requests.count { $0.method == sent.method && $0.name == name })
            state.requests.append(request)
            switch fate(request, &state.objects) {
            case .refused(let status): return .reply(status)
            case .answered: return carryOut(sent, on: name, in: &state.objects)
            case .unanswered:
                _ = carryOut(sent, on: name, in: &state.objects)
                return .raw([])
            }
        }
    }

    private func carryOut(
        _ sent: ScriptedServer.Request, on name: String, in objects: inout [String: [UInt8]]
    ) -> ScriptedServer.Answer {
        let old = objects[name]
        switch sent.method {
        case "PUT":
            if let status = refusal(sent.headers, old) { return .reply(status) }
            objects[name] = sent.body
            return .reply(200, headers: [("ETag", Self.tag(sent.body))])
        case "DELETE":
            objects[name] = nil
            return .reply(204)
        default:
            guard let old else {
                return .reply(404, body: Array("<Error><Code>NoSuchKey</Code></Error>".utf8))
            }
            return .reply(200, headers: [("ETag", Self.tag(old))], body: old)
        }
    }

    /// The status for a put whose condition is false, or not known.
    private func refusal(_ headers: [String: String], _ old: [UInt8]?) -> Int? {
        let (absent, unchanged) = (headers["if-none-match"] != nil, headers["if-match"])
        guard absent || unchanged != nil else { return nil }
        switch comparison {
        case .refused: return 501
        case .none: return nil
        case .absence: return absent && old != nil ? 412 : nil
        case .all:
            if absent { return old == nil ? nil : 412 }
            return old.map { Self.tag($0) == unchanged ? nil : 412 } ?? 404
        }
    }

    private static func list(_ objects: [String: [UInt8]]) -> [UInt8] {
        let rows = objects.sorted { $0.key < $1.key }.map {
            "<Contents><Key>\($0.key)</Key><Size>\($0.value.count)</Size></Contents>"
        }
        return Array("<ListBucketResult>\(rows.joined())<IsTruncated>false</IsTruncated></ListBucketResult>".utf8)
    }
}
