import Digests
import Errors
import Files
import Foundation
import Testing

@testable import StateBackups

/// Every backup is restored with the bytes that the file had, and only changed pages are written.
struct BackupWriterTests {
    private static let claim = PlaceClaim(epoch: 3, run: 1, lineage: 5)

    @Test func eachBackupHasTheFileOfItsTime() async throws {
        let file = try PageFile(pages: 20_000)
        let writer = BackupWriter(file.place, claim: Self.claim)
        var versions: [[UInt8]] = []
        var written: [UInt64] = []
        for version in 1...4 {
            if version > 1 { file.change([0, 7 * version, 19_000], version: version) }
            if version == 4 { file.pages.removeLast(500) }
            written.append(try await writer.write(try file.copy(), now: Int64(1_000 * version)))
            versions.append(file.bytes)
        }
        #expect(written[0] > 20_000 * 512)
        #expect(written[1...].allSatisfy { $0 < 4 * 512 + 1_000 }, "\(written)")
        let reader = BackupReader(file.place)
        let indexes = try await reader.indexes()
        #expect(indexes.map(\.name.seconds) == [1_000, 2_000, 3_000, 4_000])
        #expect(indexes.map(\.segments.count) == [3, 5, 7, 9])
        for (index, version) in zip(indexes, versions) { #expect(try await file.restored(index) == version) }
        #expect(try await reader.newest() == indexes.last?.name)
        #expect(try await reader.newest(at: 3_999) == indexes[2].name)
        let early = await #expect(throws: BackupError.self) { try await reader.newest(at: 999) }
        #expect(early?.code == .noBackup && early?.message.contains("1970-01-01T00:16:40Z") == true)
    }

    @Test func allPagesAreWrittenAgainWhenTheChangesAreAsLargeAsTheFile() async throws {
        let file = try PageFile(pages: 3_000)
        let writer = BackupWriter(file.place, claim: Self.claim)
        try await writer.write(try file.copy(), now: 0)
        for version in 1...3 {
            file.change(Array(0..<2_000), version: version)
            try await writer.write(try file.copy(), now: Int64(version))
        }
        let indexes = try await BackupReader(file.place).indexes()
        #expect(indexes.map(\.segments.count) == [1, 2, 3, 1])
        #expect(try await file.restored(try #require(indexes.last)) == file.bytes)
    }

    @Test func aFailedAttemptSpoilsNoLaterBackup() async throws {
        let file = try PageFile(pages: 300)
        let writer = BackupWriter(file.place, claim: Self.claim)
        try await writer.write(try file.copy(), now: 1)
        let folder = file.place.folder.appending(path: "state-backups/index")
        try FileManager.default.moveItem(at: folder, to: file.folder.appending(path: "aside"))
        try Data().write(to: folder)
        file.change([5], version: 1)
        await #expect(throws: StorageError.self) { try await writer.write(try file.copy(), now: 2) }
        try FileManager.default.removeItem(at: folder)
        try FileManager.default.moveItem(at: file.folder.appending(path: "aside"), to: folder)
        file.change([9], version: 2)
        try await writer.write(try file.copy(), now: 3)
        let indexes = try await BackupReader(file.place).indexes()
        #expect(indexes.map(\.name.number) == [1, 2])
        #expect(try await file.restored(try #require(indexes.last)) == file.bytes)
    }

    @Test func segmentsThatVanishedAreWrittenAgain() async throws {
        let file = try PageFile(pages: 300)
        let writer = BackupWriter(file.place, claim: Self.claim)
        try await writer.write(try file.copy(), now: 1)
        #expect(try await writer.thin(now: 1))
        for name in try await file.place.names(of: .segments) { try await file.place.remove(name, .segments) }
        #expect(try await !writer.thin(now: 2))
        try await writer.write(try file.copy(), now: 3)
        let newest = try #require(try await BackupReader(file.place).indexes().last)
        #expect(newest.name.seconds == 3)
        #expect(try await file.restored(newest) == file.bytes)
    }

    @Test func pagesWithoutSegmentsAreRefusedBeforeMemoryIsTaken() async throws {
        let file = try PageFile(pages: 3)
        try await BackupWriter(file.place, claim: Self.claim).write(try file.copy(), now: 1)
        var index = try #require(try await BackupReader(file.place).indexes().first)
        index.pageCount = .max
        let error = await #expect(throws: BackupError.self) { try await file.restored(index) }
        #expect(error?.code == .damaged && error?.message.contains("too short") == true)
    }

    @Test func whatIsNoDatabaseIsRefused() async throws {
        let file = try PageFile(pages: 3)
        let writer = BackupWriter(file.place, claim: Self.claim)
        for bytes in [[], Array("SQLite format 3\0".utf8), Array(file.bytes.dropLast(1))] {
            let other = file.folder.appending(path: UUID().uuidString)
            try Data(bytes).write(to: other)
            let error = await #expect(throws: BackupError.self) { try await writer.write(other, now: 1) }
            #expect(error?.code == .damaged)
        }
        #expect(try await file.names(.index) == [])
    }

    @Test func whatNoBackupNeedsIsRemoved() async throws {
        let file = try PageFile(pages: 40)
        let hour: Int64 = 3_600
        let writer = BackupWriter(file.place, claim: Self.claim)
        for minute in 0..<200 {
            file.change([minute % 40], version: minute)
            try await writer.write(try file.copy(), now: Int64(minute) * 60)
        }
        let draft = file.place.folder.appending(path: "state-backups/segments/.x.0123.tmp")
        try Data([1]).write(to: draft)
        let successor = "0000001004-" + String(repeating: "a", count: 64)
        let orphan = "0000000002-" + String(repeating: "b", count: 64)
        for name in [successor, orphan, "notes.txt"] { try await file.place.write([1], to: name, of: .segments) }
        try await writer.thin(now: 199 * 60)
        #expect(!FileManager.default.fileExists(atPath: draft.path))
        let indexes = try await BackupReader(file.place).indexes()
        #expect((61...64).contains(indexes.count), "\(indexes.count)")
        let needed = Set(indexes.flatMap { $0.segments.map(\.name) })
        #expect(try await Set(file.names(.segments)) == needed.union([successor, "notes.txt"]))
        #expect(try await file.restored(try #require(indexes.last)) == file.bytes)
        // The next run knows what the one before left.
        let next = BackupWriter(file.place, claim: PlaceClaim(epoch: 4, run: 1, lineage: 5))
        try await next.write(try file.copy(), now: 100 * hour)
        try await next.thin(now: 100 * hour)
        let left = try await BackupReader(file.place).indexes()
        #expect(left.map(\.name.epoch) == [3, 4], "the last one of the first day, and the new one")
        for index in left { #expect(try await file.restored(index) == file.bytes) }
    }

    @Test func anIndexThatCannotBeReadKeepsItsSegments() async throws {
        let file = try PageFile(pages: 4)
        let writer = BackupWriter(file.place, claim: Self.claim)
        let name = BackupName(epoch: 2, number: 1, seconds: 1_000)
        let orphan = "0000000002-" + String(repeating: "b", count: 64)
        try await file.place.write([1, 2, 3], to: "\(name)", of: .index)
        try await file.place.write([1], to: orphan, of: .segments)
        try await writer.write(try file.copy(), now: 1_001)
        try await writer.thin(now: 1_001)
        #expect(try await file.names(.segments).contains(orphan))
        #expect(try await BackupReader(file.place).indexes().map(\.name.epoch) == [3])
    }

    @Test func aDamagedBackupIsNamedAndNotRestored() async throws {
        let file = try PageFile(pages: 40)
        try await BackupWriter(file.place, claim: Self.claim).write(try file.copy(), now: 1)
        let reader = BackupReader(file.place)
        let index = try await reader.index(try await reader.newest())
        let segment = try #require(index.segments.first)
        let bytes = try #require(try await file.place.read(segment.name, .segments))
        var spoilt = bytes
        spoilt[bytes.count / 2] ^= 1
        try await file.place.write(spoilt, to: segment.name, of: .segments)
        #expect(await #expect(throws: BackupError.self) { _ = try await file.restored(index) }?.code == .damaged)
        try await file.place.remove(segment.name, .segments)
        #expect(await #expect(throws: BackupError.self) { _ = try await file.restored(index) }?.code == .incomplete)
        try await file.place.write(bytes, to: segment.name, of: .segments)
        var wrong = index
        wrong.digest = Digest(of: [1])
        #expect(await #expect(throws: BackupError.self) { _ = try await file.restored(wrong) }?.code == .damaged)
        wrong = index
        wrong.pageCount = 41
        #expect(await #expect(throws: BackupError.self) { _ = try await file.restored(wrong) }?.code == .damaged)
        wrong.segments = []
        #expect(await #expect(throws: BackupError.self) { _ = try await file.restored(wrong) }?.code == .damaged)
    }
}
