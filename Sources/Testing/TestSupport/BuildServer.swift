import Synchronization

/// A server of documents and files whose set changes while a test runs; it answers requests for parts.
public final class BuildServer: Sendable {
    private struct State: Sendable {
        var files: [String: (bytes: [UInt8], etag: String)] = [:]
        var writes = 0
        var sent = 0
        /// What happens before the answer to a request for a path, once, after so many requests for it.
        var events: [(path: String, after: Int, act: @Sendable (BuildServer) -> Void)] = []
        /// Answers in place of 404.
        var fallback: (@Sendable (String) -> [UInt8]?)?
    }
    private let state = Mutex(State())
    private let listener = Mutex<ScriptedServer?>(nil)

    /// Listens on a free port.
    public init() throws {
        let server = try ScriptedServer { [weak self] in self?.answer($0) ?? .reply(500) }
        listener.withLock { $0 = server }
    }

    /// `http://127.0.0.1:port`.
    public var url: String { listener.withLock { $0?.url ?? "" } }

    /// Every request so far.
    public var requests: [ScriptedServer.Request] { listener.withLock { $0?.requests ?? [] } }

    /// Bytes of bodies sent so far.
    public var sent: Int { state.withLock(\.sent) }

    /// Serves bytes at a path, in place of those that were there.
    ///
    /// - Parameter etag: Without quotes; `nil` = a new one for each call.
    public func put(_ path: String, _ bytes: [UInt8], etag: String? = nil) {
        state.withLock { state in
            state.writes += 1
            state.files[path] = (bytes, "\"\(etag ?? "write-\(state.writes)")\"")
        }
    }

    /// Serves a text at a path.
    public func put(_ path: String, _ text: String) { put(path, Array(text.utf8)) }

    /// Answers 404 for a path from now on.
    public func remove(_ path: String) { state.withLock { $0.files[path] = nil } }

    /// Answers what is not there with these bytes; `nil` from it = 404.
    public func answerElse(_ fallback: @escaping @Sendable (String) -> [UInt8]?) {
        state.withLock { $0.fallback = fallback }
    }

    /// Does something once, before the answer to the request for a path after so many further ones.
    public func after(_ count: Int, requestsFor path: String, _ act: @escaping @Sendable (BuildServer) -> Void) {
        state.withLock { $0.events.append((path, count, act)) }
    }

    /// Closes everything.
    public func stop() { listener.withLock { $0 }?.stop() }

    private func answer(_ request: ScriptedServer.Request) -> ScriptedServer.Answer {
        let due = state.withLock { state in
            var due: [@Sendable (BuildServer) -> Void] = []
            for index in state.events.indices where request.path.hasPrefix(state.events[index].path) {
                state.events[index].after -= 1
                if state.events[index].after == -1 { due.append(state.events[index].act) }
            }
            return due
        }
        for act in due { act(self) }
        return state.withLock { state in
            guard let file = state.files[request.path] ?? state.fallback?(request.path).map({ ($0, "\"else\"") }) else {
                return .reply(404)
            }
            if let wanted = request.headers["if-match"], wanted != file.etag { return .reply(412) }
            if request.headers["if-none-match"] == file.etag { return .reply(304, headers: [("ETag", file.etag)]) }
            var headers = [("ETag", file.etag)]
            let ends = (request.headers["range"] ?? "").dropFirst("bytes=".count).split(separator: "-").compactMap {
                Int($0)
            }
            guard ends.count == 2, ends[0] <= ends[1] else {
                state.sent += file.bytes.count
                return .reply(200, headers: headers, body: file.bytes)
            }
            guard ends[0] < file.bytes.count else { return .reply(416) }
            let part = file.bytes[ends[0]..<min(ends[1] + 1, file.bytes.count)]
            headers.append(("Content-Range", "bytes \(ends[0])-\(part.endIndex - 1)/\(file.bytes.count)"))
            state.sent += part.count
            return .reply(206, headers: headers, body: Array(part))
        }
    }
}
