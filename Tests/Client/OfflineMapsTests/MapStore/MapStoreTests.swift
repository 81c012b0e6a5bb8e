import CatalogFormat
import Foundation
import TestSupport
import Testing
import Tiles

@testable import OfflineMaps

/// The store from end to end: a signed catalog on a real server, real packages, a real database.
@Suite(.timeLimit(.minutes(15)))
struct MapStoreTests {
    private let site: StoreSite
    private let map: TestMap

    init() throws {
        site = try StoreSite()
        map = try TestMap((7, 72, 37), depth: 4)
        try site.add("EE", depth: 4)
        try site.add("LV", cell: (7, 72, 39))
        try site.publish()
    }

    @Test func aPackageIsInstalledReadAndRemoved() async throws {
        let store = try await site.store()
        let catalog = try await store.refreshCatalog()
        #expect(catalog.packages.map(\.id) == ["EE", "LV"])
        let events = store.events
        #expect(try await store.states { try await $0.install([.package("EE")]) } == [.done])
        #expect(try store.shows("EE 1", map))
        let installed = try await store.installed()
        #expect(installed.map(\.item) == [.package("EE")])
        #expect(installed.first?.version == 1 && installed.first?.dataDate == "2026-11-01")
        let file = try #require(try await store.url(of: .package("EE")))
        #expect(try Data(contentsOf: file).count == site.size("packages/1/EE.mbtiles"))
        #expect(try await store.usage().packages == UInt64(site.size("packages/1/EE.mbtiles")))
        #expect(try await store.tasks().isEmpty)
        let event = await store.wait(in: events) { if case .installed = $0 { true } else { false } }
        guard case .installed(.package("EE", Edition(), .mbtiles), version: 1, changed: nil) = event else {
            Issue.record("\(event as Any)")
            return
        }
        #expect(try await store.states { try await $0.remove([.package("EE")]) } == [.done])
        #expect(try !store.shows("EE 1", map))
        #expect(try await store.installed().isEmpty)
        await store.stop()
        #expect(!FileManager.default.fileExists(atPath: file.path))
        #expect(try await store.usage().total == 0)
    }

    @Test func whatWasInstalledIsThereAtTheNextStart() async throws {
        var store: MapStore? = try await site.store()
        try await store?.refreshCatalog()
        #expect(try await store?.states { try await $0.install([.package("EE")]) } == [.done])
        await store?.suspend()
        store = nil
        let before = site.server.requests.count
        let again = try await site.store()
        #expect(try again.shows("EE 1", map))
        #expect(try await again.installed().map(\.version) == [1])
        #expect(await again.catalog?.packages.count == 2)
        // Younger than a day: the server is not asked.
        try await again.refreshCatalog()
        #expect(site.server.requests.count == before)
        try await again.refreshCatalog(ifOlderThan: .zero)
        #expect(site.server.requests.count == before + 1)
    }

