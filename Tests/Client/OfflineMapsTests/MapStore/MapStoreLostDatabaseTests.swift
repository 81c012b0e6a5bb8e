import Foundation
import TestSupport
import Testing

@testable import OfflineMaps

/// Stores whose database is lost: the installed maps stay, with and without a network.
@Suite(.timeLimit(.minutes(15)))
struct MapStoreLostDatabaseTests {
    private let site: StoreSite
    private let map: TestMap
    private let path: String

    init() throws {
        site = try StoreSite()
        map = try TestMap((7, 72, 37), depth: 3)
        path = try site.add("EE")
        try site.addStyle("streets")
        try site.publish()
    }

    /// The installed files after a process that ended.
    private func installed() async throws -> [URL] {
        let store = try await site.store()
        try await store.refreshCatalog()
        let items: [Item] = [.package("EE"), .style("streets")]
        #expect(try await store.states { try await $0.install(items) } == [.done, .done])
        var files: [URL] = []
        for item in items { files.append(try #require(try await store.url(of: item))) }
        await store.suspend()
        return files
    }

    private func lose(_ state: String) throws {
        let folder = site.scratch.url
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
        where name.hasPrefix("store.sqlite") && !(state == "a -wal is left" && name.hasSuffix("-wal")) {
            try FileManager.default.removeItem(at: folder.appending(path: name))
        }
        if state == "empty" { try Data().write(to: site.scratch.folder.database) }
        if state == "a -wal is left" { try Data("left".utf8).write(to: folder.appending(path: "store.sqlite-wal")) }
    }

    private func expectAll(_ files: [URL], in store: MapStore) async throws {
        #expect(try await Set(store.installed().map(\.item)) == [.package("EE"), .style("streets")])
        #expect(try store.shows("EE 1", map))
        #expect(try await store.verify(deep: true).isEmpty)
        for file in files { #expect(FileManager.default.fileExists(atPath: file.path), "\(file.path)") }
        _ = try store.resources.style("streets", .files(of: .package("EE")))
    }

    @Test(arguments: ["missing", "empty", "a -wal is left"])
    func theMapsAreThereWithoutANetwork(_ state: String) async throws {
        let files = try await installed()
        site.server.stop()
        for _ in 0..<2 {
            try lose(state)
            // A second opening finds what the first one made.
            for _ in 0..<2 {
                let store = try await site.store()
                try await expectAll(files, in: store)
                await store.stop()
                try await expectAll(files, in: store)
                await store.suspend()
            }
        }
    }

    @Test func nothingIsDownloadedAgain() async throws {
        let files = try await installed()
        try lose("missing")
        let sent = site.sent(path)
        let maps = OfflineMaps(try await site.store())
        var last: DownloadProgress?
        for try await progress in maps.download("EE", style: "streets") { last = progress }
        #expect(last?.isComplete == true && site.sent(path) == sent)
        try await expectAll(files, in: maps.store)
    }

    /// A process that reads makes the missing database, and has no right to fill it; the next one that works does.
    @Test func aProcessThatReadsTakesNothingAway() async throws {
        let files = try await installed()
        let lock = try #require(try StoreLock.acquire(site.scratch.folder.lock))
        try lose("missing")
        let reader = try await site.store()
        #expect(reader.role == .reader)
        await reader.suspend()
        lock.release()
        try await expectAll(files, in: try await site.store())
    }

    /// What cannot be listed is not known to be empty.
    @Test func aFolderThatCannotBeListedStopsTheOpening() async throws {
        _ = try await installed()
        try lose("missing")
        let folder = site.scratch.folder
        let drawer = folder.root.appending(path: "drawer")
        try FileManager.default.moveItem(at: folder.units, to: drawer)
        try Data().write(to: folder.units)
        let error = await #expect(throws: StoreError.self) { try await site.store() }
        #expect(error?.code == .folder)
        try FileManager.default.removeItem(at: folder.units)
        try FileManager.default.moveItem(at: drawer, to: folder.units)
        let store = try await site.store()
        #expect(try await store.installed().count == 2)
    }
}
