import Blobs
import Digests
import Errors
import Files
import Foundation
import Testing

struct FolderBlobStoreTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private func fill(_ store: FolderBlobStore, _ text: String) throws -> (URL, Digest) {
        let url = try store.temporaryURL()
        try Data(text.utf8).write(to: url)
        return (url, Digest(of: Array(text.utf8)))
    }

    @Test func aBlobIsFoundUnderItsDigestAfterPut() async throws {
        let store = try FolderBlobStore(scratch.file("blobs"), create: true)
        let (url, digest) = try fill(store, "hello")
        #expect(try store.url(of: digest) == nil)
        try await store.put(url, digest: digest)
        let place = try #require(try store.url(of: digest))
        #expect(place.path.hasSuffix("/\(digest.hex.prefix(2))/\(digest.hex)"))
        #expect(try bytes(place) == Array("hello".utf8))
        #expect(try await store.local(digest)?.url == place)
        #expect(try await store.size(of: digest) == 5)
        #expect(!FileManager.default.fileExists(atPath: url.path))
        try await store.remove(digest)
        try await store.remove(digest)
        #expect(try store.url(of: digest) == nil)
        #expect(try await store.local(digest) == nil)
        #expect(try await store.size(of: digest) == nil)
    }

    @Test func oldBlobsThatNobodyNamesAreSweptAway() async throws {
        let store = try FolderBlobStore(scratch.file("blobs"), create: true)
        var digests: [Digest] = []
        for text in ["named", "old", "young"] {
            let (url, digest) = try fill(store, text)
            try await store.put(url, digest: digest)
            digests.append(digest)
        }
        for digest in digests.prefix(2) {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -7_200)],
                ofItemAtPath: try #require(try store.url(of: digest)).path)
        }
        let named = digests[0]
        #expect(try await store.sweep(olderThan: 3_600) { $0 == named } == 1)
        #expect(try digests.map { try store.url(of: $0) != nil } == [true, false, true])
    }

    @Test func puttingABlobMendsOneThatRotted() async throws {
        let store = try FolderBlobStore(scratch.file("blobs"), create: true)
        let (first, digest) = try fill(store, "hello")
        try await store.put(first, digest: digest)
        try Data("jello".utf8).write(to: try #require(try store.url(of: digest)))
        let (second, _) = try fill(store, "hello")
        try await store.put(second, digest: digest)
        #expect(try bytes(try #require(try store.url(of: digest))) == Array("hello".utf8))
    }

    @Test func puttingTheSameBlobAgainChangesNothing() async throws {
        let store = try FolderBlobStore(scratch.file("blobs"), create: true)
        let (first, digest) = try fill(store, "hello")
        try await store.put(first, digest: digest)
        let (second, _) = try fill(store, "hello")
        try await store.put(second, digest: digest)
        #expect(try bytes(try #require(try store.url(of: digest))) == Array("hello".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.file("blobs/tmp").path).isEmpty)
    }

    @Test func aBlobThatLostItsEndIsReplaced() async throws {
        let store = try FolderBlobStore(scratch.file("blobs"), create: true)
        let (first, digest) = try fill(store, "hello")
        try await store.put(first, digest: digest)
        let place = try #require(try store.url(of: digest))
        try Data("hel".utf8).write(to: place)
        let (second, _) = try fill(store, "hello")
        try await store.put(second, digest: digest)
        #expect(try bytes(place) == Array("hello".utf8))
    }

    @Test func theStoreKeepsItsIdAndIsNeverMadeByAWorker() throws {
        let folder = scratch.file("a/b/blobs")
        let missing = #expect(throws: StorageError.self) { try FolderBlobStore(folder, create: false) }
        #expect(missing?.code == .storeMissing)
        #expect(missing?.message.contains(folder.path) == true)
        let made = try FolderBlobStore(folder, create: true)
        #expect(made.id.utf8.count == 32)
        #expect(try FolderBlobStore(folder, create: true).id == made.id)
        #expect(try FolderBlobStore(folder, create: false).id == made.id)
        #expect(try FolderBlobStore(scratch.file("other"), create: true).id != made.id)
    }

    @Test func aStoreThatIsAwayIsNotMadeAgainByAPut() async throws {
        let folder = scratch.file("blobs")
        let store = try FolderBlobStore(folder, create: true)
        let file = scratch.file("kept")
        try Data("hello".utf8).write(to: file)
        try FileManager.default.moveItem(at: folder, to: scratch.file("away"))
        #expect(throws: StorageError.self) { try store.putBlocking(file, digest: Digest(of: Array("hello".utf8))) }
        // One of that name would stand in the way when the mount comes back.
        #expect(!FileManager.default.fileExists(atPath: folder.path))
        try FileManager.default.moveItem(at: scratch.file("away"), to: folder)
        try store.putBlocking(file, digest: Digest(of: Array("hello".utf8)))
        #expect(try store.url(of: Digest(of: Array("hello".utf8))) != nil)
    }

    @Test func processesThatMakeTheStoreAtOnceAgreeOnItsId() async throws {
        let folder = scratch.file("blobs")
        let ids = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<16 { group.addTask { try FolderBlobStore(folder, create: true).id } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(ids.count == 1)
    }

    @Test func temporariesGoAwayWithTheStoreThatGaveThemOut() async throws {
        let other = try FolderBlobStore(scratch.file("blobs"), create: true)
        let (foreign, _) = try fill(other, "foreign")
        do {
            let store = try FolderBlobStore(scratch.file("blobs"), create: false)
            _ = try fill(store, "own")
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: scratch.file("blobs/tmp").path)
        #expect(left == [foreign.lastPathComponent])
        #expect(try await other.removeStaleTemporaries(olderThan: 86_400) == 0)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -100_000)], ofItemAtPath: foreign.path)
        #expect(try await other.removeStaleTemporaries(olderThan: 86_400) == 1)
    }

    @Test func aFullDiskIsNamedWithItsPath() throws {
        // The kernel's behaviour is tested in ops (a small tmpfs); here the two rules that convert its answer.
        let store = try FolderBlobStore(scratch.file("blobs"), create: true, reserve: UInt64.max)
        let refused = #expect(throws: StorageError.self) { try store.temporaryURL() }
        #expect(refused?.code == .diskFull)
        #expect(refused?.message.contains(scratch.file("blobs").path) == true)
        let mapped = StorageError.system(ENOSPC, action: "write", path: "/some/where")
        #expect(mapped.code == .diskFull && mapped.message.contains("/some/where"))
        #expect(StorageError.system(EDQUOT, action: "write", path: "/x").code == .diskFull)
        #expect(StorageError.system(EACCES, action: "write", path: "/x").code == .io)
    }

    @Test func aSmallFileIsReplacedWholeOrNotAtAll() throws {
        let url = scratch.file("list.json")
        try Durable.write([1, 2, 3], to: url)
        try Durable.write([4], to: url)
        #expect(try bytes(url) == [4])
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path) == ["list.json"])
        #expect(throws: StorageError.self) { try Durable.write([1], to: scratch.file("no/such/folder")) }
    }
}
