import Foundation
import GRDB
import TestSupport
import Testing
import Tiles

@testable import OfflineMaps

/// Several owners of one folder, damage, and what is found when a store is opened.
@Suite(.timeLimit(.minutes(15)))
struct MapStoreProcessTests {
    private let site: StoreSite
    private let map: TestMap
    private let path: String

    init() throws {
        site = try StoreSite()
        map = try TestMap((7, 72, 37), depth: 4)
        path = try site.add("EE", depth: 4)
        try site.publish()
    }

    @Test func aReaderAsksAndTheWorkerDoesIt() async throws {
        let worker = try await site.store()
        let reader = try await site.store()
        #expect(worker.role == .worker && reader.role == .reader)
        try await reader.refreshCatalog()
        #expect(await reader.catalog?.packages.map(\.id) == ["EE"])
        #expect(try await reader.states { try await $0.install([.package("EE")]) } == [.done])
        #expect(try worker.shows("EE 1", map))
        #expect(try reader.shows("EE 1", map))
        #expect(try await reader.installed().map(\.version) == [1])
        let removed = reader.events
        try await worker.remove([.package("EE")])
        _ = await reader.wait(in: removed) { if case .removed = $0 { true } else { false } }
        #expect(try !reader.shows("EE 1", map))
        await #expect(throws: StoreError.self) { try await reader.reset() }
    }

    @Test func aReaderTakesTheWorkOver() async throws {
        let worker = try await site.store()
        try await worker.refreshCatalog()
        let reader = try await site.store()
        site.stall(path, at: site.size(path) / 2)
        let events = worker.events
        let id = try #require(try await worker.install([.package("EE")]).first)
        await worker.waitForHalf(of: site.size(path), in: events)
        site.stall(path, at: nil)
        let taken = reader.events
        await worker.worker.close()
        let end = await reader.end(of: id, in: taken)
        #expect(end == .done)
        #expect(reader.role == .worker)
        #expect(try reader.shows("EE 1", map))
        #expect(site.sent(path) == site.size(path))
    }

    @Test func aSuspendedStoreHasNoLock() async throws {
        let store = try await site.store()
        try await store.refreshCatalog()
        #expect(try await store.states { try await $0.install([.package("EE")]) } == [.done])
        await store.suspend()
        let lock = try StoreLock.acquire(site.scratch.folder.lock)
        #expect(lock != nil)
        lock?.release()
        #expect(try store.shows("EE 1", map))
        #expect(try await store.installed().count == 1)
        await #expect(throws: StoreError.self) { try await store.install([.package("EE")]) }
        try await store.start()
        #expect(try await store.installed().count == 1)
        #expect(store.role == .worker)
    }

    @Test func aDamagedDatabaseIsMadeAgain() async throws {
        let store = try await site.store()
        try await store.refreshCatalog()
        #expect(try await store.states { try await $0.install([.package("EE")]) } == [.done])
        await store.suspend()
        try Data("no database".utf8).write(to: site.scratch.folder.database)
        let again = try await site.store()
        #expect(try again.shows("EE 1", map))
        #expect(try await again.installed().map(\.item) == [.package("EE")])
        // What was known of the catalog's age is in the unit file.
        try site.publish(sequence: 0)
        let error = await #expect(throws: StoreError.self) { try await again.refreshCatalog() }
        #expect(error?.failure == .olderCatalog)
    }

    @Test func aDamagedFileIsDownloadedAgain() async throws {
        let store = try await site.store()
        try await store.refreshCatalog()
        #expect(try await store.states { try await $0.install([.package("EE")]) } == [.done])
        let file = try #require(try await store.url(of: .package("EE")))
        var bytes = try Data(contentsOf: file)
        bytes[9_000] ^= 0xFF
        try bytes.write(to: file)
        #expect(try await store.verify(deep: false).isEmpty)
        #expect(try await store.verify(deep: true).count == 1)
        let events = store.events
        let findings = try await store.repair()
        #expect(findings.map(\.isMended) == [true])
        // The repair has also read the catalog, which is a task too.
        let mending = try #require(findings.first?.task)
        _ = await store.wait(in: events) { event in
            if case .task(let task) = event { task.id == mending && task.state == .done } else { false }
        }
        #expect(try await store.verify(deep: true).isEmpty)
        #expect(try store.shows("EE 1", map))
    }

    @Test func aFileThatIsMissingIsNoLongerInstalled() async throws {
        let store = try await site.store()
        try await store.refreshCatalog()
        #expect(try await store.states { try await $0.install([.package("EE")]) } == [.done])
        let file = try #require(try await store.url(of: .package("EE")))
        await store.suspend()
        try FileManager.default.removeItem(at: file)
        let again = try await site.store()
        #expect(try await again.installed().isEmpty)
        #expect(try await again.status(of: .package("EE"))?.isDamaged == true)
        #expect(try await again.states { try await $0.install([.package("EE")]) } == [.done])
        #expect(try again.shows("EE 1", map))
    }

