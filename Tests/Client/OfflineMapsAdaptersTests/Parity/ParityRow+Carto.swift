import Foundation
import OfflineMaps
import OfflineMapsAdapters
import TestSupport
import Testing
import Tiles

extension ParityRow {
    private static let estonia = Item.package("EE")

    /// A1 to A31: CARTO's lists, callbacks and start.
    static let carto: [ParityRow] = [
        ParityRow("A1") { world in
            let catalog = try #require(await world.open().catalog)
            #expect(catalog.packages.map(\.id).sorted() == ["EE", "EE", "EE", "EE-37", "LV"])
            #expect(catalog.package("LV")?.zooms == TinyMap.zooms)
        },
        ParityRow("A2") { world in
            let store = try await world.open()
            try await store.bring(estonia)
            #expect(try await store.status(of: estonia)?.installed?.version == 1)
            #expect(try MapWorld.data(store, MapWorld.sharedTile) == "data 1")
        },
        ParityRow("A3") { world in
            world.server.fail("EE.mbtiles", .stall)
            let store = try await world.open()
            let id = try #require(try await store.install([estonia]).first)
            await MapWorld.received(0.3, of: id, store)
            try await store.setPriority(-1, of: id)
            #expect(await store.state(of: id) { $0 == .paused(.user) } == .paused(.user))
            world.server.mend()
            try await store.setPriority(0, of: id)
            try await store.finish(id)
            let range = world.server.requests("EE.mbtiles").last?.headers["range"] ?? ""
            #expect(range.hasPrefix("bytes=") && range != "bytes=0-", "the download began again: '\(range)'")
        },
        ParityRow("A4") { world in
            let store = try await world.open()
            try await store.bring(estonia)
            let file = try #require(try await store.url(of: estonia))
            for id in try await store.remove([estonia]) { try await store.finish(id) }
            #expect(try await store.url(of: estonia) == nil)
            #expect(!FileManager.default.fileExists(atPath: file.path))
            #expect(try MapWorld.data(store, MapWorld.sharedTile) == nil)
        },
        ParityRow("A5") { world in
            let store = try await world.open()
            var rule = TaskRule()
            rule.priority = -1
            let id = try #require(try await store.install([estonia], rule).first)
            #expect(try await store.status(of: estonia)?.task?.id == id)
            let progress = store.progress(of: id)
            try await store.setPriority(0, of: id)
            var fractions: [Double] = []
            for await step in progress { fractions.append(step.fraction) }
            #expect(fractions.last == 1 && fractions == fractions.sorted())
        },
        ParityRow("A6") { world in
            #expect(try ParityTable.hasReason("A6"))
            let store = try await world.open { options in
                options.transform = { request in
                    var request = request
                    request.url.append(queryItems: [URLQueryItem(name: "key", value: "secret")])
                    return request
                }
            }
            try await store.bring(estonia)
            #expect(world.server.requests().allSatisfy { $0.path.contains("key=secret") })
        },
        ParityRow("A7") { world in
            let catalog = try #require(await world.open().catalog)
            #expect(catalog.root.children.map(\.id) == ["150"])
            #expect(catalog.search("estl", language: "de").first?.id == "EE")
        },
        ParityRow("A8") { world in
            let store = try await world.open(list: false)
            _ = try await store.refreshCatalog()
            try await store.bring(estonia)
            #expect(try await store.installed().map(\.item) == [estonia])
        },
        ParityRow("A9") { world in
            let store = try await world.open()
            try await store.addRegion("mine", try MapWorld.region)
            try await store.finish(try await store.load("mine"))
            #expect(store.tiles.isCovered(.box(try MapWorld.box), TinyMap.zooms))
            #expect(try MapWorld.data(store, MapWorld.southTile) == nil)
        },
        ParityRow("A10") { world in
            for (status, cause) in [(402, FailureCause.limitExceeded), (403, .notAllowed)] {
                let world = try MapWorld()
                world.server.fail("EE.mbtiles", .status(status))
                let store = try await world.open()
                let id = try #require(try await store.install([estonia]).first)
                #expect(await store.end(of: id) == .failed(cause))
            }
        },
        ParityRow("A11") { world in
            let catalog = try #require(await world.open().catalog)
            var kinds: [String] = []
            var node: MapNode? = catalog.root
            while let next = node {
                kinds.append(next.kind)
                node = next.children.first
            }
            #expect(kinds == ["world", "continent", "subcontinent", "country", "region"])
        },
        ParityRow("A12") { _ in
            let nodes = try WorldRegions().nodes
            let continents = Set(nodes.filter { $0.kind == "continent" }.map(\.id))
            let parents = Set(nodes.filter { $0.kind == "country" }.compactMap(\.parent))
            #expect(nodes.contains { $0.kind == "subcontinent" })
            #expect(!continents.isDisjoint(with: parents), "each continent is divided")
        },
        ParityRow("A13") { _ in
            let nodes = try WorldRegions().nodes
            for country in ["US", "DE", "GB", "ES", "RU", "CA", "FR"] {
                #expect(nodes.contains { $0.id == country && $0.kind == "country" })
                #expect(
                    nodes.contains { $0.id.hasPrefix("\(country)-") && $0.parent == country }, "\(country) is whole")
            }
        },
        ParityRow("A14") { world in
            let catalog = try #require(await world.open().catalog)
            #expect(catalog.languages == ["de"])
            #expect(catalog.package("EE", Edition(language: "de"))?.edition.language == "de")
            #expect(try ParityTable.builder("submit", has: "--language <code>"))
            #expect(try WorldRegions().languages.count == 8)
        },
        ParityRow("A15") { world in
            let catalog = try #require(await world.open().catalog)
            #expect(catalog.package("EE")?.tileset == "demo")
            #expect(catalog.package("EE", Edition(group: "terrain"))?.tileset == "terrain")
        },
        ParityRow("A16") { world in
            let store = try await world.open()
            try await store.bring(estonia)
            #expect(await store.catalog?.package("EE")?.attribution == "© Test")
            guard case .found(let tile) = try store.tiles.tile(MapWorld.sharedTile) else {
                Issue.record("the tile is not there")
                return
            }
            #expect(tile.origin.attribution == "© Test" && tile.origin.item == estonia)
        },
        ParityRow("A17") { world in
            let package = try #require(await world.open().catalog?.package("EE"))
            let bytes = try Data(contentsOf: world.files.appending(path: "packages/1/EE.mbtiles")).count
            #expect(package.name("de") == "Estland" && package.version == 1 && package.size == UInt64(bytes))
        },
        ParityRow("A18") { world in
            let store = try await world.open()
            let routes = Item.package("EE", Edition(), .opaque)
            try await store.bring(routes)
            let file = try #require(try await store.url(of: routes))
            #expect(try Data(contentsOf: file) == Data("routes 1".utf8))
            #expect(try MapWorld.data(store, MapWorld.sharedTile) == nil)
        },
        ParityRow("A19") { world in
            let store = try await world.open()
            let events = store.events
            let id = try #require(try await store.install([estonia]).first)
            var states: [TaskState] = []
            for await event in events {
                guard case .task(let task) = event, task.id == id else { continue }
                if states.last != task.state { states.append(task.state) }
                if task.state == .done { break }
            }
            let order: [TaskState] = [.waiting(.turn), .downloading, .verifying, .installing, .done]
            #expect(states == order.filter(states.contains) && states.contains(.downloading))
        },
        ParityRow("A20") { world in
            world.server.fail("EE.mbtiles", .status(403))
            let (manager, listener) = try await manager(world)
            #expect(await manager.startPackageDownload("EE"))
            try await listener.calls.first { $0 == .failed("EE", 1, .noOfflinePlan) }
            #expect(await manager.localPackageStatus("EE") == nil)
        },
        ParityRow("A21") { world in
            world.server.fail("EE.mbtiles", .stall)
            let (manager, listener) = try await manager(world)
            #expect(await manager.startPackageDownload("EE"))
            try await world.asked("EE.mbtiles")
            await manager.cancelPackageTasks("EE")
            try await listener.calls.first { $0 == .cancelled("EE", 1) }
            #expect(await manager.localPackageStatus("EE") == nil)
        },
        ParityRow("A22") { world in
            let (manager, listener) = try await manager(world)
            world.server.fail("catalog.json", .status(403))
            listener.calls.forget()
            #expect(manager.startPackageListDownload())
            #expect(try await listener.calls.first { $0 == .listFailed || $0 == .listUpdated } == .listFailed)
        },
        ParityRow("A23") { world in
            let (manager, listener) = try await manager(world)
            for edition in [2, 2] {
                world.server.publish(edition)
                listener.calls.forget()
                #expect(manager.startPackageListDownload())
                #expect(try await listener.calls.first { $0 == .listFailed || $0 == .listUpdated } == .listUpdated)
            }
            #expect(await manager.serverPackage("EE")?.version == 2)
        },
        ParityRow("A24") { world in
            let (manager, listener) = try await manager(world)
            #expect(await manager.startPackageDownload("EE"))
            try await listener.calls.first { $0 == .updated("EE", 1) }
            var seen: [PackageStatus] = []
            for case .status(let id, let version, let status) in listener.calls.all {
                #expect(id == "EE" && version == 1)
                seen.append(status)
            }
            #expect(!seen.isEmpty && Set(seen).count == seen.count, "a status was told twice")
            #expect(seen.allSatisfy { $0.progress == $0.progress.rounded() && 0...100 ~= $0.progress })
        },
        ParityRow("A25") { world in
            let (manager, listener) = try await manager(world)
            #expect(await manager.startPackageDownload("EE"))
            try await listener.calls.first { $0 == .updated("EE", 1) }
            listener.calls.forget()
            #expect(await manager.startPackageRemove("EE"))
            try await listener.calls.first { $0 == .updated("EE", 1) }
            #expect(await manager.localPackage("EE") == nil)
        },
        ParityRow("A26") { _ in
            #expect(PackageErrorType(.connection).rawValue == 1)
            #expect(PackageErrorType(.limitExceeded).rawValue == 2)
            for cause in [FailureCause.tooBig, .tooManyTiles, .tooManyPacks] {
                #expect(PackageErrorType(cause).rawValue == 3)
            }
            #expect(PackageErrorType(.notAllowed).rawValue == 4)
            #expect(FailureCause.allCases.filter { PackageErrorType($0) == .system }.count == 14)
        },
        ParityRow("A27") { world in
            let store = try await world.open()
            let manager = PackageManager(store)
            #expect(await manager.serverPackages.count == 3)
            #expect(FileManager.default.fileExists(atPath: world.options.folder.path))
        },
        ParityRow("A28") { world in
            try FileManager.default.createDirectory(at: world.folder, withIntermediateDirectories: true)
            try Data("a file".utf8).write(to: world.options.folder)
            await #expect(throws: StoreError.self) { try await MapStore.open(world.options) }
        },
        ParityRow("A29") { world in
            let first = try await world.open()
            await first.stop()
            let id = try #require(try await first.install([estonia]).first)
            #expect(await first.state(of: id) { $0 == .paused(.stopped) } == .paused(.stopped))
            #expect(world.server.requests("EE.mbtiles").isEmpty)
            #expect(await PackageManager(first).start())
            try await first.finish(id)
        },
        ParityRow("A30") { world in
            world.server.fail("EE.mbtiles", .stall)
            let store = try await world.open()
            let id = try #require(try await store.install([estonia]).first)
            try await world.asked("EE.mbtiles")
            await PackageManager(store).stop(wait: true)
            #expect(await store.state(of: id) { $0 == .paused(.stopped) } == .paused(.stopped))
        },
        ParityRow("A31") { world in
            let (manager, listener) = try await manager(world)
            let other = ManagerListener()
            manager.setListener(other)
            #expect(await manager.startPackageDownload("EE"))
            try await other.calls.first { $0 == .updated("EE", 1) }
            #expect(!listener.calls.all.contains(.updated("EE", 1)))
        },
    ]

    /// A manager of a started store, with a listener.
    static func manager(
        _ world: MapWorld, _ edit: (inout StoreOptions) -> Void = { _ in }
    ) async throws -> (PackageManager, ManagerListener) {
        let manager = PackageManager(try await world.open(edit))
        let listener = ManagerListener()
        manager.setListener(listener)
        return (manager, listener)
    }
}
