import Blobs
import Digests
import Files
import Foundation
import Testing
import Wire

@testable import Coordinator

/// The blob endpoint of a real coordinator, spoken to over a socket.
@Suite(.timeLimit(.minutes(15)))
struct BlobEndpointTests {
    private static let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    private let digest = Digest(of: Self.bytes)

    private func fixture() throws -> Fixture { try Fixture { $0.blobBind = "tcp://127.0.0.1:*" } }

    private var begin: Message {
        .putBegin(
            .make {
                $0.digest = Data(digest.bytes)
                $0.size = 300_000
            })
    }

    private func chunk(_ range: Range<Int>) -> Message {
        .chunk(
            .make {
                $0.digest = Data(digest.bytes)
                $0.offset = UInt64(range.lowerBound)
                $0.data = Self.bytes[range]
            })
    }

    @Test func aCutUploadGoesOnAfterARestartAtTheByteWhereItWas() async throws {
        let fixture = try fixture()
        try await fixture.withCoordinator { service in
            let talker = try Talker(try #require(service.blobEndpoint))
            guard case .have(let first) = try await talker.ask(begin) else { throw Talker.Silence() }
            #expect(first.offset == 0)
            #expect(first.credit == 300_000)
            try await talker.say(chunk(0..<100_000))
            try await talker.say(chunk(100_000..<150_000))
            let part = fixture.options.blobs.appendingPathComponent("tmp/\(digest.hex).part").path
            let deadline = ContinuousClock.now + .seconds(30)
            while (try? FileManager.default.attributesOfItem(atPath: part)[.size] as? Int) != 150_000 {
                guard ContinuousClock.now < deadline else { throw Talker.Silence() }
                try await Task.sleep(for: .milliseconds(10))
            }
        }
        #expect(try fixture.blobs().length(of: digest) == nil)
        try await fixture.withCoordinator { service in
            let talker = try Talker(try #require(service.blobEndpoint))
            guard case .have(let resumed) = try await talker.ask(begin) else { throw Talker.Silence() }
            try #require(resumed.offset == 150_000)
            try await talker.say(chunk(150_000..<300_000))
            try await talker.say(.putEnd(.make { $0.digest = Data(digest.bytes) }))
            var stored = false
            while !stored {
                if case .stored(let body) = try await talker.ask(begin) { stored = body.size == 300_000 }
            }
            #expect(try fixture.blobs().length(of: digest) == 300_000)
            let (found, _) = try Digest.ofFile(try #require(try fixture.blobs().url(of: digest)))
            #expect(found == digest)
        }
    }

    /// That its link is cut is tested with the links (ZeroMQTests).
    @Test func aPeerThatTalksNonsenseHoldsUpNobody() async throws {
        let fixture = try fixture()
        try await fixture.withCoordinator { service in
            let talker = try Talker(try #require(service.blobEndpoint))
            for _ in 0..<3 { try await talker.say(.ping(PBPing())) }
            let other = try Talker(try #require(service.blobEndpoint))
            guard case .have = try await other.ask(begin) else { throw Talker.Silence() }
        }
    }

    @Test func aWorkerThatStreamsNeedsNoStoreButAnEndpoint() async throws {
        let hello = Message.hello(
            .make {
                $0.name = "far"
                $0.canFetch = true
                $0.shardFormats = [1]
                $0.streams = true
            })
        try await fixture().withCoordinator { service in
            guard case .welcome(let body) = try await Talker(service.workEndpoint).ask(hello) else {
                throw Talker.Silence()
            }
            let port = try #require(service.blobEndpoint?.split(separator: ":").last.flatMap { UInt32($0) })
            #expect(body.blobPort == port)
        }
        try await Fixture().withCoordinator { service in
            guard case .reject(let body) = try await Talker(service.workEndpoint).ask(hello) else {
                throw Talker.Silence()
            }
            #expect(body.code == "no-blob-endpoint")
            #expect(!body.retriable)
        }
    }
}
