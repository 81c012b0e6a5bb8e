import Foundation
import TestSupport
import Testing
import Tiles

@testable import OfflineMaps

/// A map view on a store: packs that it loads, and what it viewed.
@Suite(.timeLimit(.minutes(15)))
struct MapStoreViewingTests {
    private let site: StoreSite
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10, 1, 2, 3]

    init() throws { site = try StoreSite() }

    private func tile(_ text: String) throws -> TileID { try #require(TileID(text)) }

    private func found(_ answer: TileAnswer) -> Tile? { if case .found(let tile) = answer { tile } else { nil } }

    private func isAbsent(_ answer: TileAnswer) -> Bool { if case .absent = answer { true } else { false } }

    @Test func aViewLoadsWholePacksOfNoRegion() async throws {
        try site.add("EE", cell: (5, 18, 9), depth: 4, withPacks: true)
        try site.publish()
        let store = try await site.store()
        try await store.refreshCatalog()
        let source = MapSource(store, tileset: "demo", use: .readAndUpdate)
        let first = try #require(found(try await source.tile(try tile("9/289/149"))))
        #expect(first.origin.item == .packs("EE") && !first.origin.isAmbient)
        let packs = site.requests.filter { $0.hasPrefix("packs/") }
        #expect(packs.count == 1)
        // Its neighbours and parents are in the same pack.
        #expect(found(try await source.tile(try tile("9/288/149"))) != nil)
        #expect(found(try await source.tile(try tile("7/72/37"))) != nil)
        #expect(site.requests.filter { $0.hasPrefix("packs/") } == packs)
        let usage = try await store.usage()
        #expect(usage.packCount == 0 && usage.packs > 0)
        #expect(try await store.tasks().isEmpty)
        // What no package has is asked for once.
        let requests = site.requests.count
        for _ in 0..<3 { #expect(isAbsent(try await source.tile(try tile("9/0/0")))) }
        #expect(site.requests.count == requests)
        // Without a network nothing is asked, and the pack stays readable.
        await store.forceOffline(true)
        #expect(isAbsent(try await source.tile(try tile("4/0/0"))) && site.requests.count == requests)
        #expect(found(try await source.tile(try tile("9/289/149"))) != nil)
        await store.stop()
    }

    @Test func aViewThatLoadsPacksFillsOnlyHalfOfTheQuota() async throws {
        try site.add("EE", cell: (5, 18, 9), depth: 4, withPacks: true)
        try site.publish()
        let store = try await site.store { $0.quota.bytes = 1_000 }
        try await store.refreshCatalog()
        let source = MapSource(store, tileset: "demo", use: .readAndUpdate)
        #expect(isAbsent(try await source.tile(try tile("9/289/149"))))
        #expect(try await store.tasks().isEmpty)
        #expect(try await store.usage().packs == 0)
        // A store that was stopped loads nothing, and the view does not wait.
        await store.stop()
        #expect(isAbsent(try await source.tile(try tile("8/144/74"))))
    }

    @Test func whatAnAppKeepsIsShownAndCleared() async throws {
        let store = try await site.store { $0.catalog = nil }
        await store.forceOffline(true)
        var online = OnlineSource(id: "web", template: "https://t.example.com/{z}/{x}/{y}.png")
        online.timeout = .seconds(1)
        let source = MapSource(store, tileset: "web", online: online)
        let address = try #require(URL(string: "https://t.example.com/3/1/2.png"))
        #expect(isAbsent(try await source.tile(try tile("3/1/2"))))
        #expect(try await store.usage().ambient == 0)
        try await store.preload(Data(Self.png), for: address)
        let kept = try #require(found(try await source.tile(try tile("3/1/2"))))
        #expect([UInt8](kept.body) == Self.png && !kept.isStale && kept.mediaType == "image/png")
        #expect(try await store.resources.load(address)?.body == Data(Self.png))
        #expect(try await store.usage().ambient > 0)
        try await store.refreshAmbientCache()
        #expect(found(try await source.tile(try tile("3/1/2")))?.isStale == true)
        try await store.clearAmbientCache()
        #expect(isAbsent(try await source.tile(try tile("3/1/2"))))
        #expect(try await store.usage().ambient == 0)
        let file = try #require(URL(string: "file:///etc/hosts"))
        let error = await #expect(throws: StoreError.self) { try await store.preload(Data(), for: file) }
        #expect(error?.code == .invalidArguments)
        await store.stop()
    }

    @Test func theStoresSettingsHoldForWhatIsViewed() async throws {
        site.serve(Self.png, at: "t/3/1/2.png")
        site.serve(Self.png, at: "t/3/1/3.png")
        let store = try await site.store { $0.networkRule = .none }
        let online = OnlineSource(id: "web", template: site.server.url + "/t/{z}/{x}/{y}.png")
        let source = MapSource(store, tileset: "web", online: online)
        let requests = { site.requests.filter { $0.hasPrefix("t/") }.count }
        #expect(isAbsent(try await source.tile(try tile("3/1/2"))) && requests() == 0)
        try await store.setNetworkRule(.any)
        #expect(found(try await source.tile(try tile("3/1/2"))) != nil && requests() == 1)
        var quota = Quota()
        quota.ambientBytes = 0
        try await store.setQuota(quota)
        #expect(try await store.usage().ambient == 0)
        for _ in 0..<2 { #expect(found(try await source.tile(try tile("3/1/3"))) != nil) }
        #expect(requests() == 3)
        // A suspended store has no open file of its own; what it has is there again.
        quota.ambientBytes = 1 << 20
        try await store.setQuota(quota)
        #expect(found(try await source.tile(try tile("3/1/2"))) != nil && requests() == 4)
        await store.suspend()
        #expect(found(try await source.tile(try tile("3/1/2"))) != nil && requests() == 4)
    }

    @Test func anUpdateMakesWhatWasViewedStale() async throws {
        try site.add("EE")
        try site.publish()
        let store = try await site.store()
        try await store.refreshCatalog()
        let outside = try tile("7/1/2")
        let entry = AmbientEntry(
            address: "https://t.example.com/7/1/2.pbf", place: .init(tileset: "demo", tile: outside),
            body: Data(Self.png), expires: Date(timeIntervalSinceNow: 3_600), checked: Date())
        let ambient = await store.worker.shared.web.ambient
        #expect(ambient.insert(entry))
        let source = MapSource(store, tileset: "demo")
        #expect(found(try await source.tile(outside))?.isStale == false)
        #expect(try await store.states { try await $0.install([.package("EE")]) } == [.done])
        await store.stop()
        #expect(found(try await source.tile(outside))?.isStale == true)
    }
}
