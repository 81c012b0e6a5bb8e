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
        try await serving(
            WebServer(.host("127.0.0.1", port: 0), name: "test", rules: rules, logger: logger, respond: respond), body)
    }

    private static var logger: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }

    private static func serving(_ server: WebServer, _ body: (Int) async throws -> Void) async throws {
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

    // MARK: - Answers at once

    /// A server that answers with the path and the length of the body: at once, but after a while below `/later`.
    private static func quick(_ body: (Int) async throws -> Void) async throws {
        let server = WebServer(.host("127.0.0.1", port: 0), name: "test", rules: ConnectionRules(), logger: logger) {
            request, connection in
            let path = request.head.path ?? ""
            guard path.hasPrefix("/later") else {
                let large = String(repeating: "x", count: 100_000)
                let text = path.hasPrefix("/large") ? large : "\(path) \(connection.loop.inEventLoop)"
                var answer = WholeAnswer(status: .ok, body: ByteBuffer(string: text))
                if request.method == .head { answer.dropBody() }
                return .now(answer)
            }
            return .later { request in
                for _ in 0..<20 { await Task.yield() }
                let length = try await request.body.collect(upTo: 1 << 20).readableBytes
                return Response(status: .ok, body: .init(byteBuffer: ByteBuffer(string: "\(path) \(length)")))
            }
        }
        try await serving(server, body)
    }

    private static func request(_ path: String, _ more: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: x\r\n\(more)\r\n"
    }

    /// The bodies of the answers on one connection.
    private static func bodies(_ bytes: [UInt8]) throws -> [String] {
        var rest = bytes[...]
        var found: [String] = []
        while let end = rest.firstRange(of: Array("\r\n\r\n".utf8)) {
            let head = String(decoding: rest[..<end.lowerBound], as: UTF8.self).lowercased().split(separator: "\r\n")
            let length = head.first { $0.hasPrefix("content-length: ") }.flatMap { Int($0.dropFirst(16)) }
            rest = rest[end.upperBound...]
            found.append(String(decoding: rest.prefix(try #require(length)), as: UTF8.self))
            rest = rest.dropFirst(length ?? 0)
        }
        return found
    }

    @Test func answersKeepTheOrderOfTheirRequests() async throws {
        try await Self.quick { port in
            var (text, expected): (String, [String]) = ("", [])
            for number in 0..<60 {
                switch number * 7 % 5 {
                case 0, 1:
                    text += Self.request("/now/\(number)")
                    expected.append("/now/\(number) true")
                case 2:
                    text += Self.request("/later/\(number)")
                    expected.append("/later/\(number) 0")
                case 3:
                    text += Self.request("/later/\(number)", "Content-Length: 3\r\n") + "abc"
                    expected.append("/later/\(number) 3")
                default:
                    text += Self.request("/now/\(number)", "Transfer-Encoding: chunked\r\n") + "2\r\nab\r\n0\r\n\r\n"
                    expected.append("/now/\(number) true")
                }
            }
            for last in ["/now/end", "/later/end"] {
                let bytes = try await RawHTTPClient.exchange(
                    Array((text + Self.request(last, "Connection: close\r\n")).utf8),
                    with: .port(port))
                #expect(try Self.bodies(bytes) == expected + ["\(last) \(last == "/now/end" ? "true" : "0")"])
            }
        }
    }

    /// A client that sends hundreds of requests before it reads an answer gets all of them.
    @Test func aClientThatReadsLateGetsAllAnswers() async throws {
        try await Self.quick { port in
            let text =
                String(repeating: Self.request("/large"), count: 300) + Self.request("/now", "Connection: close\r\n")
            let found = try Self.bodies(try await RawHTTPClient.exchange(Array(text.utf8), with: .port(port)))
            #expect(found.count == 301 && found.dropLast().allSatisfy { $0.utf8.count == 100_000 })
        }
    }

    @Test func answersAtOnceHaveTheFieldsOfAllAnswers() async throws {
        try await Self.quick { port in
            for path in ["/now", "/later"] {
                let answer = try await RawHTTPClient.send(
                    Self.request(path, "Connection: close\r\n"), to: .port(port))
                #expect(answer.status == 200 && answer.headers["server"] == "test")
                #expect(answer.headers["date"]?.hasSuffix(" GMT") == true && answer.headers["connection"] == "close")
            }
            let head = "HEAD /now HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
            let answer = try await RawHTTPClient.send(head, to: .port(port))
            #expect(answer.status == 200 && answer.body.isEmpty && answer.headers["content-length"] == "9")
            let wrong = Self.request("/now") + "GET /now HTTP/1.1\r\n\r\n"
            let bytes = try await RawHTTPClient.exchange(Array(wrong.utf8), with: .port(port))
            #expect(String(decoding: bytes, as: UTF8.self).contains("HTTP/1.1 400"))
        }
    }
}
