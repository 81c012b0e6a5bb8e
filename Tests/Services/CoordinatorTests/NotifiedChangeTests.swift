import Digests
import Foundation
import GRDB
import Notifications
import Scheduling
import Testing
import Wire

@testable import Coordinator

/// Which changes of the state are notifications, and where receivers stand.
struct NotifiedChangeTests {
    private static let digest = Digest(bytes: [UInt8](repeating: 0x9C, count: 32))

    private func withStore(_ body: (StateStore, URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "notified-\(UUID().uuidString)")
        defer { do { try FileManager.default.removeItem(at: folder) } catch { Issue.record("\(error)") } }
        let store = try StateStore(folder: folder)
        try await body(store, folder)
        await store.close()
    }

    private func job(_ id: JobID, _ state: JobState, reason: String = "", keeps: Bool = false) -> JobSummary {
        JobSummary(
            id: id, requestID: "r\(id)", priority: 0, weight: 1, allowedMissing: 0, state: state, reason: reason,
            keepsBlobs: keeps)
    }

    private func package(_ state: PackageState, version: UInt32 = 0) -> Package {
        let merged = Self.digest.map {
            MergedPackage(
                digest: $0, size: 5, tiles: 6, tilesHash: "hash",
                files: [MergedFile(format: "pmtiles", digest: $0, size: 8)])
        }
        return Package(
            id: "EE", tiles: 99, state: state, attempts: 0, losses: 0, token: nil, owner: 0, manifest: Self.digest,
            merged: merged, version: version, path: version == 0 ? "" : "packages/\(version)/EE.mbtiles", trouble: nil)
    }

    private func all(_ store: StateStore, catalog: String? = nil) async throws -> [EventNotification] {
        try await StateNotifications(store: store, catalogs: .test(url: catalog))
            .notifications(after: 0, kinds: Set(NotificationKind.allCases), limit: 1_000).map(\.content)
    }

    /// An ended job and a published package are written again for other reasons; that is no second notification.
    @Test func eachEndAndEachPublicationIsOneNotification() async throws {
        try await withStore { store, _ in
            let inserted = StoredJob(summary: job(1, .fetching), batches: [], packages: [package(.waiting)])
            try await store.apply([.insertJob(inserted), .job(job(1, .merging))], wall: 1_000)
            try await store.apply(
                [
                    .package(1, index: 0, package(.publishing)), .package(1, index: 0, package(.published, version: 2)),
                    .package(1, index: 0, package(.published, version: 2)), .job(job(1, .done)),
                    .job(job(1, .done, keeps: true)),
                ], wall: 2_000)
            try await store.apply([.job(job(1, .done))], wall: 3_000)
            let found = try await all(store, catalog: "https://maps.example.com/offline/")
            #expect(found.map(\.kind) == ["package-published", "job-done"])
            #expect(found.map(\.job) == [1, 1] && found.map(\.state) == ["published", "done"])
            #expect(
                found.map(\.text) == ["job 1 package EE published as version 2: packages/2/EE.mbtiles", "job 1 done"])
            #expect(found.first?.time == "1970-01-01T00:00:02.000Z")
            let published = try #require(found.first?.package)
            #expect(published.version == 2 && published.size == 5 && published.tiles == 6)
            #expect(published.sha256 == String(repeating: "9c", count: 32))
            #expect(published.url == "https://maps.example.com/offline/packages/2/EE.mbtiles")
            #expect(published.files.map(\.path) == ["packages/2/EE.pmtiles"])
            #expect(Set(found.map(\.id)).count == 2)
            #expect(try await all(store).map(\.id) == found.map(\.id), "an id is equal whenever it is read")

            // A retry that fails is a new end.
            try await store.apply(
                [
                    .reopen(
                        StoredJob(summary: job(1, .fetching), batches: [], packages: [package(.waiting)]),
                        keepsBatches: true), .job(job(1, .failed, reason: "http-500: no tile")),
                ], wall: 4_000)
            let failed = try #require(try await all(store).last)
            #expect(failed.kind == "job-failed" && failed.reason == "http-500: no tile")
            #expect(failed.package == nil && failed.origin == nil)
            #expect(StateFile.differences(try await store.load(withEnded: true).jobs, try await store.replay()) == [])
        }
    }

    @Test func linesOfBlockedOriginsAreBounded() async throws {
        try await withStore { store, _ in
            let count = StateStore.maxBlocks + 5
            let writes = (1...count).map {
                StoreWrite.originBlocked(OriginBlock(origin: "o\($0)", isDown: false, wait: 1_500))
            }
            try await store.apply(writes, wall: 1)
            let lines = try await store.events(after: 0, limit: 10_000, job: nil).events
            #expect(lines.count == StateStore.maxBlocks)
            let last = try #require(lines.last)
            #expect(last.kind == "origin-blocked" && last.job == 0)
            let content = try EventNotification(json: last.notification)
            #expect(content.origin?.name == "o\(count)" && content.origin?.seconds == 2 && content.state == "blocked")
            #expect(content.job == nil && content.text.hasPrefix("origin o\(count) asked to wait"))
            // They change no state.
            #expect(StateFile.differences(try await store.load().jobs, try await store.replay()) == [])
        }
    }

    @Test func aNewReceiverBeginsAtTheEndAndAKnownOneWhereItStopped() async throws {
        try await withStore { store, _ in
            let log = StateNotifications(store: store, catalogs: .test())
            let block = StoreWrite.originBlocked(OriginBlock(origin: "o", isDown: true, wait: 1))
            try await store.apply([block, block], wall: 1)
            #expect(try await log.positions(of: ["a"]) == ["a": 2])
            try await store.apply([block, block], wall: 1)
            try await log.save(3, of: "a")
            #expect(try await log.positions(of: ["a", "b"]) == ["a": 3, "b": 4])
            let left = try await log.notifications(after: 3, kinds: [.originBlocked], limit: 10)
            #expect(left.map(\.content.seq) == [4])
            #expect(try await log.notifications(after: 0, kinds: [.jobDone], limit: 10).isEmpty)
            #expect(try await log.notifications(after: 0, kinds: [.originBlocked], limit: 3).count == 3)
            // A receiver that is no longer named is forgotten.
            #expect(try await log.positions(of: ["b"]) == ["b": 4])
            #expect(try await log.positions(of: ["a"]) == ["a": 4])
        }
    }

    /// The query must not read the lines between, of which a large job has millions.
    @Test func notificationsAreFoundByTheirIndex() async throws {
        try await withStore { store, _ in
            try await store.perform { db in
                let plan = try Row.fetchAll(
                    db,
                    sql: """
                        EXPLAIN QUERY PLAN SELECT seq FROM \(StateNotifications.lines)
                            AND notification IN (1) AND seq > 0 ORDER BY seq LIMIT 1
                        """)
                #expect(plan.count == 1)
                #expect((plan.first?["detail"] as String?)?.contains("event_notification (seq>?)") == true)
            }
        }
    }
}
