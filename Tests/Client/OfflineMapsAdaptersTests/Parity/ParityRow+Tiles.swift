import Foundation
import OfflineMaps
import TestSupport
import Testing
import Tiles

extension ParityRow {
    /// D1 to D16: an app that keeps tiles of a tile server.
    static let tiles: [ParityRow] = [
        ParityRow("D1") { world in
            let store = try await world.open()
            _ = try await online(world, store).tile(TinyMap.tile(8, 145, 74))
            #expect(world.server.requests("/live/8/145/74.pbf").count == 1)
        },
        ParityRow("D2") { world in
            let store = try await world.open()
            try await store.bring(.package("EE"))
            let reader = store.tiles
            try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<8 { group.addTask { try MapWorld.data(try reader.tile(MapWorld.sharedTile)) } }
                for try await data in group { #expect(data == "data 1") }
            }
        },
        ParityRow("D3") { world in
            let store = try await world.open()
            try await store.bring(.package("EE"))
            let deeper = TinyMap.tile(10, MapWorld.sharedTile.x * 4, MapWorld.sharedTile.y * 4)
            let found = try #require(try store.tiles.nearest(deeper))
            #expect(found.id == MapWorld.sharedTile)
            #expect(try MapWorld.data(of: found.tile.body) == "data 1")
        },
        ParityRow("D4") { world in
            let store = try await world.open()
            await store.forceOffline(true)
            let asked = world.server.requests().count
            let answer = try? await online(world, store).tile(MapWorld.sharedTile)
            #expect(try answer.flatMap { try MapWorld.data($0) } == nil)
            #expect(world.server.requests().count == asked)
        },
        ParityRow("D5") { world in
            world.server.fail("/live/", .stall)
            let store = try await world.open()
            var source = tiles(world)
            source.timeout = .milliseconds(300)
            let asking = MapSource(store, tileset: "live", online: source)
            let error = await #expect(throws: StoreError.self) { try await asking.tile(MapWorld.sharedTile) }
            #expect(error?.failure == .connection && error?.message.contains("in time") == true)
        },
        ParityRow("D6") { world in
            let store = try await world.open()
            try await store.bring(.package("EE"))
            guard case .found(let tile) = try store.tiles.tile(MapWorld.sharedTile) else {
                Issue.record("the tile is not there")
                return
            }
            let file = world.folder.appending(path: "Tile-8-145-74.pbf")
            try tile.body.write(to: file)
            #expect(try MapWorld.data(of: Data(contentsOf: file)) == "data 1")
            #expect(try ParityTable.builder("device export", has: "--files"))
        },
        ParityRow("D7") { world in
            let store = try await world.open()
            let places = [MapWorld.place(MapWorld.sharedTile)]
            let region = RegionDefinition(
                .around(places, meters: 500), zooms: TinyMap.zooms, sources: [.online(tiles(world))])
            try await store.addRegion("sights", region)
            try await store.finish(try await store.load("sights"))
            #expect(store.tiles.isCovered(.around(places, meters: 500), TinyMap.zooms))
            #expect(world.server.requests("/live/").count == 9)
        },
        ParityRow("D8") { world in
            let store = try await world.open()
            let zooms = try #require(ZoomRange(min: 0, max: 3))
            try await store.addRegion(
                "mine", RegionDefinition(.box(try MapWorld.box), zooms: zooms, sources: [.online(tiles(world))]))
            try await store.finish(try await store.load("mine"))
            #expect(world.server.requests("/live/").count == 4)
        },
        ParityRow("D9") { _ in
            #expect(TileID(at: MapWorld.place(MapWorld.sharedTile), zoom: 8) == MapWorld.sharedTile)
            #expect(TileID(at: Coordinate(longitude: 0.1, latitude: -0.1), zoom: 1) == TinyMap.tile(1, 1, 1))
        },
        ParityRow("D10") { world in
            let store = try await world.open()
            let estimate = try await store.estimate([.package("EE")])
            #expect(estimate.transfer == (await store.catalog?.package("EE")?.size) && estimate.margin == 0)
            let region = RegionDefinition(
                .box(try MapWorld.box), zooms: TinyMap.zooms, sources: [.online(tiles(world))])
            let measured = try await store.estimate(region)
            #expect(measured.tiles == 9 && measured.transfer > 0)
        },
        ParityRow("D11") { world in
            let store = try await world.open()
            let region = RegionDefinition(
                .box(try MapWorld.box), zooms: TinyMap.zooms, sources: [.online(tiles(world))])
            try await store.addRegion("trip", region)
            try await store.finish(try await store.load("trip"))
            await store.forceOffline(true)
            #expect(try MapWorld.data(try store.tiles.tile(MapWorld.sharedTile, of: "live")) == "live 1")
        },
        ParityRow("D12") { world in
            let store = try await world.open()
            try await store.bring(.package("EE"))
            let source = MapSource(store, tileset: "demo", online: tiles(world))
            #expect(try MapWorld.data(try await source.tile(MapWorld.sharedTile)) == "data 1")
            #expect(world.server.requests("/live/").isEmpty)
            #expect(try MapWorld.data(try await source.tile(MapWorld.southTile)) == "live 1")
        },
        ParityRow("D13") { world in
            let store = try await world.open()
            let source = try online(world, store)
            for _ in 0..<3 { _ = try await source.tile(MapWorld.sharedTile) }
            #expect(world.server.requests("/live/8/").count == 1)
        },
        ParityRow("D14") { world in
            let store = try await world.open()
            try await store.bring(.package("EE"))
            #expect(store.tiles.status(MapWorld.eastTile) == .full)
            #expect(store.tiles.status(.root) == .partial)
            #expect(store.tiles.status(MapWorld.southTile) == .missing)
        },
        ParityRow("D15") { world in try await forbidden(world) },
        ParityRow("D16") { world in
            let store = try await world.open()
            var source = tiles(world)
            source.template = world.server.url + "/live/{z}/{x}/{y}{ratio}.pbf"
            let zooms = try #require(ZoomRange(min: 0, max: 1))
            var region = RegionDefinition(.box(try MapWorld.box), zooms: zooms, sources: [.online(source)])
            region.pixelRatio = 2
            try await store.addRegion("sharp", region)
            _ = await store.end(of: try await store.load("sharp"))
            #expect(!world.server.requests("/live/0/0/0@2x.pbf").isEmpty)
            #expect(world.server.requests("/live/0/0/0.pbf").isEmpty)
        },
    ]
}
