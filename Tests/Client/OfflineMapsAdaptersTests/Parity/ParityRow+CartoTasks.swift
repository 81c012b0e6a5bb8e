import Foundation
import OfflineMaps
import OfflineMapsAdapters
import TestSupport
import Testing
import Tiles

extension ParityRow {
    private static let estonia = Item.package("EE")
    private static var boxID: String {
        get throws { "bbox(\(try MapWorld.box.description))" }
    }

    /// A32 to A62: CARTO's lists, boxes, updates and masks.
    static let cartoTasks: [ParityRow] = [
        ParityRow("A32") { world in
            let manager = PackageManager(try await world.open(list: false))
            #expect(await manager.serverPackageListAge == .max)
            _ = try await manager.store.refreshCatalog()
            #expect(0...3_600 ~= (await manager.serverPackageListAge))
        },
        ParityRow("A33") { world in
            let store = try await world.open()
            let before = world.server.requests("catalog.json").count
            _ = try await store.refreshCatalog()
            #expect(world.server.requests("catalog.json").count == before)
            _ = try await store.refreshCatalog(ifOlderThan: .zero)
            #expect(world.server.requests("catalog.json").count > before)
        },
        ParityRow("A34") { world in
            let manager = PackageManager(try await world.open(list: false))
            let listener = ManagerListener()
            manager.setListener(listener)
            #expect(manager.startPackageListDownload())
            try await listener.calls.first { $0 == .listUpdated }
            #expect(await manager.serverPackages.map(\.id) == ["EE", "EE-37", "LV"])
        },
        ParityRow("A35") { world in
            let first = try await world.open()
            let store = try await world.reopen(first, list: false)
            await store.forceOffline(true)
            #expect(await store.catalog?.packages.count == 5)
        },
        ParityRow("A36") { world in
            let (manager, _) = try await manager(world)
            #expect(await manager.localPackage("EE") == nil)
            try await manager.store.bring(estonia)
            #expect(await manager.localPackage("EE")?.version == 1)
            #expect(try await manager.store.status(of: estonia)?.installed != nil)
        },
        ParityRow("A37") { world in
            let (manager, _) = try await manager(world)
            try await manager.store.bring(estonia, .package("LV"))
            #expect(await manager.localPackages.map(\.id).sorted() == ["EE", "LV"])
            #expect(await manager.localPackages.first?.name("en").isEmpty == false)
        },
        ParityRow("A38") { world in
            let (manager, listener) = try await manager(world)
            #expect(await !manager.startPackageDownload("XX"))
            #expect(await manager.startPackageDownload("LV"))
            try await listener.calls.first { $0 == .updated("LV", 1) }
        },
        ParityRow("A39") { world in
            world.server.fail("EE.mbtiles", .stall)
            let (manager, _) = try await manager(world)
            #expect(await manager.startPackageDownload("EE"))
            let id = try #require(try await manager.store.tasks().first?.id)
            await MapWorld.received(0.3, of: id, manager.store)
            let status = try #require(await manager.localPackageStatus("EE"))
            #expect(status.currentAction == .downloading && 30...60 ~= status.progress && !status.isPaused)
        },
        ParityRow("A40") { world in
            // The listener asserts that each call is on the main actor.
            let (manager, listener) = try await manager(world)
            await Task.detached { _ = await manager.startPackageDownload("EE") }.value
            try await listener.calls.first { $0 == .updated("EE", 1) }
        },
        ParityRow("A41") { _ in
            let countries = try WorldRegions().nodes.filter { $0.kind == "country" }.map(\.id)
            #expect(countries.count == 250)
            #expect(countries.allSatisfy { $0.count == 2 && $0.allSatisfy { $0.isASCII && $0.isUppercase } })
        },
        ParityRow("A42") { world in
            let (manager, listener) = try await manager(world)
            let id = try boxID
            #expect(await manager.startPackageDownload(id))
            try await listener.calls.first { $0 == .updated(id, 1) }
            let isHere = manager.isAreaDownloaded(try MapWorld.box, zoom: 8)
            #expect(isHere)
            for wrong in ["bbox(1,2,3)", "bbox(3,2,1,4)", "bbox(+1,2,3,4)", "bbox(1,2,3,4"] {
                #expect(await !manager.startPackageDownload(wrong), "\(wrong)")
            }
        },
        ParityRow("A43") { world in
            let (manager, listener) = try await manager(world) { $0.quota.tilePacks = 1 }
            let id = try boxID
            #expect(await manager.startPackageDownload(id))
            try await listener.calls.first { $0 == .failed(id, 1, .packageTooBig) }
            #expect(await manager.localPackage(id) == nil)
            #expect(world.server.requests("/packs/").isEmpty)
        },
        ParityRow("A44") { world in
            let manager = PackageManager(try await world.open(list: false))
            let listener = ManagerListener()
            manager.setListener(listener)
            let id = try boxID
            #expect(await manager.startPackageDownload(id))
            try await listener.calls.first { $0 == .updated(id, 1) }
        },
        ParityRow("A45") { world in
            let (manager, listener) = try await manager(world)
            let id = try boxID
            #expect(await manager.localPackage(id) == nil)
            #expect(await manager.startPackageDownload(id))
            try await listener.calls.first { $0 == .updated(id, 1) }
            let box = try #require(await manager.localPackage(id))
            #expect(box.id == id && box.version == 1 && box.mask.contains(MapWorld.sharedTile))
            #expect(await manager.localPackageStatus(id) == .ready)
        },
        ParityRow("A46") { world in
            let store = try await world.open()
            try await store.bring(estonia)
            #expect(try MapWorld.data(store, MapWorld.sharedTile) == "data 1")
            let source = MapSource(store, tileset: "demo")
            #expect(try MapWorld.data(try await source.tile(MapWorld.sharedTile)) == "data 1")
        },
        ParityRow("A47") { world in
            let store = try await world.open()
            let archive = try world.files.appending(path: "styles/1/streets.zip")
            let items = try await store.adopt(archive, as: .style("mine"))
            #expect(items == [.style("mine")])
            let style = try #require(URL(string: CatalogWriter.resources[0].url))
            #expect(try store.resources.resource(style)?.mediaType == "application/json")
        },
        ParityRow("A48") { world in
            #expect(try ParityTable.hasReason("A48"))
            let store = try await world.open()
            try await store.bring(.style("streets"))
            let server = try #require(URL(string: "http://127.0.0.1:8080"))
            let style = try store.resources.style("streets", .served(at: server))
            #expect(String(decoding: style, as: UTF8.self).contains("http://127.0.0.1:8080"))
        },
        ParityRow("A49") { world in
            let store = try await world.open()
            let german = Edition(language: "de")
            try await store.bring(.package("EE", german))
            #expect(try MapWorld.data(store, MapWorld.sharedTile, german) == "data 4")
        },
        notApplicable("A50"),
        ParityRow("A51") { world in
            let (manager, listener) = try await manager(world)
            try await manager.store.bring(estonia)
            world.server.publish(2)
            listener.calls.forget()
            #expect(manager.startPackageListDownload())
            try await listener.calls.first { $0 == .listUpdated }
            #expect(await manager.serverPackage("EE")?.version == 2)
            #expect(await manager.localPackage("EE")?.version == 1)
            #expect(await manager.startPackageDownload("EE"))
            try await listener.calls.first { $0 == .updated("EE", 2) }
            #expect(await manager.localPackage("EE")?.version == 2)
        },
        ParityRow("A52") { world in
            let store = try await world.open()
            try await store.bring(estonia)
            #expect(try await store.updates().changes.isEmpty)
            world.server.publish(2)
            _ = try await store.refreshCatalog(ifOlderThan: .zero)
            let change = try #require(try await store.updates().changes.first)
            #expect(change.item == estonia && change.from == 1 && change.to == 2)
        },
        ParityRow("A53") { world in
            world.server.publish(2)
            let catalog = try #require(await world.open().catalog)
            #expect(catalog.package("EE")?.version == 2 && catalog.package("LV")?.version == 1)
            #expect(catalog.package("EE")?.dataDate == "2026-12-01" && catalog.package("LV")?.dataDate == "2026-11-01")
        },
        ParityRow("A54") { world in
            let store = try await world.open()
            try await store.bring(estonia)
            world.server.publish(2)
            _ = try await store.refreshCatalog(ifOlderThan: .zero)
            for name in ["1-2.mbtiles", "2/EE.mbtiles"] { world.server.fail(name, .stall) }
            let id = try #require(try await store.update().first)
            try await world.asked("2.mbtiles")
            #expect(try MapWorld.data(store, MapWorld.eastTile) == "data 1")
            world.server.mend()
            try await store.setPriority(-1, of: id)
            try await store.setPriority(0, of: id)
            try await store.finish(id)
            #expect(try MapWorld.data(store, MapWorld.eastTile) == "data 2")
        },
        ParityRow("A55") { world in
            let first = try await world.open()
            var rule = TaskRule()
            rule.priority = -1
            let ids = try await first.install([estonia], rule)
            let store = try await world.reopen(first)
            #expect(try await store.tasks().map(\.id) == ids)
        },
        ParityRow("A56") { world in
            world.server.fail("EE.mbtiles", .stall)
            let first = try await world.open()
            let id = try #require(try await first.install([estonia]).first)
            await MapWorld.received(0.3, of: id, first)
            let store = try await world.reopen(first) { world.server.mend() }
            try await store.finish(id)
            let range = world.server.requests("EE.mbtiles").last?.headers["range"] ?? ""
            #expect(range.hasPrefix("bytes=") && range != "bytes=0-", "the download began again: '\(range)'")
        },
        ParityRow("A57") { world in
            world.server.fail("EE.mbtiles", .stall)
            let (manager, listener) = try await manager(world)
            #expect(await manager.startPackageDownload("EE"))
            try await world.asked("EE.mbtiles")
            await manager.setPackagePriority("EE", -1)
            try await listener.calls.first { if case .status(_, _, let status) = $0 { status.isPaused } else { false } }
            world.server.mend()
            await manager.setPackagePriority("EE", 0)
            try await listener.calls.first { $0 == .updated("EE", 1) }
        },
        ParityRow("A58") { world in
            let package = try #require(await world.open().catalog?.package("LV"))
            #expect(
                package.name("en") == "Latvia" && package.name("de") == "Lettland" && package.name("fr") == "Latvia")
        },
        ParityRow("A59") { world in
            let package = try #require(await world.open().catalog?.package("LV"))
            #expect(package.names("de") == ["Europa", "Nordeuropa", "Lettland"])
        },
        ParityRow("A60") { world in
            let package = try #require(await world.open().catalog?.package("EE"))
            #expect(package.mask == TinyMap([CatalogWriter.shared, CatalogWriter.east]).mask)
        },
        ParityRow("A61") { world in
            let catalog = try #require(await world.open().catalog)
            #expect(catalog.packages(holding: MapWorld.southTile).map(\.id) == ["LV"])
            #expect(Set(catalog.packages(holding: MapWorld.eastTile).map(\.id)) == ["EE"])
        },
        ParityRow("A62") { world in
            let package = try #require(await world.open().catalog?.package("LV"))
            #expect(package.mask.contains(MapWorld.southTile) && !package.mask.contains(MapWorld.eastTile))
        },
    ]
}
