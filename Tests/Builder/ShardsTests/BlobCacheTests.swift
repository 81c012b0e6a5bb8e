import Blobs
import Digests
import Errors
import Files
import Foundation
import Synchronization
import Testing

private final class Fetches: Sendable {
    let count = Mutex(0)
}

@Suite(.timeLimit(.minutes(15)))
struct BlobCacheTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private func cache(limit: UInt64 = 1 << 20) throws -> BlobCache {
        try BlobCache(scratch.file("cache"), limit: limit)
    }

    private static func blob(_ text: String) -> (bytes: [UInt8], digest: Digest) {
        (Array(text.utf8), Digest(of: Array(text.utf8)))
    }

    private func files() throws -> [String] {
        let parent = scratch.file("cache")
        return try FileManager.default.contentsOfDirectory(atPath: parent.path).filter { $0.hasPrefix("packhorse-") }
            .flatMap { try FileManager.default.contentsOfDirectory(atPath: parent.appendingPathComponent($0).path) }
            .filter { $0 != "lock" }
    }

    @Test func allWhoWantABlobShareOneDownload() async throws {
        let cache = try cache()
        let (bytes, digest) = Self.blob("hello")
        let fetched = Fetches()
        let gate = AsyncStream.makeStream(of: Void.self)
        let blobs = try await withThrowingTaskGroup(of: LocalBlob?.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await cache.blob(digest) { file in
                        fetched.count.withLock { $0 += 1 }
                        for await _ in gate.stream { break }
                        try Data(bytes).write(to: file)
                        return true
                    }
                }
            }
            gate.continuation.yield()
            return try await group.reduce(into: [LocalBlob]()) { if let blob = $1 { $0.append(blob) } }
        }
        #expect(blobs.count == 8)
        #expect(fetched.count.withLock { $0 } == 1)
        #expect(try Data(contentsOf: blobs[0].url) == Data(bytes))
        _ = try await cache.blob(digest) { _ in
            Issue.record("it is there")
            return false
        }
    }

    @Test func wrongBytesAndFailuresLeaveNothingAndAreTriedAgain() async throws {
        let cache = try cache()
        let (bytes, digest) = Self.blob("hello")
        let wrong = await #expect(throws: StorageError.self) {
            try await cache.blob(digest) { file in
                try Data("other".utf8).write(to: file)
                return true
            }
        }
        #expect(wrong?.code == .digestMismatch)
        #expect(try await cache.blob(digest) { _ in false } == nil)
        #expect(try files().isEmpty)
        let blob = try await cache.blob(digest) { file in
            try Data(bytes).write(to: file)
            return true
        }
        #expect(blob != nil)
    }

    @Test func whatIsHeldStaysAndTheRestIsBounded() async throws {
        let cache = try cache(limit: 1000)
        func get(_ number: Int) async throws -> LocalBlob? {
            let (bytes, digest) = Self.blob(String(repeating: "\(number)", count: 400))
            return try await cache.blob(digest) { file in
                try Data(bytes).write(to: file)
                return true
            }
        }
        var held: [LocalBlob] = []
        for number in 0..<5 { held.append(try #require(try await get(number))) }
        #expect(try files().count == 5, "all are held, whatever the limit")
        for blob in held { #expect(FileManager.default.fileExists(atPath: blob.url.path)) }
        held = []
        #expect(try files().count == 2)
        _ = try await get(9)
        #expect(try files().count == 2)
    }

    @Test func aDownloadThatNobodyWaitsForIsCancelled() async throws {
        let cache = try cache()
        let (bytes, digest) = Self.blob("hello")
        let started = AsyncStream.makeStream(of: Void.self)
        let waiter = Task {
            try await cache.blob(digest) { _ in
                started.continuation.yield()
                try await Task.sleep(for: .seconds(3600))
                return true
            }
        }
        for await _ in started.stream { break }
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await waiter.value }
        let blob = try await cache.blob(digest) { file in
            try Data(bytes).write(to: file)
            return true
        }
        #expect(blob != nil)
    }

    @Test func aKeptFileNeedsNoDownload() async throws {
        let cache = try cache()
        let (bytes, digest) = Self.blob("hello")
        for _ in 0..<2 {
            let file = try cache.temporaryURL()
            try Data(bytes).write(to: file)
            try cache.adopt(file, digest: digest)
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }
        let blob = try await cache.blob(digest) { _ in false }
        #expect(try blob.map { try Data(contentsOf: $0.url) } == Data(bytes))
        #expect(try files().count == 1)
    }

    @Test func whatDeadProcessesLeftIsRemovedAndTheLivingAreLeftAlone() throws {
        let living = try cache()
        let file = try living.temporaryURL()
        try Data("mine".utf8).write(to: file)
        let dead = scratch.file("cache").appendingPathComponent("packhorse-dead")
        try FileManager.default.createDirectory(at: dead, withIntermediateDirectories: true)
        try Data("old".utf8).write(to: dead.appendingPathComponent("lock"))
        try Data("old".utf8).write(to: dead.appendingPathComponent("blob"))
        let other = try cache()
        #expect(!FileManager.default.fileExists(atPath: dead.path))
        #expect(FileManager.default.fileExists(atPath: file.path))
        withExtendedLifetime((living, other)) {}
    }

    @Test func theFolderGoesWithTheCache() throws {
        do {
            let file = try cache().temporaryURL()
            #expect(!FileManager.default.fileExists(atPath: file.deletingLastPathComponent().path))
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: scratch.file("cache").path)
        #expect(left == [".packhorse-lock"])
    }
}