    @Test func whatIsOnDiskForNothingIsRemoved() async throws {
        let store = try await site.store()
        try await store.refreshCatalog()
        #expect(try await store.states { try await $0.install([.package("EE")]) } == [.done])
        let file = try #require(try await store.url(of: .package("EE")))
        await store.suspend()
        let folder = site.scratch.folder
        let home = file.deletingLastPathComponent()
        let rowless = home.deletingLastPathComponent().appending(path: "9-00000000")
        try FileManager.default.copyItem(at: home, to: rowless)
        // Its unit file says another version.
        let json = rowless.appending(path: InstalledFileDocument.name)
        let text = try String(contentsOf: json, encoding: .utf8)
        try text.replacing("\"version\":1", with: "\"version\":9").write(to: json, atomically: true, encoding: .utf8)
        let strays = [
            folder.parts.appending(path: String(repeating: "ab", count: 32) + ".part"),
            folder.parts.appending(path: "x.tmp"),
            folder.packs.appending(path: "demo/0/0/0/0123456789abcdef.mbtiles"),
            home.deletingLastPathComponent().appending(path: "8-11111111.new/x"),
            // A style that was being looked at, a removal, and a reserve, each of a process that was killed.
            folder.parts.appending(path: "x.part.probe/style.json"),
            home.deletingLastPathComponent().appending(path: "7-22222222/\(InstalledFileDocument.name)"),
            folder.root.appending(path: ".reserve.0123.tmp"),
        ]
        for stray in strays {
            try FileManager.default.createDirectory(
                at: stray.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("x".utf8).write(to: stray)
        }
        let again = try await site.store()
        await again.stop()
        for stray in strays + [rowless] { #expect(!FileManager.default.fileExists(atPath: stray.path), "\(stray)") }
        #expect(try again.shows("EE 1", map))
        let usage = try await again.usage()
        #expect(usage.total == usage.packages && usage.packages == UInt64(site.size(path)))
    }

    @Test func aFailedTaskIsFoundWhereNoProcessWorks() async throws {
        let store = try await site.store()
        try await store.refreshCatalog()
        site.answer(403, at: path)
        #expect(try await store.states { try await $0.install([.package("EE")]) } == [.failed(.notAllowed)])
        await store.stop()
        let task = try #require(try await store.tasks().first)
        #expect(task.state == .failed(.notAllowed))
        site.answer(nil, at: path)
        let events = store.events
        try await store.retry(task.id)
        try await store.start()
        #expect(await store.end(of: task.id, in: events) == .done)
        #expect(try store.shows("EE 1", map))
    }

    @Test func aWriteThatFailsOpensTheStoreAgain() async throws {
        let store = try await site.store()
        try await store.refreshCatalog()
        let database = try StoreDatabase.open(site.scratch.folder, isWorker: false)
        try database.write {
            try $0.execute(
                sql: "CREATE TRIGGER refuse BEFORE INSERT ON task BEGIN SELECT RAISE(ABORT, 'refused'); END")
        }
        await #expect(throws: StoreError.self) { try await store.install([.package("EE")]) }
        try database.write { try $0.execute(sql: "DROP TRIGGER refuse") }
        #expect(try await store.states { try await $0.install([.package("EE")]) } == [.done])
        #expect(try store.shows("EE 1", map))
    }

    /// The process ends after any time; the next one continues, and at the end all is as after an undisturbed run.
    @Test(arguments: 0..<12) func anInstallationSurvivesTheEndOfItsProcess(_ round: Int) async throws {
        try site.add("LV", cell: (7, 72, 39))
        try site.publish()
        let items: [Item] = [.package("EE"), .package("LV")]
        let first = try await site.store()
        try await first.refreshCatalog()
        try await first.install(items)
        for turn in 0..<3 {
            // Some steps of the queue and not a time: the round chooses how many.
            for _ in 0..<(round * (turn + 1)) { await Task.yield() }
            if turn == 0 {
                await first.worker.close()
            } else {
                let next = try await site.store()
                for _ in 0..<(round * 20) { await Task.yield() }
                await next.worker.close()
            }
        }
        let last = try await MapStore(alone: try site.options())
        let ids = try await last.tasks().map(\.id)
        if !ids.isEmpty {
            #expect(
                try await last.states { store in
                    try await store.start()
                    return ids
                } == ids.map { _ in .done })
        }
        #expect(Set(try await last.installed().map(\.item)) == Set(items))
        #expect(try await last.verify(deep: true).isEmpty)
        await last.stop()
        let usage = try await last.usage()
        #expect(usage.parts == 0)
        #expect(usage.total == UInt64(site.size(path) + site.size("packages/1/LV.mbtiles")))
        #expect(StoreScan.units(site.scratch.folder).files.count == 2)
    }
}
