import Foundation
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import TestSupport
import Testing

@testable import WebServer

/// The server over real sockets.
@Suite(.timeLimit(.minutes(15))) struct WebServerTests {
    private struct Fault: Error {}

    /// Runs a server on a free port while `body` runs.
    private static func serving(
        _ rules: ConnectionRules? = nil, _ respond: @escaping WebServer.Responder, _ body: (Int) async throws -> Void
    ) async throws {
        let server = WebServer(
            .host("127.0.0.1", port: 0), name: "test", rules: rules,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            respond: respond)
        let (ready, announce) = AsyncStream.makeStream(of: Int.self)
        let task = Task {
            defer { announce.finish() }
            try await server.run { announce.yield($0) }
        }
        var iterator = ready.makeAsyncIterator()
        let port = try #require(await iterator.next())
        do { try await body(port) } catch {
            task.cancel()
            throw error
        }
        task.cancel()
        // A cancelled server cuts its connections, so this ends.
        try await task.value
    }

    private static let ask = "GET /a?b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

    @Test(arguments: [false, true]) func requestsAreAnswered(isBounded: Bool) async throws {
        // A connection that stays open while the server ends.
        var held: Int32?
        defer { if let held { close(held) } }
        try await Self.serving(isBounded ? ConnectionRules() : nil) { request, connection in
            guard connection.peer?.isLoopback == true else { throw Fault() }
            return Response(status: .ok, body: .init(byteBuffer: ByteBuffer(string: request.head.path ?? "")))
        } _: { port in
            let answer = try await RawHTTPClient.send(Self.ask, to: .port(port))
            #expect(answer.status == 200 && answer.text == "/a?b" && answer.headers["server"] == "test")
            #expect(answer.headers["date"]?.hasSuffix(" GMT") == true)
            held = try RawHTTPClient.connect(.port(port))
        }
    }

    @Test func anErrorBecomesAnAnswer() async throws {
        try await Self.serving { _, _ in
            throw Fault()
        } _: { port in
            let answer = try await RawHTTPClient.send(Self.ask, to: .port(port))
            #expect(answer.status == 500)
        }
    }

    @Test func aConnectionMayHaveOneRequest() async throws {
        var rules = ConnectionRules()
        rules.isKeptAlive = false
        try await Self.serving(rules) { _, _ in
            Response(status: .noContent)
        } _: { port in
            let twice = String(repeating: "GET / HTTP/1.1\r\nHost: x\r\n\r\n", count: 2)
            let bytes = try await RawHTTPClient.exchange(Array(twice.utf8), with: .port(port))
            let text = String(decoding: bytes, as: UTF8.self).lowercased()
            #expect(text.components(separatedBy: "http/1.1 204").count == 2 && text.contains("connection: close"))
        }
    }
}
