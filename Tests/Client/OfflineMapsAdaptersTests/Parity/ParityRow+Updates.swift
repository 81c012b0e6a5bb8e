import Foundation
import OfflineMaps
import OfflineMapsAdapters
import TestSupport
import Testing
import Tiles

extension ParityRow {
    private static let estonia = Item.package("EE")

    /// E37 to E49: HERE's versions and data groups.
    static let updates: [ParityRow] = [
        ParityRow("E37") { world in
            let store = try await world.open()
            try await store.bring(estonia, .style("streets"))
            world.server.publish(2)
            _ = try await store.refreshCatalog(ifOlderThan: .zero)
            world.server.fail("styles/2", .stall)
            let ids = try await store.update(together: true)
            #expect(ids.count == 1)
            try await world.asked("styles/2")
            // The file of Estonia may be there: it is not used before all are.
            #expect(try MapWorld.data(store, MapWorld.eastTile) == "data 1")
            #expect(try await store.status(of: estonia)?.installed?.version == 1)
            world.server.mend()
            try await store.setPriority(-1, of: ids[0])
            try await store.setPriority(0, of: ids[0])
            try await store.finish(ids[0])
            #expect(try MapWorld.data(store, MapWorld.eastTile) == "data 2")
            #expect(try await store.status(of: .style("streets"))?.installed?.version == 2)
        },
        ParityRow("E38") { world in
            let store = try await world.open()
            let source = MapSource(store, tileset: "demo", online: tiles(world))
            #expect(try MapWorld.data(try await source.tile(MapWorld.southTile)) == "live 1")
            try await store.bring(estonia)
            world.server.publish(2)
            world.server.setLiveData(2)
            _ = try await store.refreshCatalog(ifOlderThan: .zero)
            for id in try await store.update(together: true) { try await store.finish(id) }
            // What was viewed of the tileset is asked for again, and not believed until it expires.
            try await Eventually.holds("the tile is asked for again") {
                try MapWorld.data(try await source.tile(MapWorld.southTile)) == "live 2"
            }
        },
        ParityRow("E39") { world in
            #expect(try ParityTable.builder("coordinator", has: "--patches-from"))
            let store = try await outdatedStore(world)
            #expect(try await store.updates().changes.first?.isPatch == true)
            for id in try await store.update() { try await store.finish(id) }
            #expect(world.server.requests("2/EE.mbtiles").isEmpty && !world.server.requests("1-2.mbtiles").isEmpty)
            #expect(try MapWorld.data(store, MapWorld.eastTile) == "data 2")
        },
        ParityRow("E40") { world in
            let store = try await outdatedStore(world)
            world.server.fail("1-2.mbtiles", .status(404))
            for id in try await store.update() { try await store.finish(id) }
            #expect(!world.server.requests("2/EE.mbtiles").isEmpty)
            #expect(try MapWorld.data(store, MapWorld.eastTile) == "data 2")
        },
        ParityRow("E41") { world in
            let package = try #require(await world.open().catalog?.package("EE"))
            #expect(package.version == 1 && package.dataDate == "2026-11-01")
        },
        ParityRow("E42") { world in
            let catalog = try #require(await world.open().catalog)
            #expect(catalog.package("EE", Edition(group: "terrain"))?.edition.group == "terrain")
            #expect(try ParityTable.builder("submit", has: "--group <group>"))
        },
        ParityRow("E43") { world in
            let (loader, _) = try await loaded(world)
            #expect(await loader.select("terrain"))
            #expect(await !loader.select("unknown"))
            #expect(await loader.isSelected("terrain"))
        },
        ParityRow("E44") { world in
            let (loader, _) = try await loaded(world)
            #expect(await !loader.deselect("terrain"))
            #expect(await loader.select("terrain"))
            #expect(await loader.deselect("terrain"))
            #expect(await !loader.isSelected("terrain"))
        },
        ParityRow("E45") { world in
            let (loader, _) = try await loaded(world)
            #expect(await loader.select("terrain"))
            let store = try await world.reopen(loader.store)
            #expect(await MapLoader(store).isSelected("terrain"))
        },
        ParityRow("E46") { world in
            let (loader, delegate) = try await loaded(world)
            try await loader.store.bring(.package("LV"))
            #expect(await loader.select("terrain"))
            #expect(try terrain(loader.store) == nil)
            #expect(try await delegate.run { loader.install([package("EE", loader)]) } == .success)
            #expect(try terrain(loader.store) == "data 3")
        },
        ParityRow("E47") { world in
            let (loader, delegate) = try await loaded(world)
            try await loader.store.bring(estonia)
            #expect(await loader.select("terrain"))
            #expect(try await loader.store.status(of: estonia)?.missingGroups == ["terrain"])
            #expect(try await delegate.run(loader.performMapDataUpdate) == .success)
            #expect(try terrain(loader.store) == "data 3")
        },
        ParityRow("E48") { world in
            let store = try await world.open()
            #expect(try await store.groups().isEmpty)
            try await store.bring(estonia)
            #expect(try terrain(store) == nil)
            #expect(world.server.requests("groups/").isEmpty)
        },
        ParityRow("E49") { world in
            let isTrue = try await world.open().catalog?.groups == ["terrain"]
            #expect(isTrue)
        },
    ]

    /// A store with Estonia in version 1 while the catalog has version 2.
    private static func outdatedStore(_ world: MapWorld) async throws -> MapStore {
        let store = try await world.open()
        try await store.bring(estonia)
        world.server.publish(2)
        _ = try await store.refreshCatalog(ifOlderThan: .zero)
        return store
    }

    private static func terrain(_ store: MapStore) throws -> String? {
        try MapWorld.data(store, MapWorld.sharedTile, Edition(group: "terrain"))
    }
}
