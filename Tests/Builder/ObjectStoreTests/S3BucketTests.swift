import Digests
import Errors
import Files
import Foundation
import S3
import TestSupport
import Testing
import Transfer

@testable import ObjectStore

/// The client against a real server that checks signatures and bodies.
@Suite(.enabled(if: S3Server.obstacle == nil, "\(S3Server.obstacle ?? "")"), .timeLimit(.minutes(15)))
struct S3BucketTests {
    private let scratch = FileManager.default.temporaryDirectory.appending(path: "s3-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true) }

    private func bucket(
        _ bucket: String = S3Server.bucket, secret: String = "testing", region: String = "us-east-1",
        isSkewed: Bool = false
    ) async throws -> S3Bucket {
        let server = try await S3Server.shared()
        let environment = S3Server.environment.merging(["AWS_SECRET_ACCESS_KEY": secret]) { $1 }
        return try S3Bucket(
            try S3Location("s3://\(bucket)/\(UUID().uuidString)"),
            at: try S3Endpoint(isSkewed ? server.skewedEndpoint : server.endpoint, region: region),
            credentials: try S3Credentials(environment: environment), attempts: 3)
    }

    private func file(_ bytes: [UInt8]) throws -> URL {
        let url = scratch.appending(path: UUID().uuidString)
        try Data(bytes).write(to: url)
        return url
    }

    private static func noise(_ count: Int) -> [UInt8] {
        var state: UInt64 = 1
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
    }

    @Test func whatIsStoredIsFoundReadAndRemoved() async throws {
        let bucket = try await bucket()
        let bytes = Self.noise(3 << 20)
        let source = try file(bytes)
        let digest = Digest(of: bytes).hex
        let name = "ab/a key+with ü"
        #expect(try await bucket.size(of: name) == nil)
        #expect(try await bucket.read(name) == nil)
        try await bucket.put(name, file: source.path, size: UInt64(bytes.count), sha256: digest)
        #expect(try await bucket.size(of: name) == UInt64(bytes.count))
        #expect(try await bucket.read(name) == bytes)
        let copy = scratch.appending(path: "copy")
        #expect(try await bucket.download(name, to: copy.path, maxBytes: 4 << 20))
        #expect(try Data(contentsOf: copy) == Data(bytes))
        try await bucket.remove(name)
        try await bucket.remove(name)
        #expect(try await bucket.size(of: name) == nil)
        #expect(try await bucket.download(name, to: copy.path + "2", maxBytes: 1) == false)
    }

    @Test func aDownloadGoesOnWhereAnEarlierOneEnded() async throws {
        let bucket = try await bucket()
        let bytes = Self.noise(100_000)
        try await bucket.put("x", bytes: bytes)
        let copy = try file(Array(bytes[..<40_000]))
        #expect(try await bucket.download("x", to: copy.path, maxBytes: 100_000))
        #expect(try Data(contentsOf: copy) == Data(bytes))
        // A file that is longer than the object is of no use.
        let longer = try file(bytes + [1])
        #expect(try await bucket.download("x", to: longer.path, maxBytes: 200_000))
        #expect(try Data(contentsOf: longer) == Data(bytes))
    }

    @Test func bytesThatAreNotThoseOfTheDigestAreRefused() async throws {
        let bucket = try await bucket()
        let source = try file([1, 2, 3])
        await #expect(throws: S3Error.self) {
            try await bucket.put("x", file: source.path, size: 3, sha256: Digest(of: [1, 2, 4]).hex)
        }
        #expect(try await bucket.size(of: "x") == nil)
    }

    @Test func listsComeInPages() async throws {
        let bucket = try await bucket()
        let names = (0..<5).map { "a\($0)/x" }
        for name in names { try await bucket.put(name, bytes: Array(name.utf8)) }
        var found: [String] = []
        var token: String?
        var pages = 0
        repeat {
            let page = try await bucket.list(after: token, most: 2)
            found += page.objects.map(\.name)
            #expect(page.objects.allSatisfy { $0.size == 4 && abs(($0.stored ?? 0) - (page.serverTime ?? 1)) < 600 })
            token = page.next
            pages += 1
        } while token != nil && pages < 10
        #expect(found == names && pages == 3)
    }

