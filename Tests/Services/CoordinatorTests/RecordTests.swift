import Digests
import Foundation
import GRDB
import Scheduling
import Testing
import Tiles
import Wire

@testable import Coordinator

/// Records keep their values in the database and in the log.
struct RecordTests {
    private static let digest = Digest(bytes: [UInt8](repeating: 0x9C, count: 32))

    private static let job: JobSummary = {
        var counts = JobCounts()
        (counts.tiles, counts.stored, counts.empty, counts.failed) = (1, 2, 3, 4)
        (counts.bytes, counts.reused, counts.notModified, counts.received) = (.max, 6, 7, 1 << 63)
        (counts.receivedAgain, counts.notSent) = (14, .max)
        counts.batches = [8, 9, 10, 11, 12, 13]
        var job = JobSummary(
            id: 3, requestID: "r", priority: -5, weight: 7, allowedMissing: 0.25, state: .failed, reason: "torn",
            counts: counts, after: [1, 2], identity: digest, keepsBlobs: true, wasPaused: true, sourceVersion: "etag")
        job.blockList = "used: 3 blocks in 99 bytes"
        return job
    }()

    private static let package = Package(
        id: "EE", tiles: 99, state: .publishing, attempts: 2, losses: 255, token: LeaseToken(epoch: 9, counter: 7),
        owner: SessionID(.max), manifest: digest,
        merged: digest.map {
            MergedPackage(
                digest: $0, size: 5, tiles: 6, tilesHash: "hash",
                files: [MergedFile(format: "pmtiles", digest: $0, size: 8)])
        },
        version: 3, path: "packages/3/EE.mbtiles", trouble: Trouble(cause: "disk-full", detail: "d"))

    @Test func everyFieldOfAJobAndAPackageIsReadBack() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "records-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try StateStore(folder: folder)
        let stored = StoredJob(summary: Self.job, batches: [], packages: [Self.package], payload: [1])
        try await store.apply([.insertJob(stored)], wall: 5)
        #expect(try await store.load().jobs == [stored])
        #expect(try await store.replay().jobs.map(\.summary) == [Self.job])
        #expect(try await store.replay().jobs.map(\.packages) == [[Self.package]])
        await store.close()
    }

    /// Parts are read back in the order of their numbers, not of their names.
    @Test func aPackageInPartsIsReadBack() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "records-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let digest = try #require(Self.digest)
        var package = Self.package
        let files = try (1...12).flatMap { number -> [MergedFile] in
            let part = MergedPart(
                number: UInt32(number), tiles: 1 << 40 + UInt64(number), tilesHash: "hash \(number)",
                first: try #require(TileID(zoom: 22, x: number, y: 4_194_303)), common: 3)
            return ["mbtiles", "pmtiles"].map { MergedFile(format: $0, digest: digest, size: 8, part: part) }
        }
        package = Package(
            id: "CA", tiles: 99, state: .publishing, attempts: 0, losses: 0, token: nil, owner: 0, manifest: digest,
            merged: MergedPackage(digest: digest, size: 5, tiles: 6, tilesHash: "hash", files: files), version: 3,
            path: "packages/3/CA-1.mbtiles", trouble: nil)
        let store = try StateStore(folder: folder)
        let stored = StoredJob(summary: Self.job, batches: [], packages: [package], payload: [1])
        try await store.apply([.insertJob(stored)], wall: 5)
        #expect(try await store.load().jobs == [stored])
        #expect(try await store.replay().jobs.map(\.packages) == [[package]])
        #expect(package.merged?.parts.map(\.part.number) == Array(1...12))
        await store.close()
    }

    /// A state file of an earlier program keeps the files of its packages.
    @Test func filesOfAnEarlierStateAreKept() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "records-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try StateStore(folder: folder)
        let stored = StoredJob(summary: Self.job, batches: [], packages: [Self.package], payload: [1])
        try await store.apply([.insertJob(stored)], wall: 5)
        await store.close()
        let file = try #require(
            try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil).first {
                $0.pathExtension == "sqlite"
            })
        let queue = try DatabaseQueue(path: file.path)
        try await queue.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE old (job INTEGER NOT NULL, idx INTEGER NOT NULL, format TEXT NOT NULL, digest BLOB NOT NULL,
                        size INTEGER NOT NULL, PRIMARY KEY (job, idx, format)) STRICT, WITHOUT ROWID;
                    INSERT INTO old SELECT job, idx, format, digest, size FROM package_file;
                    DROP TABLE package_file;
                    ALTER TABLE old RENAME TO package_file;
                    DELETE FROM grdb_migrations WHERE identifier = 'parts of packages'
                    """)
        }
        try queue.close()
        let again = try StateStore(folder: folder)
        #expect(try await again.load().jobs == [stored])
        await again.close()
    }

    /// An insert must not replace another job with the same request.
    @Test func aRequestIsStoredOnce() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "records-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try StateStore(folder: folder)
        let first = StoredJob(
            summary: JobSummary(id: 1, requestID: "r", priority: 0, weight: 1, allowedMissing: 0), batches: [],
            packages: [])
        let second = StoredJob(
            summary: JobSummary(id: 2, requestID: "r", priority: 0, weight: 1, allowedMissing: 0), batches: [],
            packages: [])
        try await store.apply([.insertJob(first)], wall: 5)
        await #expect(throws: DatabaseError.self) { try await store.apply([.insertJob(second)], wall: 6) }
        #expect(try await store.load().jobs.map(\.summary.id) == [1])
        await store.close()
    }

    @Test func aRowWithoutItsValuesIsDamaged() throws {
        var row = JobRecord.table.logged(Self.job)
        #expect(try JobRecord.summary(3, JobRecord.table.reader(row) { "row" }) == Self.job)
        row.integers.removeLast()
        #expect(throws: (any Error).self) { try JobRecord.table.reader(row) { "row" } }
        var unknown = JobRecord.table.logged(Self.job)
        unknown.texts = unknown.texts.map { $0 == "failed" ? "asleep" : $0 }
        #expect(throws: (any Error).self) { try JobRecord.summary(3, JobRecord.table.reader(unknown) { "row" }) }
    }
}
