import Errors
import TestSupport
import Testing
import Transfer

/// Servers that send too much, too slowly, or what they should not.
@Suite(.timeLimit(.minutes(15)))
struct HostileServerTests {
    private func get(
        path: String = "/", _ change: (inout TransferOptions) -> Void = { _ in },
        _ script: @escaping @Sendable (ScriptedServer.Request) -> ScriptedServer.Answer
    ) async throws -> (error: TransferError?, requests: [ScriptedServer.Request]) {
        let server = try ScriptedServer(script)
        defer { server.stop() }
        var options = TransferOptions()
        options.retry.maxAttempts = 1
        change(&options)
        let client = try TransferClient(options)
        do throws(TransferError) {
            _ = try await client.get("\(server.url)\(path)")
            return (nil, server.requests)
        } catch {
            return (error, server.requests)
        }
    }

    @Test func aFloodOfHeadersIsStopped() async throws {
        let line = "X-Flood: \(String(repeating: "a", count: 1_000))\r\n"
        let head = "HTTP/1.1 200 OK\r\n" + String(repeating: line, count: 2_000)
        let bytes = Array(head.utf8)
        let found = try await get { _ in .stall(bytes) }
        #expect(found.error?.code == .tooLarge && found.error?.isRetriable == false)
    }

    @Test func manyHeadersWithinTheLimitAreFine() async throws {
        let headers = (0..<100).map { ("X-\($0)", String(repeating: "a", count: 1_000)) }
        #expect(try await get { _ in .reply(200, headers: headers) }.error == nil)
    }

    @Test func aHeaderLineWithoutEndIsStopped() async throws {
        let bytes = Array("HTTP/1.1 200 OK\r\nX: ".utf8) + [UInt8](repeating: 65, count: 4 << 20)
        let error = try await get { _ in .stall(bytes) }.error
        #expect(error?.code == .tooLarge && error?.isRetriable == false)
    }

    /// libcurl calls a header line above its limit "out of memory"; it is the server's fault, and another request meets the same line.
    @Test(arguments: ["HTTP/1.1 200 OK\r\nX-Long: ", "HTTP/1.1 200 "])
    func aHeaderLineAboveTheLimitIsAnAnswerThatIsTooLarge(_ start: String) async throws {
        let line = start + String(repeating: "a", count: 300_000) + "\r\nContent-Length: 0\r\n\r\n"
        let bytes = Array(line.utf8)
        let found = try await get { _ in .stall(bytes) }
        #expect(found.error?.code == .tooLarge && found.error?.isRetriable == false)
        #expect(found.error?.message.contains("header line of the answer is longer than 100 KiB") == true)
        #expect(found.requests.count == 1)
    }

    @Test func endlessInformationalAnswersAreStopped() async throws {
        let bytes = Array(String(repeating: "HTTP/1.1 103 Early\r\nLink: <a>\r\n\r\n", count: 20_000).utf8)
        #expect(try await get { _ in .stall(bytes) }.error != nil)
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"])
    func aServerThatDripsIsGivenUp(start: String) async throws {
        let bytes = Array(start.utf8)
        let found = try await get({ $0.stallTimeout = .seconds(1) }, { _ in .stall(bytes) })
        #expect(found.error?.code == .timeout && found.error?.isRetriable == true)
    }

    @Test func whatIsNoHTTPIsATransportFailure() async throws {
        let found = try await get { _ in .raw(Array("SSH-2.0-OpenSSH_9.2\r\n".utf8)) }
        #expect(found.error?.code == .transport && found.error?.isRetriable == true)
    }

    @Test(arguments: ["/a\r\nX-Evil: 1", "/a b", "/\u{1}", "/a\u{7F}b"])
    func aURLCannotSmuggleAHeader(path: String) async throws {
        let found = try await get(path: path) { _ in .reply(200) }
        #expect(found.error?.code == .invalidRequest && found.requests.isEmpty)
    }

    @Test(arguments: [
        "http://127.0.0.1:1\r\nX: y/", "https://[::1/", "//127.0.0.1:1/", "HTTP://user@127.0.0.1:1/",
        "http:\\\\127.0.0.1:1/",
    ])
    func oddRedirectsEndInAnError(target: String) async throws {
        let found = try await get { $0.path == "/" ? .reply(302, headers: [("Location", target)]) : .reply(200) }
        #expect(found.error != nil)
    }
}
