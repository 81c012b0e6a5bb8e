import Foundation
import OfflineMaps
import OfflineMapsApple
import Synchronization
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Downloads of a background session, here with a session of the ordinary kind: only Apple's systems have the other.
@Suite(.timeLimit(.minutes(15)))
final class BackgroundFetcherTests: Sendable {
    private static let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    private let fetcher = BackgroundFetcher(.ephemeral, continuesWhileSuspended: false)
    private let part = FileManager.default.temporaryDirectory.appending(path: "packhorse-\(UUID().uuidString).part")

    deinit { unlink(part.path) }

    private static func ranges(_ request: ScriptedServer.Request) -> ScriptedServer.Answer {
        guard let range = request.headers["range"], let start = Int(range.dropFirst("bytes=".count).dropLast()) else {
            return .reply(200, headers: [("ETag", "\"1\"")], body: content)
        }
        let value = "bytes \(start)-\(content.count - 1)/\(content.count)"
        return .reply(206, headers: [("Content-Range", value), ("ETag", "\"1\"")], body: Array(content[start...]))
    }

    private func download(_ server: ScriptedServer, from offset: UInt64) async throws(FetchError) -> FetchedFile {
        guard let url = URL(string: server.url + "/file") else { throw FetchError(.internalError, "no address") }
        return try await fetcher.file(ResourceRequest(url, .package), into: part, from: offset, limit: 1 << 30) {
            [told] size in
            told.withLock { $0.append(size) }
        }
    }
    private let told = Told()
    private final class Told: Sendable {
        private let sizes = Mutex<[UInt64]>([])
        func withLock<Result>(_ body: (inout sending [UInt64]) -> sending Result) -> sending Result {
            sizes.withLock(body)
        }
    }

    @Test func aFileIsDownloadedAndContinued() async throws {
        let server = try ScriptedServer { Self.ranges($0) }
        defer { server.stop() }
        for offset in [0, 150_000] {
            try Data(Self.content[..<offset] + [9, 9]).write(to: part)
            let file = try await download(server, from: UInt64(offset))
            #expect(file.size == UInt64(Self.content.count) && !file.startedOver && file.etag == "\"1\"")
            #expect([UInt8](try Data(contentsOf: part)) == Self.content)
        }
        #expect(told.withLock { $0.last } == UInt64(Self.content.count))
        #expect(server.requests.map { $0.headers["range"] } == [nil, "bytes=150000-"])
    }

    @Test func aServerWithoutRangesStartsOver() async throws {
        let server = try ScriptedServer { _ in .reply(200, body: Self.content) }
        defer { server.stop() }
        try Data(repeating: 3, count: 400_000).write(to: part)
        #expect(try await download(server, from: 1_000).startedOver)
        #expect([UInt8](try Data(contentsOf: part)) == Self.content)
    }

    @Test func refusalsHaveCausesAndKeepThePart() async throws {
        let server = try ScriptedServer { _ in
            .reply(503, headers: [("Retry-After", "9")], body: Array("no".utf8))
        }
        defer { server.stop() }
        try Data([1, 2, 3]).write(to: part)
        do throws(FetchError) {
            _ = try await download(server, from: 3)
            Issue.record("the download was not refused")
        } catch { #expect(error.cause == .serverError && error.retryAfter == .seconds(9)) }
        #expect(try Data(contentsOf: part) == Data([1, 2, 3]))
    }

    @Test func aLoginPageCountsAsNoConnection() async throws {
        let server = try ScriptedServer { request in
            request.path == "/file"
                ? .reply(302, headers: [("Location", "/login")])
                : .reply(200, headers: [("Content-Type", "text/html")], body: Array("<html>".utf8))
        }
        defer { server.stop() }
        do throws(FetchError) {
            _ = try await download(server, from: 0)
            Issue.record("a page was taken for a file")
        } catch { #expect(error.cause == .connection && error.isPage) }
    }

    @Test func aCancelledDownloadEnds() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(Self.content.count)\r\n\r\n"
        let (asked, ask) = AsyncStream<Void>.makeStream()
        let server = try ScriptedServer { _ in
            ask.yield()
            return .stall(Array(head.utf8) + Self.content[..<1_000])
        }
        defer { server.stop() }
        let task = Task { () -> FailureCause? in
            do throws(FetchError) {
                _ = try await download(server, from: 0)
                return nil
            } catch { return error.cause }
        }
        for await _ in asked { break }
        task.cancel()
        #expect(await task.value == .connection)
    }

    @Test func aBodyComesWithAnOrdinarySession() async throws {
        let server = try ScriptedServer { _ in .reply(200, body: [7]) }
        defer { server.stop() }
        let url = try #require(URL(string: server.url))
        #expect(try await fetcher.body(ResourceRequest(url, .catalog), limit: 9).body == Data([7]))
    }
}