    @Test func aLargeFileIsStoredInParts() async throws {
        let bucket = try await bucket()
        let bytes = Self.noise(11 << 20)
        let source = try file(bytes)
        try await bucket.putParts("big", file: source.path, size: UInt64(bytes.count), partBytes: 5 << 20)
        #expect(try await bucket.size(of: "big") == UInt64(bytes.count))
        let copy = scratch.appending(path: "copy")
        #expect(try await bucket.download("big", to: copy.path, maxBytes: 1 << 30))
        #expect(try Digest.ofFile(copy).digest == Digest(of: bytes))
    }

    @Test func anUploadThatFailedHalfwayLeavesNothing() async throws {
        let bucket = try await bucket()
        let source = try file(Self.noise(6 << 20))
        // The file ends before what was promised.
        await #expect(throws: S3Error.self) {
            try await bucket.putParts("big", file: source.path, size: 8 << 20, partBytes: 5 << 20)
        }
        #expect(try await bucket.size(of: "big") == nil)
        #expect(try await bucket.abortUploads(olderThan: -3_600) == 0, "it was given up at once")
        let left = try await bucket.send(.post, "left", query: [("uploads", "")])
        #expect(left.status == 200)
        #expect(try await bucket.abortUploads(olderThan: 3_600) == 0)
        #expect(try await bucket.abortUploads(olderThan: -3_600) == 1)
    }

    /// Whatever the server compares, the question leaves nothing, and puts are as it was found.
    @Test func whatTheServerComparesIsFound() async throws {
        let bucket = try await bucket()
        let found = try await bucket.comparisons()
        #expect(try await bucket.list().objects.isEmpty)
        try await bucket.put("x", bytes: [1])
        let object = try #require(try await bucket.object("x"))
        if found.absent { #expect(try await bucket.put("x", bytes: [2], if: .absent) == .refused) }
        if found.unchanged {
            let tag = try #require(object.tag)
            _ = try await bucket.put("x", bytes: [3], if: .unchanged(tag))
            #expect(try await bucket.put("x", bytes: [4], if: .unchanged(tag)) == .refused)
        }
        #expect(try await bucket.put("x", bytes: [5], if: nil) != .refused)
        #expect(try await bucket.holds("x", size: 1, sha256: Digest(of: [5])))
        #expect(try await bucket.holds("x", size: 1, sha256: Digest(of: [6])) == false)
        #expect(try await bucket.holds("y", size: 1, sha256: Digest(of: [5])) == false)
    }

    @Test func aWrongSecretIsNamedAndNothingSecretIs() async throws {
        let endpoint = try await S3Server.shared().endpoint
        let wrong = try await bucket(secret: "hidden-but-wrong")
        for attempt in 0..<2 {
            let error = await #expect(throws: S3Error.self) {
                if attempt == 0 { _ = try await wrong.size(of: "x") } else { try await wrong.put("x", bytes: [1]) }
            }
            #expect(error?.code == .wrongSecret)
            #expect(error?.message.contains("AWS_SECRET_ACCESS_KEY") == true)
            #expect(error?.message.contains(S3Server.bucket) == true)
            #expect(error?.message.contains(endpoint) == true)
            #expect(error?.message.contains("hidden") == false)
        }
    }

    @Test func aClockThatIsOffIsNamed() async throws {
        let error = await #expect(throws: S3Error.self) { _ = try await bucket(isSkewed: true).read("x") }
        #expect(error?.code == .clockSkew && error?.message.contains("clock") == true)
    }

    @Test func aBucketThatIsNotThereIsNamed() async throws {
        let error = await #expect(throws: S3Error.self) { _ = try await bucket("no-such-bucket").read("x") }
        #expect(error?.code == .noBucket && error?.message.contains("no-such-bucket") == true)
    }

    @Test func anotherRegionIsNamed() async throws {
        let error = await #expect(throws: S3Error.self) { _ = try await bucket(region: "mars-1").read("x") }
        #expect(error?.code == .wrongRegion && error?.message.contains("--s3-region") == true)
    }

    @Test func aServerThatIsAwayIsNamed() async throws {
        let closed = try ScriptedServer { _ in .reply(200) }
        closed.stop()
        let bucket = try S3Bucket(
            try S3Location("s3://tiles"), at: try S3Endpoint(closed.url),
            credentials: try S3Credentials(environment: S3Server.environment), attempts: 2)
        let error = await #expect(throws: S3Error.self) { _ = try await bucket.read("x") }
        #expect(error?.code == .unreachable && error?.isRetriable == true)
        #expect(error?.message.contains(closed.url) == true)
    }
}
