import Blobs
import Digests
import Errors
import Files
import Foundation
import S3
import TestSupport
import Testing

@testable import ObjectStore

/// The store against a real server.
@Suite(.enabled(if: S3Server.obstacle == nil, "\(S3Server.obstacle ?? "")"), .timeLimit(.minutes(15)))
struct S3BlobStoreTests {
    private let scratch = FileManager.default.temporaryDirectory.appending(path: "s3-store-\(UUID().uuidString)")
    private let bucket: S3Bucket

    init() async throws {
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        bucket = try S3Bucket(
            try S3Location("s3://\(S3Server.bucket)/\(UUID().uuidString)"),
            at: try S3Endpoint(try await S3Server.shared().endpoint),
            credentials: try S3Credentials(environment: S3Server.environment))
    }

    private func store(_ name: String, create: Bool) async throws -> S3BlobStore {
        try await S3BlobStore(bucket, cache: try BlobCache(scratch.appending(path: name)), create: create)
    }

    private func put(_ text: String, in store: S3BlobStore) async throws -> Digest {
        let bytes = Array(text.utf8)
        let file = try store.temporaryURL()
        try Data(bytes).write(to: file)
        let digest = Digest(of: bytes)
        try await store.put(file, digest: digest)
        #expect(!FileManager.default.fileExists(atPath: file.path), "the temporary name is gone")
        return digest
    }

    @Test func onlyACoordinatorMakesAStoreAndAllKnowItByOneName() async throws {
        let error = await #expect(throws: StorageError.self) { _ = try await store("worker", create: false) }
        #expect(error?.code == .storeMissing && error?.message.contains("store-id") == true)
        let made = try await store("coordinator", create: true)
        let again = try await store("restarted", create: true)
        let worker = try await store("worker", create: false)
        #expect(made.id == again.id && made.id == worker.id && made.id.utf8.count == 32)
    }

    @Test func whatOneStoresAnotherFinds() async throws {
        let one = try await store("one", create: true)
        let other = try await store("other", create: false)
        let digest = try await put("shard", in: one)
        #expect(try await put("shard", in: other) == digest, "storing it again is fine")
        let third = try await store("third", create: false)
        #expect(try await third.size(of: digest) == 5)
        let blob = try #require(try await third.local(digest))
        #expect(try Data(contentsOf: blob.url) == Data("shard".utf8))
        try await one.remove(digest)
        try await one.remove(digest)
        #expect(try await third.size(of: digest) == nil)
        #expect(try await store("fourth", create: false).local(digest) == nil)
    }

    @Test func bytesThatAreNotTheDigestsAreNotBelieved() async throws {
        let store = try await store("one", create: true)
        let digest = Digest(of: Array("right".utf8))
        try await bucket.put(S3BlobStore.name(digest), bytes: Array("wrong".utf8))
        let error = await #expect(throws: StorageError.self) { _ = try await store.local(digest) }
        #expect(error?.code == .digestMismatch)
    }

    @Test func aSweepLeavesYoungNamedAndForeignObjects() async throws {
        let store = try await store("one", create: true)
        let named = try await put("named", in: store)
        let forgotten = try await put("forgotten", in: store)
        try await bucket.put("README", bytes: [1])
        #expect(try await store.sweep(olderThan: 3_600) { _ in false } == 0)
        // The server's clock counts whole seconds, so an age below zero is everything.
        #expect(try await store.sweep(olderThan: -60) { $0 == named } == 1)
        #expect(try await store.size(of: forgotten) == nil)
        #expect(try await store.size(of: named) == 5)
        #expect(try await bucket.size(of: "README") == 1)
        #expect(try await store.removeStaleTemporaries(olderThan: 86_400) == 0)
    }
}

/// What happens while the server is away.
struct PatienceTests {
    @Test func aServerThatComesBackIsWaitedFor() async throws {
        nonisolated(unsafe) var calls = 0  // Owned by this test's one task.
        let value = try await Patience(limit: .seconds(60)).with { () -> Int in
            calls += 1
            if calls < 2 { throw S3Error(.unreachable, "away") }
            return 7
        }
        #expect(value == 7 && calls == 2)
    }

    @Test func whatWaitingDoesNotCureIsToldAtOnce() async throws {
        let error = await #expect(throws: StorageError.self) {
            try await Patience(limit: .seconds(60)).with { () -> Int in throw S3Error(.wrongSecret, "no") }
        }
        #expect(error?.code == .storeMissing && error?.message == "no")
    }
}
