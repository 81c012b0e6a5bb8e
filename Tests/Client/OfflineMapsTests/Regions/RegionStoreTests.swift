import Foundation
import TestSupport
import Testing
import TileBodies
import Tiles

@testable import OfflineMaps

/// Regions from end to end: registered, loaded, read without a network, removed.
@Suite(.timeLimit(.minutes(15)))
struct RegionStoreTests {
    private let site: StoreSite

    init() throws {
        site = try StoreSite()
    }

    private func tile(_ text: String) throws -> TileID { try #require(TileID(text)) }

    private func definition(
        _ tiles: [String], _ first: Int, _ last: Int, _ sources: [SourceDescriptor]
    ) throws -> RegionDefinition {
        let zooms = try #require(ZoomRange(min: first, max: last))
        return RegionDefinition(
            .mask(TileMask(tiles: try tiles.map(tile), maxZoom: last)), zooms: zooms, sources: sources)
    }

    @Test func aRegionOfPacksIsLoadedSharedAndRemoved() async throws {
        try site.add("EE", cell: (5, 18, 9), depth: 4, withPacks: true)
        try site.publish()
        let store = try await site.store()
        try await store.refreshCatalog()
        let wanted = try definition(["9/289/149"], 7, 9, [.tileset("demo")])
        try await store.addRegion("trip", wanted, context: Data("mine".utf8))
        let before = try #require(try await store.region("trip"))
        #expect(before.state == .registered && before.missing.map(\.what) == ["demo"] && before.bytes == 0)
        #expect(before.context == Data("mine".utf8))
        // The estimate is exact: one pack.
        let estimate = try await store.estimate(wanted)
        #expect(estimate.packs == 1 && estimate.tiles == 0 && estimate.margin == 0 && estimate.fits)

        #expect(try await store.states { [try await $0.load("trip")] } == [.done])
        let after = try #require(try await store.region("trip"))
        #expect(after.state == .complete && after.missing.isEmpty && after.failed.isEmpty)
        #expect(after.bytes == estimate.storage && after.zooms == ZoomRange(min: 6, max: 9))
        #expect(after.covered.contains(try tile("9/289/149")) && after.progress.packs.completed == 1)
        #expect(try store.tiles.tile(try tile("9/289/149"), of: "demo").isFound)

        // A second region needs the same pack: nothing is downloaded but the list.
        let requests = site.requests.filter { $0.hasPrefix("packs/") }.count
        try await store.addRegion("other", try definition(["9/290/150"], 7, 9, [.tileset("demo")]))
        #expect(try await store.states { [try await $0.load("other")] } == [.done])
        #expect(site.requests.filter { $0.hasPrefix("packs/") }.count == requests)
        #expect(try await store.usage().packCount == 1)
        // In the order of their registration.
        #expect(try await store.regions() == ["trip", "other"])

        #expect(try await store.states { try await $0.remove([.region("trip")]) } == [.done])
        #expect(try await store.region("trip") == nil)
        #expect(try store.tiles.tile(try tile("9/289/149"), of: "demo").isFound)
        #expect(try await store.states { try await $0.remove([.region("other")]) } == [.done])
        await store.stop()
        #expect(try await store.usage().total == 0)
    }

    @Test func anExpiredPackThatTheListStillHasIsFreshAgain() async throws {
        try site.add("EE", cell: (5, 18, 9), depth: 4, withPacks: true)
        try site.publish()
        site.setAge(0, of: site.paths.filter { $0.hasPrefix("packs/") })
        var store = try await site.store()
        try await store.refreshCatalog()
        try await store.addRegion("trip", try definition(["9/289/149"], 7, 9, [.tileset("demo")]))
        #expect(try await store.states { [try await $0.load("trip")] } == [.done])
        #expect(try await store.region("trip")?.state == .stale)
        let requests = site.requests.filter { $0.hasPrefix("packs/") }.count
        #expect(try await store.states { [try await $0.load("trip")] } == [.done])
        #expect(site.requests.filter { $0.hasPrefix("packs/") }.count == requests)
        // Also for the next process.
        for _ in 0..<2 {
            let info = try #require(try await store.region("trip"))
            #expect(info.state == .complete && info.expires.map { $0 > Date(timeIntervalSinceNow: 86_400) } ?? false)
            await store.suspend()
            store = try await site.store()
        }
    }

    @Test func aRegionOfSingleTilesIsLoadedAndRefreshed() async throws {
        let store = try await site.store { $0.catalog = nil }
        let wanted = try definition(
            ["8/144/74", "8/145/74", "8/144/75", "8/145/75"], 5, 8,
            [.online(OnlineSource(id: "web", template: site.server.url + "/t/{z}/{x}/{y}.pbf"))])
        let mask = wanted.area.cover(toZoom: 8)
        let absent = try tile("8/145/75")
        for tile in mask.tiles(in: .all) where tile != absent {
            site.serve(TestMap.body("online", tile), at: "t/\(tile).pbf")
        }
        try await store.addRegion("trip", wanted)
        let estimate = try await store.estimate(wanted)
        let body = TestMap.body("online", absent).count
        #expect(estimate.tiles == 7 && estimate.transfer <= UInt64(8 * body) && estimate.transfer > 0)
        let requests = site.requests.count

        #expect(try await store.states { [try await $0.load("trip")] } == [.done])
        #expect(site.requests.count == requests + 7)
        let info = try #require(try await store.region("trip"))
        #expect(info.state == .complete && info.missing.isEmpty)
        #expect(try await store.usage().onlineTiles == 7)
        #expect(try store.tiles.tile(try tile("8/144/74"), of: "web").isFound)
        guard case .empty = try store.tiles.tile(absent, of: "web") else {
            Issue.record("The server has no such tile, but it is not empty.")
            return
        }

        // One tile changes: a refresh asks for all, and gets one.
        site.serve(TestMap.body("newer", try tile("8/144/74")), at: "t/8/144/74.pbf")
        #expect(try await store.states { [try await $0.refresh("trip")] } == [.done])
        guard case .found(let found) = try store.tiles.tile(try tile("8/144/74"), of: "web") else {
            Issue.record("The tile is gone.")
            return
        }
        #expect(found.body == Data(TestMap.body("newer", try tile("8/144/74"))))
        #expect(try store.tiles.tile(try tile("8/145/74"), of: "web").isFound)
        // Nothing has expired: a load asks for nothing.
        let count = site.requests.count
        #expect(try await store.states { [try await $0.load("trip")] } == [.done])
        #expect(site.requests.count == count)
    }

    @Test func aRegionOfAStyleHasAllThatAMapNeeds() async throws {
        let base = site.server.url
        let style = """
            {"version":8,"name":"S","sources":{"map":{"type":"vector","url":"tiles.json"}},"sprite":"sprite",
            "glyphs":"fonts/{fontstack}/{range}.pbf","layers":[{"id":"a","type":"symbol","source":"map",
            "source-layer":"x","layout":{"text-field":"t","text-font":["Sans"]}}]}
            """
        site.serve(Array(style.utf8), at: "style.json")
        site.serve(
            Array(#"{"tiles":["t/{z}/{x}/{y}.pbf"],"minzoom":0,"maxzoom":7}"#.utf8), at: "tiles.json")
        site.serve(Array("{}".utf8), at: "sprite.json")
        site.serve(Self.png, at: "sprite.png")
        let wanted = try definition(["8/144/74"], 6, 8, [.style(try #require(URL(string: base + "/style.json")))])
        for tile in wanted.area.cover(toZoom: 7).tiles(in: .all) {
            site.serve(TestMap.body("style", tile), at: "t/\(tile).pbf")
        }
        let store = try await site.store { $0.catalog = nil }
        try await store.addRegion("trip", wanted)
        #expect(try await store.states { [try await $0.load("trip")] } == [.done])
        let info = try #require(try await store.region("trip"))
        #expect(info.state == .complete && info.failed.isEmpty)
        // The style's archive, and its files for readers.
        let usage = try await store.usage()
        #expect(usage.styles > 0 && info.bytes == usage.styles + usage.packs)
        #expect(try await store.agreesWithTheDisk())
        // Zooms 6 and 7: the source ends at 7.
        #expect(try await store.usage().onlineTiles == 2)
        site.server.stop()
        for path in ["style.json", "tiles.json", "sprite.json", "sprite.png", "fonts/Sans/0-255.pbf", "t/7/72/37.pbf"] {
            let resource = try store.resources.resource(try #require(URL(string: "\(base)/\(path)")))
            #expect(resource != nil, "\(path)")
            // The server has no glyphs: that is known, too.
            #expect(resource?.isEmpty == path.hasPrefix("fonts"), "\(path)")
        }
    }

    @Test func limitsAreMetBeforeTheFirstRequestOfATile() async throws {
        try site.add("EE", cell: (4, 9, 4), depth: 4, withPacks: true)
        try site.publish()
        let store = try await site.store { ($0.quota.tilePacks, $0.quota.onlineTiles) = (3, 6) }
        try await store.refreshCatalog()
        try await store.addRegion("packs", try definition(["4/9/4"], 6, 8, [.tileset("demo")]))
        try await store.addRegion(
            "tiles",
            try definition(
                ["8/144/74", "8/145/74", "8/144/75", "8/145/75"], 5, 8,
                [.online(OnlineSource(id: "web", template: site.server.url + "/t/{z}/{x}/{y}.pbf"))]))
        var whole = try definition(["8/144/64", "8/159/79"], 6, 8, [.tileset("demo")])
        whole.area = .mask(TileMask(tiles: [try tile("4/9/4")], maxZoom: 4).expanded(toZoom: 8))
        try await store.addRegion("packs", whole)
        let states = try await store.states { [try await $0.load("packs"), try await $0.load("tiles")] }
        #expect(states == [.failed(.tooManyPacks), .failed(.tooManyTiles)])
        #expect(site.requests == ["regions/EE.json"])
        let info = try #require(try await store.region("tiles"))
        #expect(info.state == .incomplete && info.failed.first?.cause == .tooManyTiles)
        #expect(try await store.estimate(whole).packs == 16)
    }

    @Test func wrongDefinitionsAreRefusedAtOnce() async throws {
        let store = try await site.store { $0.catalog = nil }
        let zooms = try #require(ZoomRange(min: 0, max: 5))
        let world = Area.mask(TileMask(full: 5))
        let style = try #require(URL(string: "file:///style.json"))
        for region in [
            RegionDefinition(world, zooms: zooms, sources: []),
            RegionDefinition(.geometry(Geometry()), zooms: zooms, sources: [.tileset("demo")]),
            RegionDefinition(.around([], meters: 5), zooms: zooms, sources: [.tileset("demo")]),
            RegionDefinition(.mask(TileMask(empty: 3)), zooms: zooms, sources: [.tileset("demo")]),
            RegionDefinition(world, zooms: zooms, sources: [.style(style)]),
            RegionDefinition(world, zooms: zooms, sources: [.online(OnlineSource(id: "x", template: "http://a/{z}"))]),
        ] {
            let error = await #expect(throws: StoreError.self) { try await store.addRegion("bad", region) }
            #expect(error?.code == .invalidArguments)
        }
        #expect(try await store.regions().isEmpty)
        for call in [
            { (store: MapStore) in _ = try await store.load("bad") }, { _ = try await $0.refresh("bad") },
            { try await $0.setContext(Data(), of: "bad") },
        ] {
            let error = await #expect(throws: StoreError.self) { try await call(store) }
            #expect(error?.code == .notFound)
        }
    }

    /// A clear pixel.
    private static let png: [UInt8] = [
        0x89, 0x50, 0x4E, 0x47, 13, 10, 0x1A, 10, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1, 8, 4,
        0, 0, 0, 0xB5, 0x1C, 12, 2, 0, 0, 0, 11, 0x49, 0x44, 0x41, 0x54, 0x78, 0xDA, 0x63, 0x60, 0x60, 0, 0, 0, 3, 0,
        1, 0x2B, 9, 0x4D, 0x84, 0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
    ]
}
