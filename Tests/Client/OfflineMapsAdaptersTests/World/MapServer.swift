import Digests
import Files
import Foundation
import Synchronization
import TestSupport

/// Serves the catalog's folder below `/maps/`, and a tile server with a style below `/live/`, on 127.0.0.1.
final class MapServer: Sendable {
    /// How the server answers for addresses that contain a text.
    enum Fault: Sendable {
        case status(Int)
        /// Half of the body, then nothing.
        case stall
        /// Closes the connection after half of the body.
        case cut
    }

    private struct State: Sendable {
        var edition = 1
        var faults: [(text: String, fault: Fault)] = []
        var liveData = 1
        /// How long the bodies of addresses that contain a text stay fresh, in seconds.
        var ages: [String: Int] = [:]
        var asked: [ScriptedServer.Request] = []
    }
    private final class Shelf: Sendable { let state = Mutex(State()) }

    private let shelf = Shelf()
    private let server: ScriptedServer

    /// Serves the folder that ``CatalogWriter`` wrote.
    init(_ root: URL) throws {
        let shelf = shelf
        server = try ScriptedServer { request in
            let (edition, faults, live, ages) = shelf.state.withLock { state in
                state.asked.append(request)
                return (state.edition, state.faults, state.liveData, state.ages)
            }
            let path = String(request.path.prefix { $0 != "?" })
            let fault = faults.first { request.path.contains($0.text) }?.fault
            if case .status(let status) = fault { return .reply(status) }
            guard let body = Self.body(path, root, edition, live, host: request.headers["host"] ?? "") else {
                return .reply(404)
            }
            return Self.answer(request, body, fault, age: ages.first { request.path.contains($0.key) }?.value ?? 3_600)
        }
    }

    /// The address of the catalog.
    var catalog: URL { address("/maps/catalog.json") }
    /// `http://127.0.0.1:port`.
    var url: String { server.url }

    /// An address of the server.
    func address(_ path: String) -> URL { URL(string: server.url + path) ?? URL(filePath: "/") }

    /// Publishes an edition of the catalog, 1 or 2.
    func publish(_ edition: Int) { shelf.state.withLock { $0.edition = edition } }

    /// Changes the data of the tile server.
    func setLiveData(_ number: Int) { shelf.state.withLock { $0.liveData = number } }

    /// Adds a fault for addresses that contain a text; it stays until ``mend()``.
    func fail(_ text: String, _ fault: Fault) { shelf.state.withLock { $0.faults.append((text, fault)) } }

    /// Sets how long bodies of addresses that contain a text stay fresh; otherwise an hour.
    func setMaxAge(of text: String, _ seconds: Int) { shelf.state.withLock { $0.ages[text] = seconds } }

    /// Ends all faults.
    func mend() { shelf.state.withLock { $0.faults = [] } }

    /// The requests for addresses that contain a text.
    func requests(_ text: String = "") -> [ScriptedServer.Request] {
        shelf.state.withLock { $0.asked }.filter { $0.path.contains(text) }
    }

    /// Closes everything.
    func stop() { server.stop() }

    private static func body(_ path: String, _ root: URL, _ edition: Int, _ live: Int, host: String) -> [UInt8]? {
        if path.hasPrefix("/live/") { return LiveStyle.body(String(path.dropFirst(6)), data: live, host: host) }
        guard path.hasPrefix("/maps/"), !path.contains("..") else { return nil }
        var file = String(path.dropFirst(6))
        if file.hasPrefix("catalog.json") { file = "\(edition)/\(file)" }
        if file.hasPrefix("regions/EE") { file = "\(edition)-EE.regions" }
        return (try? Data(contentsOf: root.appending(path: file))).map { [UInt8]($0) }
    }

    private static func answer(
        _ request: ScriptedServer.Request, _ body: [UInt8], _ fault: Fault?, age: Int
    ) -> ScriptedServer.Answer {
        let etag = "\"\(Digest(of: body).hex.prefix(16))\""
        var headers = [("ETag", etag), ("Cache-Control", "max-age=\(age)")]
        if request.headers["if-none-match"] == etag { return .reply(304, headers: headers) }
        var part = body[...]
        var status = 200
        if let range = request.headers["range"], range.hasPrefix("bytes="), fault == nil,
            let from = Int(range.dropFirst(6).prefix { $0 != "-" }), from < body.count
        {
            (part, status) = (body[from...], 206)
            headers.append(("Content-Range", "bytes \(from)-\(body.count - 1)/\(body.count)"))
        }
        guard let fault else { return .reply(status, headers: headers, body: Array(part)) }
        var text = "HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        let half = Array((text + "\r\n").utf8) + body.prefix(body.count / 2)
        if case .cut = fault { return .raw(half) }
        return .stall(half)
    }
}
