import Errors
import Foundation
import TestSupport
import Testing
import Transfer

/// Requests that are more than a GET into memory.
@Suite(.timeLimit(.minutes(15)))
struct RequestKindTests {
    private static func client() throws -> TransferClient {
        var options = TransferOptions()
        options.concurrency = 1
        options.retry.base = .milliseconds(1)
        return try TransferClient(options)
    }

    private static func request(_ server: ScriptedServer, _ method: TransferMethod, _ path: String = "/")
        -> TransferRequest
    {
        var request = TransferRequest(tag: 1, url: server.url + path)
        request.method = method
        return request
    }

    @Test func oneHandleSendsEveryKindInTurnAndIsPlainAgainAfterwards() async throws {
        let server = try ScriptedServer { .reply(200, body: Array($0.path.utf8)) }
        defer { server.stop() }
        let client = try Self.client()
        let file = FileManager.default.temporaryDirectory.appending(path: "upload-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("0123456789".utf8).write(to: file)

        var put = Self.request(server, .put, "/a")
        put.upload = .file(path: file.path, offset: 2, count: 5)
        put.signing = TransferSigning(region: "r-1", service: "s3", accessKey: "a:b", secretKey: "secret")
        put.headers = [HeaderField("x-amz-content-sha256", "UNSIGNED-PAYLOAD")]
        _ = try await client.send(put)
        var post = Self.request(server, .post, "/b")
        post.upload = .bytes(Array("hello".utf8))
        _ = try await client.send(post)
        let head = try await client.send(Self.request(server, .head, "/long"))
        _ = try await client.send(Self.request(server, .delete, "/d"))
        let get = try await client.get("\(server.url)/e")

        #expect(server.requests.map(\.method) == ["PUT", "POST", "HEAD", "DELETE", "GET"])
        #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["23456", "hello", "", "", ""])
        #expect(head.headers.contentLength == "5" && head.body.isEmpty)
        #expect(get.body == Array("/e".utf8))
        #expect(server.requests[1].headers["expect"] == nil, "a small body waits for no permission")
        let authorization = try #require(server.requests.first?.headers["authorization"])
        #expect(authorization.hasPrefix("AWS4-HMAC-SHA256 Credential=a:b/"))
        #expect(authorization.contains("/r-1/s3/aws4_request"))
        #expect(authorization.contains("x-amz-content-sha256"), "the header is signed")
        #expect(server.requests.dropFirst().allSatisfy { $0.headers["authorization"] == nil })
        #expect(
            server.requests.first?.headers["accept-encoding"] == nil, "a proxy may change it, and it would be signed")
    }

    @Test func aCutDownloadGoesOnWhereItEnded() async throws {
        let whole = Array("0123456789".utf8)
        let server = try ScriptedServer { request in
            guard let range = request.headers["range"], let from = Int(range.dropFirst(6).prefix { $0 != "-" }) else {
                return .raw(Array("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123".utf8))
            }
            return .reply(206, headers: [("Content-Range", "bytes \(from)-9/10")], body: Array(whole[from...]))
        }
        defer { server.stop() }
        let file = FileManager.default.temporaryDirectory.appending(path: "sink-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        var request = Self.request(server, .get)
        request.sink = TransferSink(path: file.path, maxBytes: 10)
        let response = try await Self.client().send(request)
        #expect(response.status == 206 && response.attempts == 2 && response.body.isEmpty)
        #expect(try Data(contentsOf: file) == Data(whole))
        #expect(server.requests.map { $0.headers["range"] } == [nil, "bytes=4-"])
    }

    @Test(arguments: [false, true])
    func aServerThatSendsTheWrongPartMakesTheFileStartOver(saysPart: Bool) async throws {
        let whole = Array("abcdef".utf8)
        let server = try ScriptedServer { request in
            // Once a part that begins elsewhere, or the whole although a part was asked for.
            saysPart && request.earlier == 0
                ? .reply(206, headers: [("Content-Range", "bytes 0-5/6")], body: whole) : .reply(200, body: whole)
        }
        defer { server.stop() }
        let file = FileManager.default.temporaryDirectory.appending(path: "sink-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("xyz".utf8).write(to: file)
        var request = Self.request(server, .get)
        request.sink = TransferSink(path: file.path, maxBytes: 6)
        _ = try await Self.client().send(request)
        #expect(try Data(contentsOf: file) == Data(whole))
    }

    @Test func theBodyOfARefusalDoesNotReachTheFile() async throws {
        let server = try ScriptedServer { _ in .reply(403, body: Array("no".utf8)) }
        defer { server.stop() }
        let file = FileManager.default.temporaryDirectory.appending(path: "sink-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        var request = Self.request(server, .get)
        request.sink = TransferSink(path: file.path, maxBytes: 6)
        let response = try await Self.client().send(request)
        #expect(response.status == 403 && response.body == Array("no".utf8))
        #expect(try Data(contentsOf: file).isEmpty)
    }

    @Test func aFileBeyondTheLimitIsStopped() async throws {
        let server = try ScriptedServer { _ in .raw(Array("HTTP/1.1 200 OK\r\n\r\n01234567".utf8)) }
        defer { server.stop() }
        let file = FileManager.default.temporaryDirectory.appending(path: "sink-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        var request = Self.request(server, .get)
        request.sink = TransferSink(path: file.path, maxBytes: 7)
        let error = await #expect(throws: TransferError.self) { try await Self.client().send(request) }
        #expect(error?.code == .tooLarge)
    }

    @Test func aSignedRequestFollowsNoRedirect() async throws {
        let server = try ScriptedServer { _ in .reply(307, headers: [("Location", "/there")]) }
        defer { server.stop() }
        var request = Self.request(server, .get)
        request.signing = TransferSigning(region: "r", service: "s3", accessKey: "a", secretKey: "b")
        #expect(try await Self.client().send(request).status == 307)
        #expect(server.requests.count == 1)
    }

    @Test func aMissingFileIsNamed() async throws {
        let server = try ScriptedServer { _ in .reply(200) }
        defer { server.stop() }
        var request = Self.request(server, .put)
        request.upload = .file(path: "/nowhere/at-all", offset: 0, count: 1)
        let client = try Self.client()
        let error = await #expect(throws: TransferError.self) { try await client.send(request) }
        #expect(error?.code == .fileFailed && error?.message.contains("/nowhere/at-all") == true)
        #expect(try await client.get(server.url + "/").status == 200, "the handle serves on")
    }

    @Test func aSecretKeyIsNeverPrinted() {
        let signing = TransferSigning(region: "r", service: "s3", accessKey: "key", secretKey: "hidden")
        #expect(!"\(signing) \(String(reflecting: signing))".contains("hidden"))
    }
}
