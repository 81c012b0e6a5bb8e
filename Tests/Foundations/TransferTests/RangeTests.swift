import Errors
import Synchronization
import TestSupport
import Testing

@testable import Transfer

/// Requests for a part of a file.
@Suite(.timeLimit(.minutes(15)))
struct RangeTests {
    private static let file = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

    private static func client() throws -> TransferClient {
        var options = TransferOptions()
        options.retry.base = .milliseconds(1)
        return try TransferClient(options)
    }

    private static func ask(_ server: RangeServer, _ range: Range<UInt64>) async throws -> TransferResponse {
        var request = TransferRequest(tag: 1, url: server.url)
        request.range = range
        return try await client().send(request)
    }

    @Test func aPartIsWhatWasAskedFor() async throws {
        let server = try RangeServer(Self.file)
        defer { server.stop() }
        let answer = try await Self.ask(server, 1_000..<150_000)
        #expect(answer.status == 206 && answer.body == Array(Self.file[1_000..<150_000]))
        #expect(answer.headers.rangeTotal == 200_000)
        #expect(server.requests[0].headers["accept-encoding"] == "identity", "bytes of a packed file are others")
        // Bytes beyond the end do not exist.
        #expect(try await Self.ask(server, 199_990..<300_000).body == Array(Self.file[199_990...]))
        #expect(try await Self.ask(server, 200_000..<200_001).status == 416)
    }

    @Test func anEmptyPartCannotBeAskedFor() async throws {
        let server = try RangeServer(Self.file)
        defer { server.stop() }
        let error = await #expect(throws: TransferError.self) { try await Self.ask(server, 5..<5) }
        #expect(error?.code == .invalidRequest && server.requests.isEmpty)
    }

    @Test func aCutPartIsNotAskedForAgainAsAWhole() async throws {
        var manner = RangeServer.Manner()
        manner.cutsFirst = true
        let server = try RangeServer(Self.file, manner)
        defer { server.stop() }
        let answer = try await Self.ask(server, 1_000..<101_000)
        #expect(answer.body == Array(Self.file[1_000..<101_000]))
        #expect(server.requests.map { $0.headers["range"] } == ["bytes=1000-100999", "bytes=51000-100999"])
    }

    @Test func whatAnotherVersionBeganIsLeft() async throws {
        var manner = RangeServer.Manner()
        manner.cutsFirst = true
        let server = try RangeServer(Self.file, manner)
        defer { server.stop() }
        let other = Self.file.map { ~$0 }
        server.replace(with: other, afterRequests: 1)
        let answer = try await Self.ask(server, 1_000..<101_000)
        #expect(answer.body == Array(other[1_000..<101_000]))
    }

    @Test(arguments: [RangeServer.Manner.Validator.weakETag, .lastModified, .none])
    func withoutAStrongETagACutPartIsAskedForFromItsStart(_ validator: RangeServer.Manner.Validator) async throws {
        var manner = RangeServer.Manner()
        (manner.cutsFirst, manner.validator) = (true, validator)
        let server = try RangeServer(Self.file, manner)
        defer { server.stop() }
        #expect(try await Self.ask(server, 1_000..<3_000).body == Array(Self.file[1_000..<3_000]))
        #expect(server.requests.map { $0.headers["range"] } == ["bytes=1000-2999", "bytes=1000-2999"])
    }

    @Test(arguments: [1_000, 199_000])
    func aServerThatSendsTheWholeIsRefusedAtOnce(_ size: Int) async throws {
        var manner = RangeServer.Manner()
        manner.ignoresRange = true
        let server = try RangeServer(Array(Self.file.prefix(size)), manner)
        defer { server.stop() }
        let error = await #expect(throws: TransferError.self) { try await Self.ask(server, 10..<20) }
        #expect(error?.code == .rangeIgnored && server.requests.count == 1)
    }

    @Test func anotherPartIsRefusedAfterSomeAttempts() async throws {
        var manner = RangeServer.Manner()
        manner.isShifted = true
        let server = try RangeServer(Self.file, manner)
        defer { server.stop() }
        let error = await #expect(throws: TransferError.self) { try await Self.ask(server, 10..<20) }
        #expect(error?.code == .wrongRange && server.requests.count == RetryPolicy().maxAttempts)
    }

    @Test func aRequestAfterAPartIsPlainAgain() async throws {
        let server = try RangeServer(Self.file)
        defer { server.stop() }
        var options = TransferOptions()
        options.concurrency = 1
        let client = try TransferClient(options)
        var request = TransferRequest(tag: 1, url: server.url)
        request.range = 0..<10
        _ = try await client.send(request)
        #expect(try await client.get(server.url).status == 400, "without a range")
    }
}