    @Test func anUpdateDownloadsThePatchAlone() async throws {
        let store = try await site.store { $0.quota.previousVersions = 1 }
        try await store.refreshCatalog()
        #expect(try await store.states { try await $0.install([.package("EE"), .package("LV")]) } == [.done, .done])
        let whole = try site.add("EE", version: 2, depth: 4)
        try site.publish()
        try await store.refreshCatalog(ifOlderThan: .zero)
        let offer = try await store.updates()
        let patch = site.size("patches/EE/1-2.mbtiles")
        #expect(
            offer.changes == [
                UpdateOffer.Change(item: .package("EE"), from: 1, to: 2, bytes: UInt64(patch), isPatch: true)
            ])
        #expect(offer.from == "2026-11-01" && offer.to == "2026-11-02" && offer.bytes == UInt64(patch))
        #expect(try await store.status(of: .package("EE"))?.isOutdated == true)
        let events = store.events
        #expect(try await store.states { try await $0.update() } == [.done, .done])
        #expect(try store.shows("EE 2", map))
        let event = await store.wait(in: events) { if case .installed = $0 { true } else { false } }
        guard case .installed(.package("EE", Edition(), .mbtiles), version: 2, let changed) = event else {
            Issue.record("\(event as Any)")
            return
        }
        // One tile has changed.
        #expect(changed?.contains(map.cell) == true)
        #expect(changed?.count(atZoom: map.cell.zoom + 1) == 0)
        #expect(site.sent(whole) == 0 && site.sent("patches/EE/1-2.mbtiles") == patch)
        #expect(try await store.updates().changes.isEmpty)
        #expect(try await store.verify(deep: true).isEmpty)
        // And back.
        #expect(try await store.installed().first { $0.item == .package("EE") }?.previous == [1])
        #expect(try await store.states { [try await $0.rollback(.package("EE"))] } == [.done])
        #expect(try store.shows("EE 1", map))
        await #expect(throws: StoreError.self) { try await store.rollback(.package("LV")) }
    }

    @Test func aDamagedKeptFileDoesNotComeBack() async throws {
        let store = try await site.store()
        try await store.refreshCatalog()
        var quota = Quota()
        quota.previousVersions = 1
        try await store.setQuota(quota)
        #expect(try await store.states { try await $0.install([.package("EE")]) } == [.done])
        let first = try #require(try await store.url(of: .package("EE")))
        _ = try site.add("EE", version: 2, depth: 4)
        try site.publish()
        try await store.refreshCatalog(ifOlderThan: .zero)
        #expect(try await store.states { try await $0.update([.package("EE")]) } == [.done])
        var bytes = try Data(contentsOf: first)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: first)
        let error = await #expect(throws: StoreError.self) { try await store.rollback(.package("EE")) }
        #expect(error?.code == .damaged && error?.message.contains(first.lastPathComponent) == true, "\(error as Any)")
        #expect(try await store.installed().first?.version == 2 && store.shows("EE 2", map))
        #expect(try await store.tasks().isEmpty)
    }

    @Test func aPatchThatIsWrongIsReplacedByTheWholeFile() async throws {
        let store = try await site.store()
        try await store.refreshCatalog()
        #expect(try await store.states { try await $0.install([.package("EE")]) } == [.done])
        let whole = try site.add("EE", version: 2, depth: 4, brokenPatch: true)
        try site.publish()
        try await store.refreshCatalog(ifOlderThan: .zero)
        #expect(try await store.states { try await $0.update([.package("EE")]) } == [.done])
        #expect(try store.shows("EE 2", map))
        #expect(site.sent("patches/EE/1-2.mbtiles") > 0 && site.sent(whole) == site.size(whole))
    }

    @Test func itemsAreUpdatedTogether() async throws {
        let store = try await site.store()
        try await store.refreshCatalog()
        #expect(try await store.states { try await $0.install([.package("EE"), .package("LV")]) } == [.done, .done])
        try site.add("EE", version: 2, depth: 4)
        let last = try site.add("LV", version: 2, cell: (7, 72, 39))
        try site.publish()
        try await store.refreshCatalog(ifOlderThan: .zero)
        let other = try TestMap((7, 72, 39), depth: 3)
        site.answer(403, at: last)
        site.answer(403, at: "patches/LV/1-2.mbtiles")
        #expect(try await store.states { try await $0.update(together: true) } == [.failed(.notAllowed)])
        #expect(try store.shows("EE 1", map))
        #expect(try store.shows("LV 1", other))
        site.answer(nil, at: last)
        site.answer(nil, at: "patches/LV/1-2.mbtiles")
        #expect(
            try await store.states { store in
                let id = try #require(try await store.tasks().first?.id)
                try await store.retry(id)
                return [id]
            } == [.done])
        #expect(try store.shows("EE 2", map))
        #expect(try store.shows("LV 2", other))
    }

    @Test func selectedGroupsAreInstalledToo() async throws {
        try site.add("EE", depth: 2, group: "terrain")
        try site.publish()
        let store = try await site.store()
        try await store.refreshCatalog()
        try await store.setGroups(["terrain"])
        #expect(try await store.status(of: .package("EE"))?.missingGroups == [])
        #expect(try await store.states { try await $0.install([.package("EE")]) } == [.done])
        let tile = try store.tiles.tile(map.cell, of: nil, Edition(group: "terrain"))
        guard case .found(let found) = tile else {
            Issue.record("\(tile)")
            return
        }
        #expect(found.origin.item == .package("EE", Edition(group: "terrain")))
        #expect(try await store.states { try await $0.remove([.package("EE")]) } == [.done])
        #expect(try await store.usage().packages == 0)
    }

    @Test func whatTheCatalogDoesNotHaveFails() async throws {
        let store = try await site.store()
        try await store.refreshCatalog()
        #expect(try await store.states { try await $0.install([.package("XX")]) } == [.failed(.notInCatalog)])
        #expect(try await store.tasks().map(\.state) == [.failed(.notInCatalog)])
        #expect(try await store.status(of: .package("YY")) == nil)
        await #expect(throws: StoreError.self) { try await store.cancel(TaskID(number: 99)) }
        await #expect(throws: StoreError.self) { try await store.estimate([.package("YY")]) }
    }

    @Test func anEstimateIsTheSizeOfTheFiles() async throws {
        let store = try await site.store()
        try await store.refreshCatalog()
        let estimate = try await store.estimate([.package("EE"), .package("LV")])
        let sum = UInt64(site.size("packages/1/EE.mbtiles") + site.size("packages/1/LV.mbtiles"))
        #expect(estimate.transfer == sum && estimate.storage == sum && estimate.margin == 0)
    }

    @Test func anOlderCatalogIsRefusedUntilAPersonAllowsIt() async throws {
        let store = try await site.store()
        try site.publish(sequence: 10)
        try await store.refreshCatalog()
        try site.publish(sequence: 9)
        let error = await #expect(throws: StoreError.self) { try await store.refreshCatalog(ifOlderThan: .zero) }
        #expect(error?.failure == .olderCatalog)
        try await store.refreshCatalog(allowOlder: true)
        #expect(await store.catalog != nil)
        try await store.reset()
        try site.publish(sequence: 8)
        let after = await #expect(throws: StoreError.self) { try await store.refreshCatalog(ifOlderThan: .zero) }
        #expect(after?.failure == .olderCatalog)
    }

    @Test func aCatalogOfAnotherKeyIsRefused() async throws {
        let other = try StoreSite()
        let store = try await site.store { options in
            options.trust = (try? other.options().trust) ?? options.trust
        }
        let error = await #expect(throws: StoreError.self) { try await store.refreshCatalog() }
        #expect(error?.failure == .badSignature)
        #expect(await store.catalog == nil)
    }

    @Test func progressEndsWithTheTask() async throws {
        let store = try await site.store()
        try await store.refreshCatalog()
        let id = try #require(try await store.install([.package("EE")]).first)
        var last: TaskProgress?
        for await progress in store.progress(of: id) {
            #expect(progress.fraction >= last?.fraction ?? 0)
            last = progress
        }
        var none = 0
        for await _ in store.progress(of: id) { none += 1 }
        #expect(none == 0)
    }

    @Test func oneFolderHasOneStore() async throws {
        let options = try site.options()
        let first = try await MapStore.open(options)
        let second = try await MapStore.open(options)
        #expect(first === second && first.role == .worker)
        await #expect(throws: StoreError.self) { try await first.refreshCatalog() }
    }

    @Test func aFolderIsOpenWithOneKeyAndOneAddress() async throws {
        let options = try site.options()
        let first = try await MapStore.open(options)
        var address = options
        address.catalog = URL(string: "http://127.0.0.1:1/other")
        var key = options
        key.trust = .keys(["\(try CatalogSecretKey().publicKey)"])
        var unsigned = options
        unsigned.trust = .unsigned
        for (other, word) in [(address, "another address"), (key, "another key"), (unsigned, "another key")] {
            let error = await #expect(throws: StoreError.self) { try await MapStore.open(other) }
            #expect(
                error?.code == .invalidArguments && error?.message.contains(word) == true,
                "\(String(describing: error))")
        }
        // The same address in other words, and a call that names none.
        var same = options
        same.catalog = URL(string: site.server.url + "/")
        #expect(try await MapStore.open(same) === first)
        same.catalog = nil
        #expect(try await MapStore.open(same) === first)
        // A store that was suspended is not in the way.
        await first.suspend()
        let second = try await MapStore.open(key)
        #expect(second !== first && second.role == .worker)
        #expect(try await MapStore.open(key) === second)
    }

    @Test func twoCallsAtOnceWithTwoKeysAreAnError() async throws {
        let options = try site.options()
        var other = options
        other.trust = .unsigned
        async let one = MapStore.open(options)
        async let two = MapStore.open(other)
        var errors: [StoreError.Code] = []
        var stores: [MapStore] = []
        do { stores.append(try await one) } catch let error as StoreError { errors.append(error.code) }
        do { stores.append(try await two) } catch let error as StoreError { errors.append(error.code) }
        #expect(errors == [.invalidArguments] && stores.count == 1)
    }

    /// No disk is read-only here, so the lock is something that cannot be opened for writing.
    @Test func aFolderThatCannotBeWrittenIsSaidWithoutTasks() async throws {
        let options = try site.options()
        try FileManager.default.createDirectory(at: site.scratch.folder.lock, withIntermediateDirectories: true)
        let error = await #expect(throws: StoreError.self) { try await MapStore.open(options) }
        #expect(error?.code == .folder && error?.message.contains("lock") == true)
        #expect(error?.advice?.contains("can be written") == true && error?.description.contains("task") == false)
    }
}
