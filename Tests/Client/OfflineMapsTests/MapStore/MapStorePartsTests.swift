import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing
import Tiles

@testable import OfflineMaps

/// The package in parts of these tests.
private let california = Item.package("CA")

/// Packages that the catalog has in parts: one item of the store.
@Suite(.timeLimit(.minutes(15)))
struct MapStorePartsTests {
    private let site: StoreSite
    private let cells = [(7, 72, 37), (7, 72, 39), (7, 75, 40)]
    private let maps: [TestMap]

    init() throws {
        site = try StoreSite()
        maps = try cells.map { try TestMap($0, depth: 3) }
        try site.add("CA", parts: cells)
        try site.publish()
    }

    private func path(_ version: Int, _ part: Int) -> String { "packages/\(version)/CA-\(part).mbtiles" }

    private func bytes(_ version: Int, _ parts: [Int]) -> UInt64 {
        parts.reduce(0) { $0 + UInt64(site.size(path(version, $1))) }
    }

    private func update(_ store: MapStore) async throws -> [TaskState] {
        try await store.refreshCatalog(ifOlderThan: .zero)
        return try await store.states { try await $0.update() }
    }

    @Test func allPartsAreInstalledReadAndRemovedAsOne() async throws {
        let store = try await site.store()
        let catalog = try await store.refreshCatalog()
        #expect(catalog.packages.map(\.id) == ["CA"])
        #expect(catalog.packages.first?.size == bytes(1, [1, 2, 3]))
        #expect(catalog.packages.first?.mask == TileMask(union: maps.map(\.mask)))
        #expect(catalog.packages.first?.name("en") == "CA")
        #expect(try await store.estimate([california]).transfer == bytes(1, [1, 2, 3]))
        #expect(try await store.states { try await $0.install([california]) } == [.done])
        for (index, map) in maps.enumerated() { #expect(try store.shows("CA-\(index + 1) 1", map)) }
        let installed = try await store.installed()
        #expect(installed.map(\.item) == [california] && installed[0].files.count == 3 && installed[0].version == 1)
        #expect(installed[0].bytes == bytes(1, [1, 2, 3]) && installed[0].isInCatalog && installed[0].file == nil)
        let status = try #require(try await store.status(of: california))
        #expect(!status.isOutdated && !status.isDamaged)
        #expect(try await store.updates().changes.isEmpty)
        #expect(try await store.verify(deep: true).isEmpty)
        #expect(try await store.states { try await $0.remove([california]) } == [.done])
        #expect(try await store.installed().isEmpty)
        await store.stop()
        #expect(try await store.usage().total == 0)
    }

    @Test func theCatalogIsTheSameFromTheRows() async throws {
        let store = try await site.store()
        let catalog = try await store.refreshCatalog()
        await store.suspend()
        let again = try await site.store()
        #expect(await again.catalog?.packages == catalog.packages)
        #expect(try await again.states { try await $0.install([california]) } == [.done])
    }

    @Test func anUpdateReplacesThePartsThatChangedAndReleasesThoseThatGo() async throws {
        let store = try await site.store()
        try await store.refreshCatalog()
        #expect(try await store.states { try await $0.install([california]) } == [.done])
        // The second part has the same bytes, the third is gone.
        try site.add("CA", version: 2, parts: Array(cells.prefix(2)), unchanged: [2])
        try site.publish()
        try await store.refreshCatalog(ifOlderThan: .zero)
        #expect(try await store.status(of: california)?.isOutdated == true)
        let offer = try await store.updates()
        #expect(offer.changes.map(\.item) == [california] && offer.changes.first?.to == 2)
        #expect(try await update(store) == [.done])
        #expect(site.sent(path(2, 2)) == 0, "what did not change is not downloaded")
        #expect(try store.shows("CA-1 2", maps[0]) && store.shows("CA-2 1", maps[1]))
        #expect(try !store.shows("CA-3 1", maps[2]))
        let installed = try #require(try await store.installed().first)
        #expect(installed.version == 2 && installed.files.count == 2)
        #expect(try await store.status(of: california)?.isOutdated == false)
        #expect(try await store.updates().changes.isEmpty)
        #expect(try await store.verify(deep: true).isEmpty)
        await store.worker.settle()
        #expect(try await store.agreesWithTheDisk())
    }

    @Test func allPartsGoBackToTheVersionBefore() async throws {
        let store = try await site.store { $0.quota.previousVersions = 1 }
        try await store.refreshCatalog()
        #expect(try await store.states { try await $0.install([california]) } == [.done])
        try site.add("CA", version: 2, parts: cells)
        try site.publish()
        #expect(try await update(store) == [.done])
        #expect(try await store.installed().first?.previous == [1])
        for (index, map) in maps.enumerated() { #expect(try store.shows("CA-\(index + 1) 2", map)) }
        #expect(try await store.states { [try await $0.rollback(california)] } == [.done])
        for (index, map) in maps.enumerated() { #expect(try store.shows("CA-\(index + 1) 1", map)) }
        #expect(try await store.installed().first?.version == 1)
        // With other parts there is nothing to go back to.
        try site.add("CA", version: 3, parts: Array(cells.prefix(2)))
        try site.publish()
        #expect(try await update(store) == [.done])
        #expect(try await store.installed().first?.previous == [])
        await store.worker.settle()
        #expect(try await store.agreesWithTheDisk())
    }

    /// The first part is the same in builds 2 and 3: going back from 3 leaves it, and does not bring back that of build 1.
    @Test func partsGoBackToOneBuild() async throws {
        let store = try await site.store { $0.quota.previousVersions = 1 }
        try await store.refreshCatalog()
        #expect(try await store.states { try await $0.install([california]) } == [.done])
        try site.add("CA", version: 2, parts: cells)
        try site.publish()
        #expect(try await update(store) == [.done])
        try site.add("CA", version: 3, parts: cells, unchanged: [1])
        try site.publish()
        #expect(try await update(store) == [.done])
        func shows(_ versions: [Int]) throws -> Bool {
            try versions.enumerated().allSatisfy { try store.shows("CA-\($0 + 1) \($1)", maps[$0]) }
        }
        #expect(try shows([2, 3, 3]))
        #expect(try await store.states { [try await $0.rollback(california)] } == [.done])
        #expect(try shows([2, 2, 2]))
        #expect(try await store.states { [try await $0.rollback(california)] } == [.done])
        #expect(try shows([2, 3, 3]))
    }

    @Test func aPackageBecomesPartsAndOneFileAgain() async throws {
        let store = try await site.store()
        try site.add("EE", cell: cells[0])
        try site.publish()
        try await store.refreshCatalog()
        let item = Item.package("EE")
        #expect(try await store.states { try await $0.install([item]) } == [.done])
        site.drop("EE")
        try site.add("EE", version: 2, parts: Array(cells.prefix(2)))
        try site.publish()
        #expect(try await update(store) == [.done])
        #expect(try store.shows("EE-1 2", maps[0]) && store.shows("EE-2 2", maps[1]))
        #expect(try await store.installed().first?.files.map(\.item) == [.package("EE-1"), .package("EE-2")])
        site.drop("EE-1")
        site.drop("EE-2")
        try site.add("EE", version: 3, cell: cells[0])
        try site.publish()
        #expect(try await update(store) == [.done])
        #expect(try store.shows("EE 3", maps[0]) && !store.shows("EE-2 2", maps[1]))
        #expect(try await store.installed().map(\.item) == [item])
        #expect(try await store.installed().first?.files.count == 1)
        await store.worker.settle()
        #expect(try await store.agreesWithTheDisk())
    }

    @Test func noPartIsReadBeforeAllAreThere() async throws {
        let store = try await site.store()
        try await store.refreshCatalog()
        #expect(try await store.states { try await $0.install([california]) } == [.done])
        try site.add("CA", version: 2, parts: cells)
        try site.publish()
        site.files.state.withLock { state in
            for path in [path(2, 3), "patches/CA-3/1-2.mbtiles"] { state.statuses[path] = 404 }
        }
        let states = try await update(store)
        guard case .failed? = states.first else {
            Issue.record("\(states)")
            return
        }
        for (index, map) in maps.enumerated() {
            #expect(try store.shows("CA-\(index + 1) 1", map), "the old parts stay together")
        }
        #expect(try await store.installed().first?.version == 1)
        site.files.state.withLock { state in
            for path in [path(2, 3), "patches/CA-3/1-2.mbtiles"] { state.statuses[path] = nil }
        }
        let failed = try await store.tasks().map(\.id)
        #expect(
            try await store.states { store in
                for id in failed { try await store.retry(id) }
                return failed
            } == [.done])
        #expect(try store.shows("CA-1 2", maps[0]) && store.shows("CA-3 2", maps[2]))
    }

    @Test func aDamagedPartIsMendedByItself() async throws {
        let store = try await site.store()
        try await store.refreshCatalog()
        #expect(try await store.states { try await $0.install([california]) } == [.done])
        let part = try #require(try await store.installed().first?.files.first { $0.item == .package("CA-2") })
        let folder = await store.worker.folder
        let file = try #require(folder.place(of: part))
        let handle = try FileHandle(forWritingTo: file)
        try handle.seek(toOffset: 5_000)
        try handle.write(contentsOf: Data(repeating: 7, count: 64))
        try handle.close()
        let before = [1, 2, 3].map { site.sent(path(1, $0)) }
        let events = store.events
        let findings = try await store.repair()
        #expect(findings.count == 1 && findings[0].isMended)
        let task = try #require(findings[0].task)
        _ = await store.wait(in: events) { event in
            if case .task(let ended) = event { ended.id == task && ended.state.isFinal } else { false }
        }
        #expect(try await store.verify(deep: true).isEmpty)
        let after = [1, 2, 3].map { site.sent(path(1, $0)) }
        #expect(after[0] == before[0] && after[2] == before[2] && after[1] > before[1])
        #expect(try await store.installed().map(\.item) == [california])
    }

    @Test func groupsInPartsGoWithTheirPackage() async throws {
        let store = try await site.store()
        try site.add("CA", parts: Array(cells.prefix(2)), group: "terrain")
        try site.publish()
        try await store.setGroups(["terrain"])
        try await store.refreshCatalog()
        #expect(try await store.states { try await $0.install([california]) } == [.done])
        #expect(try await store.installed().map { $0.files.count } == [5])
        #expect(try await store.states { try await $0.remove([california]) } == [.done])
        await store.stop()
        #expect(try await store.usage().total == 0)
    }

    @Test func partsThatAreNotCompleteStayAsTheyAre() async throws {
        site.drop("CA-2")
        try site.publish()
        let store = try await site.store()
        #expect(try await store.refreshCatalog().packages.map(\.id) == ["CA-1", "CA-3"])
        #expect(try await store.states { try await $0.install([.package("CA-1")]) } == [.done])
    }

    @Test func moreThanNinePartsAreOnePackage() async throws {
        try site.add("NV", parts: (0..<11).map { (7, 20 + 2 * $0, 40) }, depth: 1)
        try site.publish()
        let store = try await site.store()
        #expect(try await store.refreshCatalog().packages.map(\.id) == ["CA", "NV"])
        #expect(try await store.states { try await $0.install([.package("NV")]) } == [.done])
        #expect(try await store.installed().first?.files.count == 11)
    }

    @Test func theStoreOfAnEarlierProgramIsOpened() throws {
        let scratch = try StoreScratch()
        let database = try StoreDatabase.open(scratch.folder, isWorker: true)
        try database.write {
            for column in ["part_of", "part", "parts"] {
                try $0.execute(sql: "ALTER TABLE offer DROP COLUMN \(column)")
            }
            try $0.execute(sql: "DELETE FROM grdb_migrations WHERE identifier = '4: parts of packages'")
        }
        try database.close()
        let again = try StoreDatabase.open(scratch.folder, isWorker: true)
        #expect(try again.content() == nil)
        try again.close()
    }
}
