import Foundation
import OfflineMaps
import OfflineMapsAdapters
import TestSupport
import Testing
import Tiles

extension ParityRow {
    private static let estonia = Item.package("EE")

    /// E1 to E36: HERE's operations, callbacks, results and packages.
    static let loader: [ParityRow] = [
        ParityRow("E1") { world in
            let (loader, delegate) = try await loader(world)
            #expect(try await delegate.run(loader.getMapPackages) == .success)
            #expect(loader.rootPackage?.packageId == "001")
        },
        ParityRow("E2") { world in
            let (loader, delegate) = try await loader(world)
            #expect(loader.rootPackage == nil)
            _ = try await delegate.run(loader.getMapPackages)
            let catalog = try #require(await loader.store.catalog)
            #expect(loader.rootPackage?.children.map(\.packageId) == catalog.root.children.map(\.id))
        },
        ParityRow("E3") { world in
            let (loader, delegate) = try await loader(world)
            let place = MapWorld.place(MapWorld.sharedTile)
            #expect(try await delegate.run { loader.getMapPackage(at: place) } == .success)
            guard case .package(let found, _) = try await delegate.calls.first(\.isEnd) else {
                Issue.record("another callback: \(delegate.calls.all)")
                return
            }
            #expect(found?.packageId == "EE-37")
            #expect(await loader.store.catalog?.packages(at: place).first { $0.edition == Edition() }?.id == "EE-37")
        },
        ParityRow("E4") { world in
            let (loader, delegate) = try await loaded(world)
            #expect(
                try await delegate.run { loader.install([package("EE", loader), package("LV", loader)]) } == .success)
            #expect(try await loader.store.installed().count == 2)
        },
        ParityRow("E5") { world in
            let (loader, delegate) = try await loaded(world)
            try await loader.store.bring(estonia)
            #expect(try await delegate.run { loader.uninstall([package("EE", loader)]) } == .success)
            #expect(try await loader.store.installed().isEmpty)
        },
        ParityRow("E6") { world in
            let (loader, delegate) = try await loaded(world)
            try await loader.store.bring(estonia)
            #expect(try await foundUpdate(loader, delegate) == false)
            world.server.publish(2)
            #expect(try await foundUpdate(loader, delegate) == true)
        },
        ParityRow("E7") { world in
            let (loader, delegate) = try await outdated(world)
            #expect(try await delegate.run(loader.getMapDataUpdateSize) == .success)
            guard case .size(let kilobytes, _) = try await delegate.calls.first(\.isEnd) else {
                Issue.record("another callback: \(delegate.calls.all)")
                return
            }
            let bytes = try await loader.store.updates().bytes
            #expect(kilobytes == (bytes + 1_023) / 1_024 && bytes > 0)
        },
        ParityRow("E8") { world in
            let (loader, delegate) = try await outdated(world)
            #expect(try await delegate.run(loader.performMapDataUpdate) == .success)
            #expect(try await loader.store.status(of: estonia)?.installed?.version == 2)
        },
        ParityRow("E9") { world in
            let (loader, delegate) = try await loaded(world)
            #expect(!loader.cancelCurrentOperation())
            world.server.fail("EE.mbtiles", .stall)
            delegate.calls.forget()
            #expect(loader.install([package("EE", loader)]))
            try await world.asked("EE.mbtiles")
            await loader.store.forceOffline(true)
            #expect(loader.cancelCurrentOperation())
            #expect(try await delegate.calls.first(\.isEnd).result == .operationCancelled)
            #expect(try await loader.store.tasks().isEmpty)
        },
        ParityRow("E10") { world in
            let store = try await world.open()
            try await SharedRows.alone {
                SharedStore.use(store)
                let loader = try await MapLoader.shared()
                #expect(try await MapLoader.shared() === loader && loader.store === store)
            }
        },
        ParityRow("E11") { world in
            let (loader, delegate) = try await loader(world)
            let other = LoaderDelegate()
            loader.setDelegate(other)
            #expect(try await other.run(loader.getMapPackages) == .success)
            #expect(delegate.calls.all.isEmpty)
        },
        ParityRow("E12") { world in
            let (loader, delegate) = try await loaded(world)
            world.server.fail("EE.mbtiles", .stall)
            delegate.calls.forget()
            #expect(loader.install([package("EE", loader)]))
            let hasEnded = delegate.calls.all.contains { $0.isEnd }
            #expect(!hasEnded)
            #expect(!loader.install([package("LV", loader)]), "two operations at once")
            #expect(!loader.getMapPackages() && !loader.performMapDataUpdate())
            loader.cancelCurrentOperation()
            try await delegate.calls.first(\.isEnd)
        },
        ParityRow("E13") { world in
            let (loader, delegate) = try await loaded(world)
            _ = try await delegate.run { loader.install([package("EE", loader)]) }
            var parts: [Float] = []
            for case .progress(let part) in delegate.calls.all { parts.append(part) }
            #expect(parts.last == 1 && parts == parts.sorted() && Set(parts).count == parts.count)
        },
        ParityRow("E14") { world in
            let (loader, delegate) = try await loaded(world)
            _ = try await delegate.run { loader.install([package("EE", loader)]) }
            guard case .installed(.success) = try await delegate.calls.first(\.isEnd) else {
                Issue.record("another callback: \(delegate.calls.all)")
                return
            }
            // Installed packages are skipped with success.
            #expect(try await delegate.run { loader.install([package("EE", loader)]) } == .success)
            #expect(world.server.requests("EE.mbtiles").count == 1)
        },
        ParityRow("E15") { world in
            let (loader, delegate) = try await loaded(world)
            _ = try await delegate.run { loader.uninstall([package("EE", loader)]) }
            guard case .uninstalled(.success) = try await delegate.calls.first(\.isEnd) else {
                Issue.record("another callback: \(delegate.calls.all)")
                return
            }
        },
        ParityRow("E16") { world in
            let (loader, delegate) = try await outdated(world)
            _ = try await delegate.run(loader.checkForMapDataUpdate)
            guard case .update(true, let from, let to, .success) = try await delegate.calls.first(\.isEnd) else {
                Issue.record("another callback: \(delegate.calls.all)")
                return
            }
            #expect(!from.isEmpty && !to.isEmpty && from != to)
        },
        ParityRow("E17") { world in
            let (loader, delegate) = try await loaded(world)
            _ = try await delegate.run(loader.getMapDataUpdateSize)
            guard case .size(0, .success) = try await delegate.calls.first(\.isEnd) else {
                Issue.record("another callback: \(delegate.calls.all)")
                return
            }
        },
        ParityRow("E18") { world in
            let (loader, delegate) = try await loaded(world)
            _ = try await delegate.run(loader.performMapDataUpdate)
            guard case .updated(.success) = try await delegate.calls.first(\.isEnd) else {
                Issue.record("another callback: \(delegate.calls.all)")
                return
            }
        },
        ParityRow("E19") { world in
            let (loader, delegate) = try await loader(world)
            world.server.fail("catalog.json", .status(403))
            let listed = try await delegate.run { loader.checkForMapDataUpdate() }
            #expect(listed == .connectionFailed)
            world.server.mend()
            _ = try await delegate.run(loader.getMapPackages)
            guard case .packages(.success) = try await delegate.calls.first(\.isEnd) else {
                Issue.record("another callback: \(delegate.calls.all)")
                return
            }
        },
        ParityRow("E20") { world in
            let (loader, delegate) = try await loaded(world)
            let sea = Coordinate(longitude: -140, latitude: 0)
            #expect(try await delegate.run { loader.getMapPackage(at: sea) } == .searchFailed)
            guard case .package(nil, _) = try await delegate.calls.first(\.isEnd) else {
                Issue.record("a package in the sea: \(delegate.calls.all)")
                return
            }
        },
        ParityRow("E21") { world in try await connection(world, isBack: false) },
        ParityRow("E22") { world in try await connection(world, isBack: true) },
        ParityRow("E23") { world in
            // The platform's part is a background session; what every platform has is the end without a lock.
            world.server.fail("EE.mbtiles", .stall)
            let store = try await world.open()
            let id = try #require(try await store.install([estonia]).first)
            try await world.asked("EE.mbtiles")
            await store.suspend()
            #expect(await store.state(of: id) { $0 == .paused(.suspended) } == .paused(.suspended))
            world.server.mend()
            try await store.start()
            try await store.finish(id)
        },
        ParityRow("E24") { world in
            let (loader, delegate) = try await loaded(world)
            delegate.calls.forget()
            await loader.store.forceOffline(true)
            #expect(loader.install([package("EE", loader)]))
            let task = try await firstTask(loader.store)
            #expect(await loader.store.state(of: task) { $0 == .waiting(.network) } == .waiting(.network))
            await loader.store.forceOffline(false)
            #expect(try await delegate.calls.first(\.isEnd).result == .success)
        },
        ParityRow("E25") { world in
            let (loader, delegate) = try await loaded(world)
            #expect(try await delegate.run { loader.install([package("150", loader)]) } == .success)
            #expect(try await loader.store.installed().count == 2, "a continent is all packages below it")
        },
        ParityRow("E26") { world in
            let (loader, delegate) = try await loaded(world)
            #expect(try await delegate.run { loader.install([]) } == .invalidParameters)
            #expect(MapLoaderResult(FailureCause.invalidArguments) == .invalidParameters)
        },
        ParityRow("E27") { world in
            let (loader, delegate) = try await loaded(world)
            world.server.fail("EE.mbtiles", .stall)
            delegate.calls.forget()
            #expect(loader.install([package("EE", loader)]))
            let task = try await firstTask(loader.store)
            try await loader.store.cancel(task)
            #expect(try await delegate.calls.first(\.isEnd).result == .operationCancelled)
        },
        ParityRow("E28") { world in
            let (loader, delegate) = try await loader(world)
            await loader.store.forceOffline(true)
            #expect(try await delegate.run(loader.checkForMapDataUpdate) == .connectionFailed)
        },
        ParityRow("E29") { world in
            try FileManager.default.createDirectory(at: world.folder, withIntermediateDirectories: true)
            try Data("a file".utf8).write(to: world.options.folder)
            await #expect(throws: StoreError.self) { try await MapStore.open(world.options) }
            #expect(MapLoaderResult(StoreError(.folder, "no folder")) == .initializationFailed)
        },
        ParityRow("E30") { world in
            // A call without a network is accepted and waits.
            let store = try await world.open()
            await store.forceOffline(true)
            let id = try #require(try await store.install([estonia]).first)
            #expect(await store.state(of: id) { $0 == .waiting(.network) } == .waiting(.network))
        },
        ParityRow("E31") { world in
            let (loader, _) = try await loaded(world)
            #expect(package("EE", loader).parent?.packageId == "154")
            #expect(loader.rootPackage?.parent == nil)
        },
        ParityRow("E32") { world in
            let (loader, _) = try await loaded(world)
            #expect(package("154", loader).children.map(\.packageId).sorted() == ["EE", "LV"])
        },
        ParityRow("E33") { world in
            let (loader, _) = try await loaded(world)
            #expect(package("EE", loader).packageId == "EE" && package("EE", loader).title == "Estonia")
        },
        ParityRow("E34") { world in
            let (loader, _) = try await loaded(world)
            let bytes = try #require(await loader.store.catalog?.package("LV")?.size)
            #expect(package("LV", loader).sizeOnDisk == (bytes + 1_023) / 1_024)
            #expect(package("154", loader).sizeOnDisk > package("LV", loader).sizeOnDisk)
        },
        ParityRow("E35") { world in
            let (loader, delegate) = try await loaded(world)
            #expect(!package("EE", loader).installed)
            _ = try await delegate.run { loader.install([package("EE", loader)]) }
            #expect(package("EE", loader).status == .explicit && package("EE-37", loader).status == .implicit)
            #expect(package("LV", loader).status == .none && !package("154", loader).installed)
        },
        ParityRow("E36") { world in
            let (loader, delegate) = try await loaded(world)
            let before = package("EE", loader)
            _ = try await delegate.run { loader.install([before]) }
            #expect(!before.installed && package("EE", loader).installed)
        },
    ]

    /// A loader of a started store, with a delegate.
    static func loader(_ world: MapWorld) async throws -> (MapLoader, LoaderDelegate) {
        let loader = MapLoader(try await world.open())
        let delegate = LoaderDelegate()
        loader.setDelegate(delegate)
        return (loader, delegate)
    }

    /// The same, with the tree.
    static func loaded(_ world: MapWorld) async throws -> (MapLoader, LoaderDelegate) {
        let (loader, delegate) = try await loader(world)
        _ = try await delegate.run(loader.getMapPackages)
        return (loader, delegate)
    }

    /// The same, with Estonia in version 1 while the catalog has version 2.
    static func outdated(_ world: MapWorld) async throws -> (MapLoader, LoaderDelegate) {
        let (loader, delegate) = try await loaded(world)
        try await loader.store.bring(estonia)
        world.server.publish(2)
        _ = try await loader.store.refreshCatalog(ifOlderThan: .zero)
        return (loader, delegate)
    }

    /// A package of the loader's tree.
    static func package(_ id: String, _ loader: MapLoader) -> MapPackage {
        func find(_ package: MapPackage) -> MapPackage? {
            package.packageId == id ? package : package.children.lazy.compactMap(find).first
        }
        guard let root = loader.rootPackage, let found = find(root) else { preconditionFailure("no package \(id)") }
        return found
    }

    static func foundUpdate(_ loader: MapLoader, _ delegate: LoaderDelegate) async throws -> Bool? {
        _ = try await delegate.run(loader.checkForMapDataUpdate)
        guard case .update(let isThere, _, _, .success) = try await delegate.calls.first(\.isEnd) else { return nil }
        return isThere
    }

    /// The first task of a store, when there is one.
    static func firstTask(_ store: MapStore) async throws -> TaskID {
        try await Eventually.get("a task", every: .milliseconds(5)) { try await store.tasks().first?.id }
    }

    private static func connection(_ world: MapWorld, isBack: Bool) async throws {
        let (loader, delegate) = try await loaded(world)
        world.server.fail("EE.mbtiles", .stall)
        delegate.calls.forget()
        #expect(loader.install([package("EE", loader)]))
        try await world.asked("EE.mbtiles")
        await loader.store.forceOffline(true)
        try await delegate.calls.first { if case .lost = $0 { true } else { false } }
        // The operation goes on: a lost connection is no end.
        #expect(!delegate.calls.all.contains { $0.isEnd })
        #expect(!loader.getMapPackages(), "another operation has begun")
        guard isBack else {
            #expect(loader.cancelCurrentOperation())
            #expect(try await delegate.calls.first(\.isEnd).result == .operationCancelled)
            return
        }
        world.server.mend()
        await loader.store.forceOffline(false)
        try await delegate.calls.first { if case .found = $0 { true } else { false } }
        #expect(try await delegate.calls.first(\.isEnd).result == .success)
    }
}
