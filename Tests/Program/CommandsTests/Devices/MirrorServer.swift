import Foundation
import TestSupport

/// A web server with the files of a folder, which answers ranges and can behave badly.
final class MirrorServer: Sendable {
    /// What it does before it serves a path as it should; `nil`: it just serves.
    typealias Trouble = @Sendable (_ path: String, _ from: Int, [UInt8]) -> ScriptedServer.Answer?

    private let server: ScriptedServer

    init(_ folder: URL, _ trouble: @escaping Trouble = { _, _, _ in nil }) throws {
        server = try ScriptedServer { request in
            guard let data = try? Data(contentsOf: folder.appending(path: request.path)) else { return .reply(404) }
            let bytes = [UInt8](data)
            let from = request.headers["range"].flatMap { Int($0.dropFirst("bytes=".count).prefix { $0 != "-" }) } ?? 0
            let path = String(request.path.drop { $0 == "/" })
            return trouble(path, from, bytes) ?? Self.serve(bytes, from: from)
        }
    }

    deinit { server.stop() }

    /// The address, with a slash at its end.
    var url: String { server.url + "/" }

    /// Closes all connections; further ones are refused.
    func stop() { server.stop() }

    /// Requests for files of packages so far, with where they began.
    var asked: [(path: String, range: String?)] {
        server.requests.map { (String($0.path.drop { $0 == "/" }), $0.headers["range"]) }
    }

    /// Whether a path was asked for.
    func wasAsked(_ path: String) -> Bool { asked.contains { $0.path == path } }

    /// The answer of a server that can go on at an offset.
    static func serve(_ bytes: [UInt8], from: Int) -> ScriptedServer.Answer {
        guard from > 0 else { return .reply(200, body: bytes) }
        guard from < bytes.count else { return .reply(416, headers: [("Content-Range", "bytes */\(bytes.count)")]) }
        return .reply(
            206, headers: [("Content-Range", "bytes \(from)-\(bytes.count - 1)/\(bytes.count)")],
            body: Array(bytes[from...]))
    }

    /// The answer of a server that announces all bytes and sends only so many of them.
    static func half(_ bytes: [UInt8], from: Int, until end: Int) -> [UInt8] {
        var head = "HTTP/1.1 \(from > 0 ? 206 : 200) Part\r\nContent-Length: \(bytes.count - from)\r\n"
        if from > 0 { head += "Content-Range: bytes \(from)-\(bytes.count - 1)/\(bytes.count)\r\n" }
        return Array((head + "\r\n").utf8) + bytes[from..<max(from, end)]
    }

    /// The same bytes with the last one changed.
    static func changed(_ bytes: [UInt8]) -> [UInt8] { bytes.dropLast() + [(bytes.last ?? 0) ^ 0xFF] }
}
