import Foundation
import OfflineMaps
import Synchronization
import TestSupport
import Testing

@testable import DeviceCommands

/// The fetchers over HTTP: one suite, so that both judge answers alike.
enum WebFetcher: String, CaseIterable {
    case urlSession, curl

    func make() throws -> any Fetcher {
        switch self {
        case .urlSession: URLSessionFetcher(stall: .seconds(20))
        case .curl: try CurlFetcher(stall: .seconds(20))
        }
    }
}

/// Downloads from a scripted server, over real sockets.
@Suite(.timeLimit(.minutes(15)))
struct FetcherTests {
    private static let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }

    private func request(
        _ server: ScriptedServer, _ path: String = "/file", _ kind: ResourceRequest.Kind = .package,
        _ headers: [String: String] = [:]
    ) throws -> ResourceRequest {
        ResourceRequest(try #require(URL(string: server.url + path)), kind, headers: headers)
    }

    private func failure(_ body: () async throws(FetchError) -> Void) async -> FetchError? {
        do throws(FetchError) {
            try await body()
            return nil
        } catch { return error }
    }

    private func part() throws -> (scratch: DeviceScratch, url: URL) {
        let scratch = try DeviceScratch()
        return (scratch, scratch.file("a.part"))
    }

    /// Answers as a server that can continue.
    private static func ranges(_ request: ScriptedServer.Request) -> ScriptedServer.Answer {
        guard let range = request.headers["range"], let start = Int(range.dropFirst("bytes=".count).dropLast()) else {
            return .reply(200, headers: [("ETag", "\"1\"")], body: content)
        }
        guard start < content.count else {
            return .reply(416, headers: [("Content-Range", "bytes */\(content.count)")])
        }
        let value = "bytes \(start)-\(content.count - 1)/\(content.count)"
        return .reply(206, headers: [("Content-Range", value), ("ETag", "\"1\"")], body: Array(content[start...]))
    }

    // MARK: - Bodies

    @Test(arguments: WebFetcher.allCases) func aBodyHasItsHeaders(_ web: WebFetcher) async throws {
        let fetcher = try web.make()
        let server = try ScriptedServer { _ in
            .reply(
                200,
                headers: [
                    ("ETag", "\"x\""), ("Content-Type", "application/json; charset=utf-8"),
                    ("Cache-Control", "max-age=60, must-revalidate"), ("Date", "Mon, 23 Nov 2026 12:00:00 GMT"),
                    ("Last-Modified", "Mon, 23 Nov 2026 11:00:00 GMT"),
                ], body: Array("{}".utf8))
        }
        defer { server.stop() }
        let body = try await fetcher.body(try request(server, headers: ["X-Key": "k"]), limit: 2)
        #expect(body.status == 200 && body.body == Data("{}".utf8) && body.etag == "\"x\"")
        #expect(body.mediaType == "application/json" && body.mustRevalidate)
        #expect(body.expires == Date(timeIntervalSince1970: 1_795_435_260))
        #expect(body.modified == Date(timeIntervalSince1970: 1_795_431_600))
        let sent = try #require(server.requests.first)
        #expect(sent.headers["x-key"] == "k" && sent.headers["accept-encoding"] == "identity")
    }

    private func request(_ server: ScriptedServer, headers: [String: String]) throws -> ResourceRequest {
        try request(server, "/catalog.json", .catalog, headers)
    }

    /// The host is on the list of `BulkDownloads`: no request is sent to it.
    @Test(arguments: WebFetcher.allCases)
    func noRedirectOfABulkDownloadLeadsToAHostThatForbidsIt(_ web: WebFetcher) async throws {
        let fetcher = try web.make()
        let server = try ScriptedServer { request in
            // The second hop forbids.
            let next = request.path == "/one" ? "/two" : "http://tile.openstreetmap.org/0/0/0.png"
            return .reply(302, headers: [("Location", next)])
        }
        defer { server.stop() }
        let request = try request(server, "/one", .tile)
        let body = await failure { () throws(FetchError) in _ = try await fetcher.body(request, limit: 100) }
        #expect(body?.cause == .hostForbidsBulk && body?.message.contains("tile.openstreetmap.org") == true)
        let place = try part()
        let file = await failure { () throws(FetchError) in
            _ = try await fetcher.file(request, into: place.url, from: 0, limit: 100) { _ in }
        }
        #expect(file?.cause == .hostForbidsBulk)
        #expect(server.requests.map(\.path) == ["/one", "/two", "/one", "/two"])
        let first = ResourceRequest(try #require(URL(string: "http://tile.openstreetmap.org/0/0/0.png")), .tile)
        let refused = await failure { () throws(FetchError) in _ = try await fetcher.body(first, limit: 100) }
        #expect(refused?.cause == .hostForbidsBulk)
    }

    /// 30 MB at 10 MB/s: not at once, and not at 1 byte/s, which the limit of the suite would end.
    ///
    /// libcurl looks at the rate after a hundred buffers (6.4 MB), so a smaller body comes at once at any rate.
    @Test func aRateIsInBytesForEachSecond() async throws {
        let fetcher = try WebFetcher.curl.make()
        let long = [UInt8](repeating: 7, count: 30_000_000)
        let server = try ScriptedServer { _ in .reply(200, headers: [("ETag", "\"1\"")], body: long) }
        defer { server.stop() }
        let (scratch, part) = try part()
        var request = try request(server)
        request.bytesPerSecond = 10_000_000
        let start = ContinuousClock.now
        _ = try await fetcher.file(request, into: part, from: 0, limit: 1 << 30) { _ in }
        #expect(ContinuousClock.now - start > .milliseconds(500))
        #expect(try Data(contentsOf: part) == Data(long), "in \(scratch.folder.path)")
    }

    @Test(arguments: WebFetcher.allCases) func anUnchangedBodyIsNotSentAgain(_ web: WebFetcher) async throws {
        let fetcher = try web.make()
        let server = try ScriptedServer { request in
            request.headers["if-none-match"] == "\"x\"" ? .reply(304, headers: [("ETag", "\"x\"")]) : .reply(500)
        }
        defer { server.stop() }
        let body = try await fetcher.body(try request(server, headers: ["If-None-Match": "\"x\""]), limit: 10)
        #expect(body.status == 304 && body.body.isEmpty && body.etag == "\"x\"")
    }

    @Test(arguments: WebFetcher.allCases) func anEmptyAnswerIsKnownAsSuch(_ web: WebFetcher) async throws {
        let fetcher = try web.make()
        let server = try ScriptedServer { _ in .reply(204) }
        defer { server.stop() }
        #expect(try await fetcher.body(try request(server), limit: 0).status == 204)
    }

    @Test(arguments: WebFetcher.allCases) func aBodyBeyondTheLimitIsRefused(_ web: WebFetcher) async throws {
        let fetcher = try web.make()
        let server = try ScriptedServer { request in
            switch request.path {
            case "/announced": .stall(Array("HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\nabc".utf8))
            case "/exact": .reply(200, body: Array(repeating: 7, count: 100))
            default:
                .raw(Array("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".utf8) + Array(repeating: 7, count: 500_000))
            }
        }
        defer { server.stop() }
        for path in ["/announced", "/endless"] {
            let request = try request(server, path, .style)
            #expect(
                await failure { () throws(FetchError) in _ = try await fetcher.body(request, limit: 100) }?.cause
                    == .tooBig)
        }
        #expect(try await fetcher.body(try request(server, "/exact"), limit: 100).body.count == 100)
    }

    @Test(arguments: WebFetcher.allCases) func refusalsHaveCausesAndWaits(_ web: WebFetcher) async throws {
        let fetcher = try web.make()
        let server = try ScriptedServer { request in
            .reply(Int(request.path.dropFirst()) ?? 500, headers: [("Retry-After", "9")], body: Array("no".utf8))
        }
        defer { server.stop() }
        for (status, cause) in [(404, FailureCause.notFound), (403, .notAllowed), (503, .serverError)] {
            let request = try request(server, "/\(status)")
            let error = await failure { () throws(FetchError) in _ = try await fetcher.body(request, limit: 9) }
            #expect(error?.cause == cause && error?.status == status && error?.retryAfter == .seconds(9))
        }
    }

    @Test(arguments: WebFetcher.allCases) func aLoginPageCountsAsNoConnection(_ web: WebFetcher) async throws {
        let fetcher = try web.make()
        let server = try ScriptedServer { request in
            request.path == "/file"
                ? .reply(302, headers: [("Location", "/login")])
                : .reply(200, headers: [("Content-Type", "text/html; charset=utf-8")], body: Array("<html>".utf8))
        }
        defer { server.stop() }
        let (scratch, part) = try part()
        try Data("old".utf8).write(to: part)
        let request = try request(server)
        let error = await failure { () throws(FetchError) in
            _ = try await fetcher.file(request, into: part, from: 3, limit: 1 << 30) { _ in }
        }
        #expect(error?.cause == .connection)
        #expect(
            try Data(contentsOf: part) == Data("old".utf8), "the part file keeps its bytes in \(scratch.folder.path)")
    }

    @Test(arguments: WebFetcher.allCases) func aClosedPortAndWrongAddressesAreErrors(_ web: WebFetcher) async throws {
        let fetcher = try web.make()
        let server = try ScriptedServer(isOpen: false) { _ in .reply(200) }
        let request = try request(server)
        #expect(
            await failure { () throws(FetchError) in _ = try await fetcher.body(request, limit: 9) }?.cause
                == .connection)
        let file = ResourceRequest(URL(filePath: "/etc/passwd"), .other)
        #expect(
            await failure { () throws(FetchError) in _ = try await fetcher.body(file, limit: 9) }?.cause
                == .invalidArguments)
        try server.open()
        server.stop()
    }

    @Test(arguments: WebFetcher.allCases) func headersDoNotGoToAnotherHost(_ web: WebFetcher) async throws {
        let fetcher = try web.make()
        let second = try ScriptedServer { _ in .reply(200, body: [1]) }
        let address = second.url
        let first = try ScriptedServer { _ in .reply(302, headers: [("Location", address + "/there")]) }
        defer {
            first.stop()
            second.stop()
        }
        let request = try request(first, "/file", .tile, ["X-Key": "secret", "If-None-Match": "\"x\""])
        #expect(try await fetcher.body(request, limit: 9).body == Data([1]))
        #expect(first.requests.first?.headers["x-key"] == "secret")
        let sent = try #require(second.requests.first)
        #expect(sent.headers["x-key"] == nil)
        // The validators of one address say nothing about another; URLSession sends them all the same.
        #expect(sent.headers["if-none-match"] == (web == .urlSession ? "\"x\"" : nil))
    }

    // MARK: - Files

    @Test(arguments: WebFetcher.allCases) func aFileIsDownloadedAndResumed(_ web: WebFetcher) async throws {
        let fetcher = try web.make()
        let server = try ScriptedServer { Self.ranges($0) }
        defer { server.stop() }
        let (scratch, part) = try part()
        let told = Mutex<[UInt64]>([])
        for offset in [0, 1, 150_000, Self.content.count - 1] {
            try Data(Self.content[..<offset] + [9, 9, 9]).write(to: part)
            let file = try await fetcher.file(try request(server), into: part, from: UInt64(offset), limit: 1 << 30) {
                size in
                told.withLock { $0.append(size) }
            }
            #expect(file.size == UInt64(Self.content.count) && !file.startedOver && file.etag == "\"1\"")
            #expect([UInt8](try Data(contentsOf: part)) == Self.content, "\(scratch.folder.path)")
        }
        #expect(told.withLock { $0.last } == UInt64(Self.content.count))
        #expect(server.requests.map { $0.headers["range"] } == [nil, "bytes=1-", "bytes=150000-", "bytes=299999-"])
    }

    @Test(arguments: WebFetcher.allCases) func aServerWithoutRangesStartsOver(_ web: WebFetcher) async throws {
        let fetcher = try web.make()
        let server = try ScriptedServer { _ in .reply(200, body: Self.content) }
        defer { server.stop() }
        let (scratch, part) = try part()
        try Data(repeating: 3, count: 400_000).write(to: part)
        let file = try await fetcher.file(try request(server), into: part, from: 1_000, limit: 1 << 30) { _ in }
        #expect(file.status == 200 && file.startedOver)
        #expect([UInt8](try Data(contentsOf: part)) == Self.content, "\(scratch.folder.path)")
    }

    @Test(arguments: WebFetcher.allCases) func aPartFileThatIsCompleteOrTooLong(_ web: WebFetcher) async throws {
        let fetcher = try web.make()
        let server = try ScriptedServer { Self.ranges($0) }
        defer { server.stop() }
        let (scratch, part) = try part()
        try Data(Self.content).write(to: part)
        let same = try await fetcher.file(
            try request(server), into: part, from: UInt64(Self.content.count), limit: 1 << 30
        ) { _ in }
        #expect(same.size == UInt64(Self.content.count) && !same.startedOver && server.requests.count == 1)
        try Data(Self.content + [1, 2, 3]).write(to: part)
        let again = try await fetcher.file(
            try request(server), into: part, from: UInt64(Self.content.count + 3), limit: 1 << 30
        ) { _ in }
        #expect(again.startedOver)
        #expect([UInt8](try Data(contentsOf: part)) == Self.content, "\(scratch.folder.path)")
    }

    @Test(arguments: WebFetcher.allCases) func aCutAnswerKeepsItsBytes(_ web: WebFetcher) async throws {
        let fetcher = try web.make()
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(Self.content.count)\r\n\r\n"
        let server = try ScriptedServer { request in
            request.headers["range"] == nil ? .raw(Array(head.utf8) + Self.content[..<100_000]) : Self.ranges(request)
        }
        defer { server.stop() }
        let (scratch, part) = try part()
        let request = try request(server)
        let error = await failure { () throws(FetchError) in
            _ = try await fetcher.file(request, into: part, from: 0, limit: 1 << 30) { _ in }
        }
        #expect(error?.cause == .connection)
        let size = try Data(contentsOf: part).count
        #expect(size > 0 && size <= 100_000)
        _ = try await fetcher.file(request, into: part, from: UInt64(size), limit: 1 << 30) { _ in }
        #expect([UInt8](try Data(contentsOf: part)) == Self.content, "\(scratch.folder.path)")
    }

    @Test(arguments: WebFetcher.allCases, ["bytes 0-299999/300000", "bytes 11-299999/300000", "nothing"])
    func otherBytesThanAskedForAreRefused(_ web: WebFetcher, _ range: String) async throws {
        let fetcher = try web.make()
        let server = try ScriptedServer { _ in .reply(206, headers: [("Content-Range", range)], body: Self.content) }
        defer { server.stop() }
        let (scratch, part) = try part()
        try Data(Self.content[..<10]).write(to: part)
        let request = try request(server)
        let error = await failure { () throws(FetchError) in
            _ = try await fetcher.file(request, into: part, from: 10, limit: 1 << 30) { _ in }
        }
        #expect(error?.cause == .serverError)
        #expect([UInt8](try Data(contentsOf: part)) == Array(Self.content[..<10]), "\(scratch.folder.path)")
    }

    @Test(arguments: WebFetcher.allCases) func aFileThatCannotBeWrittenIsNamed(_ web: WebFetcher) async throws {
        let fetcher = try web.make()
        let server = try ScriptedServer { _ in .reply(200, body: Self.content) }
        defer { server.stop() }
        let request = try request(server)
        let error = await failure { () throws(FetchError) in
            _ = try await fetcher.file(request, into: URL(filePath: "/dev/full"), from: 0, limit: 1 << 30) { _ in }
        }
        #expect(error?.cause == .storage)
    }

    @Test(arguments: WebFetcher.allCases) func aCancelledDownloadEndsSoon(_ web: WebFetcher) async throws {
        let fetcher = try web.make()
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(Self.content.count)\r\n\r\n"
        let server = try ScriptedServer { _ in .stall(Array(head.utf8) + Self.content[..<1_000]) }
        defer { server.stop() }
        let (scratch, part) = try part()
        let request = try request(server)
        let (sizes, begun) = AsyncStream<UInt64>.makeStream()
        let task = Task {
            await failure { () throws(FetchError) in
                _ = try await fetcher.file(request, into: part, from: 0, limit: 1 << 30) { begun.yield($0) }
            }
        }
        for await _ in sizes { break }
        task.cancel()
        #expect(await task.value?.cause == .connection, "\(scratch.folder.path)")
    }
}
