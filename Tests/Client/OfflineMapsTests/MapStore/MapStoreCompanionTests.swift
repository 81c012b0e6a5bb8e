import Foundation
import GRDB
import TestSupport
import Testing
import Tiles

@testable import OfflineMaps

private let estonia = Item.package("EE")

/// Files that belong to a package and are no maps, on a device.
@Suite(.timeLimit(.minutes(15)))
struct MapStoreCompanionTests {
    private let site: StoreSite
    private let map: TestMap
    private let routing = CompanionChoice(with: ["routing"])
    private let graph = [UInt8](repeating: 1, count: 300_000)

    init() throws {
        site = try StoreSite()
        map = try TestMap((7, 72, 37), depth: 3)
        try site.add("EE")
        try site.attach("EE", bytes: graph)
        try site.attach("EE", kind: "search.sqlite", bytes: [9, 9, 9], engine: nil)
        try site.publish()
    }

    private func install(_ store: MapStore, _ choice: CompanionChoice) async throws -> [TaskState] {
        try await store.states { try await $0.install([estonia], with: choice) }
    }

    private func update(_ store: MapStore) async throws -> [TaskState] {
        try await store.refreshCatalog(ifOlderThan: .zero)
        return try await store.states { try await $0.update() }
    }

    private func bytes(_ companion: InstalledCompanion?) throws -> [UInt8] {
        try Array(Data(contentsOf: try #require(companion).file))
    }

    @Test func aPackageIsInstalledAndRemovedWithItsCompanion() async throws {
        let store = try await site.store()
        let catalog = try await store.refreshCatalog()
        #expect(catalog.packages.map(\.id) == ["EE"] && catalog.groups.isEmpty)
        #expect(catalog.companions.map(\.kind) == ["routing.valhalla", "search.sqlite"])
        #expect(catalog.companions.map(\.engine) == ["3.6", nil])
        let size = UInt64(site.size("packages/1/EE.mbtiles"))
        #expect(try await store.estimate([estonia]).transfer == size)
        #expect(
            try await store.estimate([estonia], withCompanions: routing).transfer == size + UInt64(graph.count))
        #expect(try await install(store, routing) == [.done])
        let companion = try #require(try await store.companion("routing", of: estonia))
        #expect(companion.kind == "routing.valhalla" && companion.engine == "3.6" && companion.version == 1)
        #expect(companion.file.pathExtension == "vtiles" && companion.dataDate == "2026-10-01")
        #expect(try bytes(companion) == graph)
        #expect(try await store.companion("search", of: estonia) == nil)
        // No reader of tiles takes it for a map.
        #expect(try store.shows("EE 1", map))
        #expect(store.resources.tilesets.map(\.id) == ["demo"])
        let installed = try #require(try await store.installed().first)
        #expect(installed.item == estonia && installed.version == 1 && installed.dataDate == "2026-11-01")
        #expect(installed.file?.lastPathComponent == "EE.mbtiles" && installed.companions == [companion])
        #expect(installed.bytes == size + UInt64(graph.count) && installed.ownBytes == installed.bytes)
        #expect(try await store.installed().count == 1)
        #expect(try await store.usage().packages == size + UInt64(graph.count))
        #expect(try await store.verify(deep: true).isEmpty)
        #expect(try await store.updates().changes.isEmpty)
        #expect(try await store.status(of: estonia)?.isOutdated == false)
        #expect(try await store.states { try await $0.remove([estonia]) } == [.done])
        await store.stop()
        #expect(try await store.usage().total == 0)
    }

    @Test func anUpdateBringsItAlongAndARollbackTakesItBack() async throws {
        let store = try await site.store { $0.quota.previousVersions = 1 }
        try await store.refreshCatalog()
        #expect(try await install(store, routing) == [.done])
        let next = [UInt8](repeating: 2, count: 200_000)
        try site.attach("EE", version: 2, bytes: next, engine: "3.7")
        try site.publish()
        try await store.refreshCatalog(ifOlderThan: .zero)
        // The map is the same.
        #expect(try await store.status(of: estonia)?.isOutdated == true)
        #expect(try await store.updates().bytes == UInt64(next.count))
        #expect(try await update(store) == [.done])
        #expect(try await store.companion("routing.valhalla", of: estonia)?.engine == "3.7")
        #expect(try bytes(try await store.companion("routing", of: estonia)) == next)
        #expect(try await store.status(of: estonia)?.isOutdated == false)
        #expect(try await store.states { [try await $0.rollback(estonia)] } == [.done])
        let back = try #require(try await store.companion("routing", of: estonia))
        #expect(try back.version == 1 && back.engine == "3.6" && bytes(back) == graph)
        // What the catalog has no more stays.
        site.drop("groups/routing-valhalla/EE")
        try site.publish()
        #expect(try await update(store) == [.done])
        #expect(try await store.companion("routing", of: estonia)?.version == 1)
        await store.worker.settle()
        #expect(try await store.agreesWithTheDisk())
    }

    @Test func aPackageGivesItUp() async throws {
        let store = try await site.store { $0.quota.previousVersions = 1 }
        try await store.refreshCatalog()
        #expect(try await install(store, CompanionChoice(with: ["routing.valhalla", "search"])) == [.done])
        try site.add("EE", version: 2)
        try site.publish()
        #expect(try await update(store) == [.done])
        #expect(try await store.companions(of: estonia).count == 2)
        #expect(try await install(store, CompanionChoice(without: ["routing"])) == [.done])
        #expect(try await store.companions(of: estonia).map(\.kind) == ["search.sqlite"])
        // The map keeps the version before.
        #expect(try await store.installed().first?.previous == [1])
        await store.worker.settle()
        #expect(try await store.agreesWithTheDisk())
        // An installation without a wish changes nothing.
        #expect(try await store.states { try await $0.install([estonia]) } == [.done])
        #expect(try await store.companions(of: estonia).map(\.kind) == ["search.sqlite"])
    }

    /// The map alone was changed last: going back leaves the companion that was beside the map before.
    @Test func aRollbackGoesToASetThatWasThere() async throws {
        let store = try await site.store { $0.quota.previousVersions = 1 }
        try await store.refreshCatalog()
        #expect(try await install(store, routing) == [.done])
        try site.attach("EE", version: 2, bytes: [2], engine: "3.7")
        try site.publish()
        #expect(try await update(store) == [.done])
        try site.add("EE", version: 2)
        try site.publish()
        #expect(try await update(store) == [.done])
        #expect(try await store.installed().first?.version == 2)
        func versions() async throws -> [Int32?] {
            [try await store.installed().first?.version, try await store.companion("routing", of: estonia)?.version]
        }
        #expect(try await store.states { [try await $0.rollback(estonia)] } == [.done])
        #expect(try await versions() == [1, 2])
        // A second one takes it forward.
        #expect(try await store.states { [try await $0.rollback(estonia)] } == [.done])
        #expect(try await versions() == [2, 2])
        // What came together goes back together, and forward again, however it was installed before.
        try site.add("EE", version: 3)
        try site.attach("EE", version: 3, bytes: [3], engine: "3.8")
        try site.publish()
        #expect(try await update(store) == [.done])
        #expect(try await versions() == [3, 3])
        #expect(try await store.states { [try await $0.rollback(estonia)] } == [.done])
        #expect(try await versions() == [2, 2])
        for expected: [Int32?] in [[3, 3], [2, 2], [3, 3]] {
            #expect(try await store.states { [try await $0.rollback(estonia)] } == [.done])
            #expect(try await versions() == expected)
        }
        await store.worker.settle()
        #expect(try await store.agreesWithTheDisk())
    }

    /// The parts were changed before the companion came: they go back together.
    @Test func partsBesideACompanionGoBackTogether() async throws {
        let cells = [(7, 72, 37), (7, 72, 39)]
        try site.add("CA", parts: cells)
        try site.publish()
        let store = try await site.store { $0.quota.previousVersions = 1 }
        try await store.refreshCatalog()
        let (california, routing) = (Item.package("CA"), routing)
        #expect(try await store.states { try await $0.install([california]) } == [.done])
        try site.add("CA", version: 2, parts: cells)
        try site.attach("CA", bytes: [5], area: "CA-1")
        try site.publish()
        #expect(try await update(store) == [.done])
        #expect(try await store.states { try await $0.install([california], with: routing) } == [.done])
        #expect(try await store.companion("routing", of: california)?.version == 1)
        let maps = try cells.map { try TestMap($0, depth: 3) }
        for (index, map) in maps.enumerated() { #expect(try store.shows("CA-\(index + 1) 2", map)) }
        #expect(try await store.states { [try await $0.rollback(california)] } == [.done])
        for (index, map) in maps.enumerated() { #expect(try store.shows("CA-\(index + 1) 1", map)) }
        #expect(try await store.companion("routing", of: california)?.version == 1)
    }

    @Test func givingUpDownloadsNothing() async throws {
        let store = try await site.store()
        try await store.refreshCatalog()
        let nothing = CompanionChoice(without: ["routing"])
        await #expect(throws: StoreError.self) { try await store.install([estonia], with: nothing) }
        #expect(try await install(store, routing) == [.done])
        try site.add("EE", version: 2)
        try site.publish()
        try await store.refreshCatalog(ifOlderThan: .zero)
        #expect(try await install(store, nothing) == [.done])
        #expect(try await store.installed().first?.version == 1)
        #expect(try await store.companions(of: estonia).isEmpty)
        #expect(site.sent("packages/2/EE.mbtiles") == 0)
    }

    @Test func theSetIsInstalledOrNone() async throws {
        // The bytes of the server are not those of the signed list.
        let path = "groups/routing-valhalla/packages/1/EE.vtiles"
        site.serve([UInt8](repeating: 3, count: graph.count), at: path)
        let store = try await site.store()
        try await store.refreshCatalog()
        let states = try await install(store, routing)
        #expect(states == [.failed(.badBytes)], "\(states)")
        #expect(try await store.installed().isEmpty)
        #expect(try !store.shows("EE 1", map))
        site.serve(graph, at: path)
        let failed = try #require(try await store.tasks().first?.id)
        #expect(
            try await store.states { store in
                try await store.retry(failed)
                return [failed]
            } == [.done])
        #expect(try bytes(try await store.companion("routing", of: estonia)) == graph)
        #expect(try store.shows("EE 1", map))
    }

    @Test func whatTheCatalogDoesNotHaveIsRefused() async throws {
        let store = try await site.store()
        try await store.refreshCatalog()
        #expect(try await install(store, CompanionChoice(with: ["contours"])) == [.failed(.notInCatalog)])
        let packs = Item.packs("EE")
        await #expect(throws: StoreError.self) { try await store.install([packs], with: routing) }
        #expect(try await store.installed().isEmpty)
    }

    @Test func aDownloadGoesOnInAnotherProcess() async throws {
        let path = "groups/routing-valhalla/packages/1/EE.vtiles"
        site.stall(path, at: graph.count / 2)
        let first = try await site.store()
        try await first.refreshCatalog()
        let (events, folder, half) = (first.events, StoreFolder(site.scratch.url), UInt64(graph.count / 2))
        try await first.install([estonia], with: routing)
        _ = await first.wait(in: events) { [folder, half] _ in StoreScan.parts(folder).values.contains(half) }
        await first.suspend()
        site.stall(path, at: nil)
        let second = try await site.store()
        let rest = second.events
        if try await second.companion("routing", of: estonia) == nil {
            _ = await second.wait(in: rest) { event in
                if case .task(let task) = event { task.state == .done } else { false }
            }
        }
        #expect(try bytes(try await second.companion("routing", of: estonia)) == graph)
        #expect(site.sent(path) == graph.count, "no byte was sent twice")
    }

    @Test func aDamagedFileIsDownloadedAgain() async throws {
        let store = try await site.store()
        try await store.refreshCatalog()
        #expect(try await install(store, routing) == [.done])
        let file = try #require(try await store.companion("routing", of: estonia)).file
        var damaged = graph
        damaged[77] ^= 1
        try Data(damaged).write(to: file)
        let found = try await store.verify(deep: true)
        #expect(found.count == 1 && found.first?.item?.companionKind == "routing.valhalla", "\(found)")
        let repaired = try await store.states { try await $0.repair().compactMap(\.task) }
        #expect(repaired == [.done])
        #expect(try bytes(try await store.companion("routing", of: estonia)) == graph)
        #expect(try await store.verify(deep: true).isEmpty)
    }

    @Test func aLostDatabaseIsMadeAgain() async throws {
        let store = try await site.store()
        let catalog = try await store.refreshCatalog()
        #expect(try await install(store, routing) == [.done])
        await store.suspend()
        let again = try await site.store()
        #expect(await again.catalog?.companions == catalog.companions)
        await again.suspend()
        try Data("no database".utf8).write(to: StoreFolder(site.scratch.url).database)
        let mended = try await site.store()
        #expect(try await mended.companion("routing", of: estonia)?.engine == "3.6")
        #expect(try await mended.installed().map(\.item) == [estonia])
        #expect(try await mended.states { try await $0.remove([estonia]) } == [.done])
        await mended.stop()
        #expect(try await mended.usage().packages == 0)
    }

    @Test func theQuotaCountsIt() async throws {
        let size = UInt64(site.size("packages/1/EE.mbtiles"))
        let store = try await site.store { $0.quota.bytes = size + UInt64(graph.count) / 2 }
        try await store.refreshCatalog()
        #expect(try await store.estimate([estonia], withCompanions: routing).fits == false)
        let events = store.events
        let task = try #require(try await store.install([estonia], with: routing).first)
        let paused = await store.wait(in: events) { event in
            guard case .task(let task) = event, case .paused(.quota) = task.state else { return false }
            return true
        }
        #expect(paused != nil)
        #expect(try await store.installed().isEmpty)
        try await store.cancel(task)
        #expect(try await install(store, CompanionChoice(with: ["search"])) == [.done])
    }
}
