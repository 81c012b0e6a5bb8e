import Digests
import Errors
import Foundation
import GRDB
import Scheduling
import Testing
import Tiles

@testable import Coordinator

struct StateStoreTests {
    private func folder() -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("state-\(UUID().uuidString)")
    }

    static func submission(batches: Int) -> JobSubmission {
        let planned = (0..<batches).compactMap { index -> PlannedBatch? in
            guard let cell = TileID(zoom: 11, x: index % 2_048, y: index / 2_048),
                let zooms = ZoomRange(min: 11, max: 14)
            else { return nil }
            return PlannedBatch(cell: cell, zooms: zooms, tiles: 85)
        }
        return JobSubmission(
            requestID: "r", allowedMissing: 0.5, batches: planned,
            packages: [Package(id: "P", tiles: UInt64(batches) * 85)],
            payload: [1, 2, 3])
    }

    /// A bit that flips in the name of a migration makes one that no build knows; so does a newer build.
    @Test func aDamagedHistoryIsNotANewerOne() async throws {
        let folder = folder()
        defer { do { try FileManager.default.removeItem(at: folder) } catch { Issue.record("\(error)") } }
        await (try StateStore(folder: folder)).close()
        let file = folder.appendingPathComponent("state.sqlite")
        let whole = try Data(contentsOf: file)
        let name = Data(StateStore.firstMigration.utf8)
        var (start, refused) = (whole.startIndex, 0)
        // In the table and in its index, of which one is read.
        while let place = whole[start...].range(of: name) {
            var bytes = whole
            bytes[place.lowerBound + 4] ^= 1
            try bytes.write(to: file)
            do {
                await (try StateStore(folder: folder)).close()
            } catch {
                #expect(error.code == .damagedState, "\(error)")
                refused += 1
            }
            start = place.upperBound
        }
        #expect(refused > 0)
        try whole.write(to: file)
        try await DatabaseQueue(path: file.path).write {
            try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99-later')")
        }
        let newer = #expect(throws: CoordinatorError.self) { try StateStore(folder: folder) }
        #expect(newer?.code == .newerState)
    }

    /// The tables of unreleased builds have other names of migrations.
    @Test func aFileOfAnUnreleasedBuildIsRefusedAndLeftAlone() async throws {
        let folder = folder()
        defer { do { try FileManager.default.removeItem(at: folder) } catch { Issue.record("\(error)") } }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("state.sqlite")
        let older = try DatabaseQueue(path: file.path)
        try await older.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
                    INSERT INTO grdb_migrations VALUES ('1'), ('2-events'), ('5-log-rows');
                    CREATE TABLE job (id INTEGER PRIMARY KEY);
                    INSERT INTO job VALUES (7);
                    """)
        }
        let refusal = #expect(throws: CoordinatorError.self) { try StateStore(folder: folder) }
        #expect(refusal?.code == .unreleasedState)
        #expect(refusal?.message.contains(file.path) == true)
        #expect(refusal?.message.contains("move the file away") == true)
        let rows = try await older.read { db in
            (
                try Int.fetchAll(db, sql: "SELECT id FROM job"),
                try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master")
            )
        }
        #expect(rows.0 == [7])
        #expect(rows.1 == 3)
    }

    @Test func theFileGivesBackWhatTheModelHolds() async throws {
        let folder = folder()
        defer { do { try FileManager.default.removeItem(at: folder) } catch { Issue.record("\(error)") } }
        let store = try StateStore(folder: folder)
        var scheduler = Scheduler(epoch: store.epoch, now: Tick(milliseconds: 0))
        var model = StoredState()
        let digest = try #require(Digest(bytes: [UInt8](repeating: 200, count: 32)))
        let tile = FailedTile(
            tile: try #require(TileID(zoom: 14, x: 3, y: 4)), trouble: Trouble(cause: "html-page", detail: "t"))
        let profile = SessionProfile(name: "w", host: "h", processID: 1, build: "b", canFetch: true, canMerge: true)
        let token = { (n: UInt32) in LeaseToken(epoch: store.epoch, counter: n) }
        let events: [Event] = [
            .submit(Self.submission(batches: 5)), .hello(SessionID(.max), profile, held: []),
            .ready(SessionID(.max), credit: 4),
            .commit(
                SessionID(.max), token(1),
                .fetch(
                    digest, FetchCounts(stored: 80, empty: 4, failed: 1, bodyBytes: 9, shardBytes: 8, footer: digest),
                    failures: [tile])
            ),
            .fail(SessionID(.max), token(2), Trouble(cause: "origin-down", detail: "d"), retriable: true),
            .fail(SessionID(.max), token(3), Trouble(cause: "bad-tileset", detail: "d"), retriable: false),
        ]
        for event in events {
            let writes = scheduler.handle(event, now: Tick(milliseconds: 1)).compactMap {
                if case .store(let write) = $0 { write } else { nil }
            }
            for write in writes { model.apply(write) }
            try await store.apply(writes, wall: 5)
        }
        let read = try await store.load()
        // Numbers of a running job are its batches'; the row's are as of its last change.
        #expect(read.jobs.map(\.batches) == model.jobs.map(\.batches))
        #expect(read.jobs.map(\.packages) == model.jobs.map(\.packages))
        #expect(read.jobs.map(\.payload) == [[1, 2, 3]])
        #expect(read.jobs.map(\.summary.requestID) == ["r"])
        #expect(Set(read.jobs[0].batches.map(\.state)) == [.done, .backoff, .dead, .leased, .ready])
        await store.close()

        let again = try StateStore(folder: folder)
        #expect(again.epoch == store.epoch + 1)
        #expect(try await again.load().jobs == read.jobs)
        await again.close()
    }

    @Test func aDamagedFileIsRefusedAndLeftAlone() throws {
        let folder = folder()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { do { try FileManager.default.removeItem(at: folder) } catch { Issue.record("\(error)") } }
        let file = folder.appendingPathComponent("state.sqlite")
        let bytes = Data(repeating: 0x41, count: 8_192)
        try bytes.write(to: file)
        do {
            _ = try StateStore(folder: folder)
            Issue.record("opened")
        } catch {
            #expect(error.code == .damagedState)
        }
        #expect(try Data(contentsOf: file) == bytes)
    }

    @Test func holdersOfSharesAreForTheVeryNextIncarnation() async throws {
        let folder = folder()
        defer { do { try FileManager.default.removeItem(at: folder) } catch { Issue.record("\(error)") } }
        func reopened(keeping holders: ShareHolders?) async throws -> ShareHolders? {
            let store = try StateStore(folder: folder)
            let found = try await store.load().holders
            if let holders { try await store.apply([], holders: holders, wall: 0) }
            await store.close()
            return found
        }
        let holders = ["a.example:8080": [3, SessionID(.max)], "b": [1]] as ShareHolders
        #expect(try await reopened(keeping: ["old": [7]]) == nil)
        #expect(try await reopened(keeping: holders) == ["old": [7]])
        #expect(try await reopened(keeping: nil) == holders)
        #expect(try await reopened(keeping: [:]) == nil, "the one between did not say what it granted")
        #expect(try await reopened(keeping: nil) == [:])
    }

    @Test func twentyFiveThousandNewBatchesCostUnderAMegabyte() async throws {
        let folder = folder()
        defer { do { try FileManager.default.removeItem(at: folder) } catch { Issue.record("\(error)") } }
        let store = try StateStore(folder: folder)
        var scheduler = Scheduler(epoch: store.epoch, now: Tick(milliseconds: 0))
        let writes = scheduler.handle(.submit(Self.submission(batches: 25_000)), now: Tick(milliseconds: 0))
            .compactMap { if case .store(let write) = $0 { write } else { nil } }
        try await store.apply(writes, wall: 0)
        await store.close()
        let size =
            try folder.appendingPathComponent("state.sqlite").resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
        #expect(size > 200_000)
        #expect(size < 1_000_000)
    }

    @Test func whatWasAcknowledgedIsInACopyOfTheFilesTakenAtThatMoment() async throws {
        let folder = folder()
        let copy = self.folder()
        defer {
            do { for url in [folder, copy] { try FileManager.default.removeItem(at: url) } } catch {
                Issue.record("\(error)")
            }
        }
        let store = try StateStore(folder: folder)
        var scheduler = Scheduler(epoch: store.epoch, now: Tick(milliseconds: 0))
        let writes = scheduler.handle(.submit(Self.submission(batches: 300)), now: Tick(milliseconds: 0))
            .compactMap { if case .store(let write) = $0 { write } else { nil } }
        try await store.apply(writes, wall: 0)
        // What a power cut would leave: the files as they are, nothing closed.
        try FileManager.default.copyItem(at: folder, to: copy)
        let survivor = try StateStore(folder: copy)
        #expect(try await survivor.load().jobs.map(\.batches.count) == [300])
        #expect(survivor.epoch == store.epoch + 1)
        await survivor.close()
        await store.close()
    }

    /// A new job costs no row for each batch; the first change of a batch makes its row.
    @Test func aBatchHasARowFromItsFirstChangeOn() async throws {
        let folder = folder()
        defer { do { try FileManager.default.removeItem(at: folder) } catch { Issue.record("\(error)") } }
        let store = try StateStore(folder: folder)
        var scheduler = Scheduler(epoch: store.epoch, now: Tick(milliseconds: 0))
        try await store.apply(scheduler.writes(.submit(Self.submission(batches: 40))), wall: 0)
        func rows() async throws -> Int? {
            try await store.perform { try Int.fetchOne($0, sql: "SELECT count(*) FROM batch") }
        }
        #expect(try await rows() == 0)
        let profile = SessionProfile(name: "w", host: "h", processID: 1, build: "b", canFetch: true, canMerge: true)
        try await store.apply(scheduler.writes(.hello(1, profile, held: [])), wall: 0)
        try await store.apply(scheduler.writes(.ready(1, credit: 3)), wall: 0)
        #expect(try await rows() == 3)
        #expect(try await store.load().jobs.map(\.batches) == [scheduler.batches(of: 1)])
        try await store.perform { try $0.execute(sql: "DELETE FROM plan") }
        await #expect(throws: CoordinatorError.self) { try await store.load() }
        await store.close()
    }

    /// Slices that were prepared by a retry which did not happen are ready at the next one.
    @Test(arguments: [nil, [3, 700, 1_100]] as [[BatchIndex]?])
    func aRetryResetsFailedBatchesInSlices(only: [BatchIndex]?) async throws {
        let folder = folder()
        defer { do { try FileManager.default.removeItem(at: folder) } catch { Issue.record("\(error)") } }
        let store = try StateStore(folder: folder)
        let count = 2 * StateStore.batchesInSlice + 200
        var scheduler = Scheduler(epoch: store.epoch, now: Tick(milliseconds: 0))
        let writes = scheduler.writes(.submit(Self.submission(batches: count)))
        try await store.apply(writes, wall: 0)
        let planned = scheduler.batches(of: 1)
        let failed = (0..<count).filter { $0 % 2 == 1 || $0 == 700 || $0 == 1_100 }
        let dead: [StoreWrite] = failed.map { index in
            let batch = planned[index]
            return .batch(
                1, index: BatchIndex(index),
                Batch(
                    cell: batch.cell, zooms: batch.zooms, tiles: batch.tiles, state: .dead, attempts: 5, losses: 1,
                    token: LeaseToken(7), owner: 0, digest: nil, result: FetchCounts(),
                    trouble: Trouble(cause: "http-500", detail: "d")))
        }
        try await store.apply(dead, wall: 1)
        #expect(try await store.resetBatches(of: 1, only: only, wall: 2) == nil, "it has not ended")
        #expect(try await store.load().jobs[0].batches.count { $0.state == .dead } == failed.count)
        try await store.apply(scheduler.writes(.cancel(1)), wall: 2)
        let kept = try #require(try await store.resetBatches(of: 1, only: only, wall: 3))
        #expect(kept.count == count)
        let left = kept.indices.filter { kept[$0].state == .dead }
        #expect(left == (only.map { only in failed.filter { !only.contains(BatchIndex($0)) } } ?? []))
        #expect(try await store.resetBatches(of: 1, only: only, wall: 4) == kept)
        let reopening = scheduler.writes(.reopen(1, batches: kept, needs: nil, only: only))
        #expect(!reopening.contains { if case .resetBatches = $0 { true } else { false } }, "nothing is left to reset")
        try await store.apply(reopening, wall: 5)
        let now = try await store.load().jobs
        #expect(now.map(\.batches) == [kept])
        #expect(StateFile.differences(now, try await store.replay()) == [])
        await store.close()
    }

    @Test func aFullDiskIsOfTheKindThatHeals() async throws {
        let folder = folder()
        defer { do { try FileManager.default.removeItem(at: folder) } catch { Issue.record("\(error)") } }
        let store = try StateStore(folder: folder)
        // A file that may not grow answers like a disk that is full.
        try await store.limitPages(40)
        var scheduler = Scheduler(epoch: store.epoch, now: Tick(milliseconds: 0))
        let writes = scheduler.handle(.submit(Self.submission(batches: 20_000)), now: Tick(milliseconds: 0))
            .compactMap { if case .store(let write) = $0 { write } else { nil } }
        do {
            try await store.apply(writes, wall: 0)
            Issue.record("it fitted")
        } catch {
            #expect(StateStore.mayHeal(error))
        }
        #expect(try await store.load().jobs.isEmpty)
        try await store.limitPages(100_000)
        try await store.apply(writes, wall: 0)
        #expect(try await store.load().jobs.map(\.batches.count) == [20_000])
        await store.close()
    }

    @Test func blobsThatAnUnfinishedJobSharesStay() async throws {
        let folder = folder()
        defer { do { try FileManager.default.removeItem(at: folder) } catch { Issue.record("\(error)") } }
        let store = try StateStore(folder: folder)
        var scheduler = Scheduler(epoch: store.epoch, now: Tick(milliseconds: 0))
        let profile = SessionProfile(name: "w", host: "h", processID: 1, build: "b", canFetch: true, canMerge: true)
        func digest(_ byte: UInt8) throws -> Digest {
            try #require(Digest(bytes: [UInt8](repeating: byte, count: 32)))
        }
        func commit(_ counter: UInt32, _ byte: UInt8) throws -> Event {
            .commit(
                1, LeaseToken(epoch: store.epoch, counter: counter),
                .fetch(try digest(byte), FetchCounts(stored: 85), failures: []))
        }
        var first = Self.submission(batches: 3)
        first.requestID = "first"
        let events: [Event] = [
            .hello(1, profile, held: []), .submit(first), .ready(1, credit: 2), try commit(1, 10), try commit(2, 11),
            .submit(Self.submission(batches: 3)), .ready(1, credit: 4), .cancel(1),
        ]
        for event in events {
            try await store.apply(scheduler.writes(event), wall: 5)
        }
        #expect(try await store.blobs(of: 1) == [digest(10), digest(11)])
        // The second job's first batch has the bytes of the first job's second.
        let token = try #require(scheduler.batches(of: 2).compactMap(\.token).first)
        let same = Event.commit(1, token, .fetch(try digest(11), FetchCounts(stored: 85), failures: []))
        try await store.apply(scheduler.writes(same), wall: 5)
        #expect(try await store.blobs(of: 1) == [digest(10)])
        try await store.apply(scheduler.writes(.cancel(2)), wall: 5)
        #expect(try await store.blobs(of: 1) == [digest(10), digest(11)])
        #expect(try await store.blobs(of: 1, keeping: [2]) == [digest(10)], "a later one may still give it to others")
        #expect(try await store.allBlobs() == [digest(10), digest(11)])
        // A blob that is written under a name of a job that has released its blobs is unreferenced.
        let manifest = try digest(12)
        try await store.perform {
            try $0.execute(sql: "UPDATE package SET manifest = ? WHERE job = 1", arguments: [Data(manifest.bytes)])
        }
        #expect(try await store.allBlobs().contains(manifest))
        try await store.markReleased(1)
        #expect(try await store.allBlobs() == [digest(11)])
        try await store.apply(scheduler.writes(.forget(1)), wall: 5)
        #expect(try await store.allBlobs() == [digest(11)])
        #expect(try await store.load().jobs.map(\.summary.id) == [2])
    }
}

extension StateStore {
    func limitPages(_ pages: Int) async throws {
        try await perform { db in try db.execute(sql: "PRAGMA max_page_count = \(pages)") }
    }

    func pages() async throws -> Int {
        try await perform { db in try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0 }
    }
}

extension Scheduler {
    /// What an event changes in the store.
    fileprivate mutating func writes(_ event: Event) -> [StoreWrite] {
        handle(event, now: Tick(milliseconds: 1)).compactMap { if case .store(let write) = $0 { write } else { nil } }
    }
}

/// The version of a job's source outlasts the coordinator.
struct StoredSourceVersionTests {
    @Test func aJobsSourceVersionIsKeptAndReplayed() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "packhorse-version-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try StateStore(folder: folder)
        func summary(_ version: String?) -> JobSummary {
            JobSummary(id: 1, requestID: "", priority: 0, weight: 1, allowedMissing: 0, sourceVersion: version)
        }
        try await store.apply(
            [.insertJob(StoredJob(summary: summary(nil), batches: [], packages: [Package(id: "P", tiles: 9)]))], wall: 0
        )
        for version in ["5 bytes of 2026-11-23T00:00:00.000000001Z (00)", nil] {
            try await store.apply([.job(summary(version))], wall: 1)
            let kept = try await store.load().jobs
            #expect(kept.map(\.summary.sourceVersion) == [version])
            #expect(StateFile.differences(kept, try await store.replay()) == [])
        }
        await store.close()
    }
}
