import Foundation
import OfflineMaps
import TestSupport
import Testing
import Tiles

extension ParityRow {
    /// B30 to B45: Mapbox's limits, modes and quota.
    static let quotas: [ParityRow] = [
        ParityRow("B30") { world in
            #expect(Quota().tilePacks == 750)
            let store = try await world.open { $0.quota.tilePacks = 1 }
            let limits = Recorder<Limit>()
            let events = store.events
            let watch = Task {
                for await event in events { if case .limitReached(let limit) = event { limits.add(limit) } }
            }
            try await store.addRegion("mine", try MapWorld.region)
            #expect(await store.end(of: try await store.load("mine")) == .failed(.tooManyPacks))
            #expect(try await limits.first { _ in true } == .tilePacks(needed: 2, allowed: 1))
            #expect(world.server.requests("/packs/").isEmpty)
            watch.cancel()
        },
        ParityRow("B31") { world in try await forbidden(world) },
        ParityRow("B32") { world in
            let store = try await world.open()
            #expect(store.folder.path == world.options.folder.path)
        },
        ParityRow("B33") { world in
            let store = try await world.open()
            try await store.bring(.package("EE"))
            let source = MapSource(store, tileset: "demo", use: .disabled)
            #expect(try MapWorld.data(try await source.tile(MapWorld.sharedTile)) == nil)
        },
        ParityRow("B34") { world in
            let store = try await world.open()
            _ = try await online(world, store).tile(MapWorld.sharedTile)
            let usage = try await store.usage()
            #expect(usage.ambient > 0 && usage.packs == 0 && usage.packages == 0)
        },
        ParityRow("B35") { world in
            let store = try await world.open()
            let source = MapSource(store, tileset: "demo", use: .readAndUpdate)
            try await Eventually.holds("the pack is loaded") {
                try MapWorld.data(try await source.tile(MapWorld.sharedTile)) != nil
            }
            let neighbour = TinyMap.tile(8, 36 * 4, 18 * 4)
            let asked = world.server.requests("/packs/").count
            #expect(try MapWorld.data(try await source.tile(neighbour)) == "data 1")
            #expect(world.server.requests("/packs/").count == asked && asked > 0)
        },
        ParityRow("B36") { world in
            #expect(Quota().bytes == nil)
            let usage = try await world.open().usage()
            #expect(usage.quota == nil)
        },
        ParityRow("B37") { world in
            let store = try await world.open()
            var quota = try await store.quota()
            quota.bytes = 5_000_000
            try await store.setQuota(quota)
            #expect(try await store.usage().quota == 5_000_000)
        },
        ParityRow("B38") { world in
            let store = try await world.open { $0.quota.bytes = 10_000 }
            let id = try #require(try await store.install([.package("EE")]).first)
            let state = await store.state(of: id) { if case .paused(.quota) = $0 { true } else { false } }
            guard case .paused(.quota(let needed, 10_000)) = state else {
                Issue.record("the task is \(String(describing: state))")
                return
            }
            #expect(needed > 10_000 && world.server.requests("EE.mbtiles").isEmpty)
        },
        ParityRow("B39") { _ in
            var quota = Quota()
            #expect(quota.evictFrom == 0.5)
            quota.bytes = 1_000
            #expect(quota.evictionStart == 500)
        },
        ParityRow("B40") { world in
            world.server.setMaxAge(of: "/6/37/18/", 60)
            let store = try await world.open()
            try await visit(MapWorld.eastTile, store)
            try await visit(MapWorld.sharedTile, store)
            let packs = try await store.usage().packs
            // Space for one of the packs: the one of the east expires after a minute, the other after an hour.
            try await limit(store, to: packs - 1)
            #expect(try MapWorld.data(store, MapWorld.sharedTile) == "data 1")
            #expect(try MapWorld.data(store, MapWorld.eastTile) == nil)
        },
        ParityRow("B41") { world in
            let store = try await world.open()
            try await store.addRegion("mine", try MapWorld.region)
            try await store.finish(try await store.load("mine"))
            let kept = try await store.usage().packs
            try await visit(MapWorld.eastTile, store)
            try await limit(store, to: kept)
            #expect(try MapWorld.data(store, MapWorld.sharedTile) == "data 1")
            #expect(try await store.region("mine")?.state == .complete)
        },
        ParityRow("B42") { world in
            let store = try await world.open()
            try await store.addRegion("one", try MapWorld.region)
            try await store.finish(try await store.load("one"))
            var quota = try await store.quota()
            quota.bytes = try await store.usage().packs + 1_000
            try await store.setQuota(quota)
            let south = MapWorld.southTile.bounds
            let place = MapWorld.place(MapWorld.southTile)
            let box = try BoundingBox(
                west: place.longitude, south: place.latitude, east: south.east - 0.01, north: south.north - 0.01)
            try await store.addRegion(
                "two", RegionDefinition(.box(box), zooms: TinyMap.zooms, sources: [.tileset("demo")]))
            let id = try await store.load("two")
            _ = await store.state(of: id) { if case .paused(.quota) = $0 { true } else { false } }
            #expect(try await store.tasks().contains { $0.id == id })
            for task in try await store.remove([.region("one")]) { try await store.finish(task) }
            try await store.finish(id)
        },
        ParityRow("B43") { world in
            let store = try await world.open()
            var source = tiles(world)
            source.isTMS = true
            _ = try await MapSource(store, tileset: "live", online: source).tile(TinyMap.tile(3, 1, 2))
            #expect(world.server.requests("/live/3/1/5.pbf").count == 1)
        },
        ParityRow("B44") { world in
            let store = try await world.open()
            try await store.addRegion("mine", try live(world))
            try await store.finish(try await store.load("mine"))
            // From data 5 on the style names another tile address.
            world.server.setLiveData(5)
            try await store.finish(try await store.refresh("mine"))
            #expect(try store.resources.resource(world.server.address("/live/alt/0/0/0.pbf")) != nil)
            #expect(try await store.region("mine")?.missing.isEmpty == true)
        },
        notApplicable("B45"),
    ]

    /// A server that forbids bulk downloads is never asked for a region.
    static func forbidden(_ world: MapWorld) async throws {
        let store = try await world.open()
        let source = OnlineSource(id: "osm", template: "https://tile.openstreetmap.org/{z}/{x}/{y}.png")
        let zooms = try #require(ZoomRange(min: 0, max: 2))
        do {
            try await store.addRegion(
                "osm", RegionDefinition(.box(try MapWorld.box), zooms: zooms, sources: [.online(source)]))
            #expect(await store.end(of: try await store.load("osm")) == .failed(.hostForbidsBulk))
        } catch let error as StoreError {
            #expect(error.failure == .hostForbidsBulk)
        }
    }

    /// Reads a tile of the tileset so that its pack is added.
    private static func visit(_ tile: TileID, _ store: MapStore) async throws {
        let source = MapSource(store, tileset: "demo", use: .readAndUpdate)
        try await Eventually.holds("the pack is loaded") { try MapWorld.data(try await source.tile(tile)) != nil }
    }

    /// Sets a quota and waits until the store is below it.
    private static func limit(_ store: MapStore, to bytes: UInt64) async throws {
        var quota = try await store.quota()
        quota.bytes = bytes
        quota.evictFrom = 1
        try await store.setQuota(quota)
        try await Eventually.holds("the packs fit the quota") { try await store.usage().packs <= bytes }
    }
}
