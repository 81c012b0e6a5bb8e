import Foundation
import OfflineMaps
import OfflineMapsAdapters
import TestSupport
import Testing
import Tiles

extension ParityRow {
    /// C1 to C33: Mapbox GL's storage and its ambient cache; see also `packs`.
    static let storage: [ParityRow] = [
        ParityRow("C1") { world in
            let storage = try await storage(world)
            let pack = try await storage.addPack(for: try pyramid(world), context: Data())
            #expect(pack.region.styleURL == world.server.address("/live/style.json"))
        },
        ParityRow("C2") { world in
            let range = "19968-20223"
            for isIncluded in [false, true] {
                let world = try MapWorld()
                let storage = try await storage(world)
                var region = try pyramid(world, style: "/live/text.json", zooms: 0...0)
                region.includesIdeographicGlyphs = isIncluded
                let pack = try await storage.addPack(for: region, context: Data())
                #expect(pack.region.includesIdeographicGlyphs == isIncluded)
                try await complete(pack, storage)
                #expect(world.server.requests(range).isEmpty != isIncluded)
                #expect(!world.server.requests("/0-255.pbf").isEmpty)
            }
        },
        ParityRow("C3") { world in
            let store = try await world.open()
            try await SharedRows.alone {
                SharedStore.use(store)
                let storage = try await OfflineStorage.shared()
                #expect(try await OfflineStorage.shared() === storage && storage.store === store)
            }
        },
        ParityRow("C4") { world in
            let storage = try await storage(world) { options in
                options.transform = { request in
                    var request = request
                    request.headers["X-Kind"] = request.kind.rawValue
                    return request
                }
            }
            try await complete(try await storage.addPack(for: try pyramid(world), context: Data()), storage)
            #expect(world.server.requests("/live/style.json").last?.headers["x-kind"] == "style")
            #expect(world.server.requests("/live/0/0/0.pbf").last?.headers["x-kind"] == "tile")
        },
        ParityRow("C5") { world in
            let isTrue = try await storage(world).databasePath == world.options.folder.path
            #expect(isTrue)
        },
        ParityRow("C6") { world in
            let url = try await storage(world).databaseURL
            #expect(url.isFileURL && url.path == world.options.folder.path)
        },
        ParityRow("C7") { world in
            let place = world.folder.appending(path: "own", directoryHint: .isDirectory)
            let storage = try await storage(world) { $0.folder = place }
            #expect(storage.databasePath == place.path)
            #expect(FileManager.default.fileExists(atPath: place.appending(path: "store.sqlite").path))
        },
        ParityRow("C8") { world in
            let storage = try await storage(world)
            let (url, packs) = try await storage.addContents(ofFile: try database(world).path)
            #expect(url == (try database(world)) && packs.count == 1 && packs[0].state == .complete)
        },
        ParityRow("C9") { world in
            let storage = try await storage(world)
            let (_, packs) = try await storage.addContents(of: try database(world))
            #expect(packs.map(\.context) == [Data("mine".utf8)])
            let address = try #require(URL(string: "https://example.com/x.db"))
            await #expect(throws: StoreError.self) { try await storage.addContents(of: address) }
        },
        ParityRow("C10") { world in
            let storage = try await storage(world)
            let file = try database(world)
            let before = try Data(contentsOf: file)
            _ = try await storage.addContents(of: file)
            #expect(try Data(contentsOf: file) == before)
            let wrong = world.folder.appending(path: "picture.db")
            try Data("GIF89a".utf8).write(to: wrong)
            await #expect(throws: StoreError.self) { try await storage.addContents(of: wrong) }
        },
        ParityRow("C11") { world in
            let storage = try await storage(world)
            _ = try await storage.addContents(of: try database(world))
            #expect(storage.packs?.count == 1)
            _ = try await storage.addContents(of: try database(world))
            #expect(storage.packs?.count == 1, "the same pack was added twice")
        },
        ParityRow("C12") { world in
            let storage = try await storage(world)
            for name in ["c", "a", "b"] {
                _ = try await storage.addPack(for: try pyramid(world), context: Data(name.utf8))
            }
            #expect(storage.packs?.map(\.context) == ["c", "a", "b"].map { Data($0.utf8) })
        },
        ParityRow("C13") { world in
            let storage = OfflineStorage(try await world.open())
            try await Eventually.holds("the packs are read", every: .milliseconds(5)) { storage.packs != nil }
            #expect(storage.packs?.isEmpty == true)
        },
        ParityRow("C14") { world in
            let storage = try await storage(world)
            let changes = changes(storage)
            let pack = try await storage.addPack(for: try pyramid(world), context: Data())
            try await changes.first { $0 == .inserted(pack) }
            await storage.reloadPacks()
            try await changes.first { $0 == .set }
            let renewed = try #require(storage.packs?.first)
            try await storage.removePack(renewed)
            try await changes.first { $0 == .removed(renewed) }
            #expect(pack.state == .invalid)
        },
        ParityRow("C15") { world in
            let storage = try await storage(world)
            let pack = try await storage.addPack(for: try pyramid(world), context: Data("x".utf8))
            #expect(storage.packs?.first === pack)
            #expect(try await storage.store.region(pack.id)?.context == Data("x".utf8))
        },
        ParityRow("C16") { world in
            let storage = try await storage(world)
            let pack = try await storage.addPack(for: try pyramid(world), context: Data())
            #expect(pack.state == .inactive)
            #expect(try await storage.store.tasks().isEmpty && world.server.requests("/live/").isEmpty)
        },
        ParityRow("C17") { world in
            let storage = try await storage(world)
            let pack = try await storage.addPack(for: try pyramid(world), context: Data())
            try await complete(pack, storage)
            try await storage.removePack(pack)
            #expect(storage.packs?.isEmpty == true)
            #expect(try await storage.store.regions().isEmpty)
        },
        ParityRow("C18") { world in
            let storage = try await storage(world)
            let pack = try await storage.addPack(for: try pyramid(world), context: Data())
            try await storage.removePack(pack)
            #expect(pack.state == .invalid)
            pack.resume()
            pack.requestProgress()
            await #expect(throws: StoreError.self) { try await pack.setContext(Data()) }
            await #expect(throws: StoreError.self) { try await storage.removePack(pack) }
        },
        ParityRow("C19") { world in
            let store = try await world.open()
            for id: RegionID in ["one", "two"] {
                try await store.addRegion(id, try MapWorld.region)
                try await store.finish(try await store.load(id))
            }
            let usage = try await store.usage().packs
            for id in try await store.remove([.region("one")]) { try await store.finish(id) }
            #expect(try await store.usage().packs == usage)
            #expect(try MapWorld.data(store, MapWorld.sharedTile) == "data 1")
            for id in try await store.remove([.region("two")]) { try await store.finish(id) }
            #expect(try await store.usage().packs == 0)
        },
        ParityRow("C20") { world in
            let storage = try await storage(world)
            let pack = try await storage.addPack(for: try pyramid(world), context: Data())
            try await complete(pack, storage)
            world.server.setLiveData(2)
            try await storage.invalidatePack(pack)
            try await settle(storage)
            let url = world.server.address("/live/0/0/0.pbf")
            let found = try #require(try storage.store.resources.resource(url))
            #expect(try MapWorld.data(of: found.body) == "live 2")
            #expect(world.server.requests("/live/0/0/0.pbf").last?.headers["if-none-match"] != nil)
        },
        ParityRow("C21") { world in
            let storage = try await storage(world)
            let pack = try await storage.addPack(for: try pyramid(world), context: Data())
            let changes = changes(storage)
            await storage.reloadPacks()
            try await changes.first { $0 == .set }
            #expect(storage.packs?.count == 1 && storage.packs?.first !== pack)
            #expect(storage.packs?.first?.id == pack.id && pack.state == .invalid)
        },
        ParityRow("C22") { world in
            let storage = try await storage(world)
            try await storage.setMaximumAllowedTiles(3)
            let usage = try await storage.store.usage()
            #expect(usage.onlineTileLimit == 3)
        },
        ParityRow("C23") { world in
            let storage = try await storage(world)
            try await storage.setMaximumAllowedTiles(3)
            let changes = changes(storage)
            let pack = try await storage.addPack(for: try pyramid(world), context: Data())
            pack.resume()
            try await changes.first { $0 == .limitReached(3) }
            #expect(world.server.requests("/live/8/").isEmpty, "tiles were requested beyond the limit")
        },
    ]

    /// The storage of a started store.
    static func storage(
        _ world: MapWorld, _ edit: (inout StoreOptions) -> Void = { _ in }
    ) async throws -> OfflineStorage {
        let storage = OfflineStorage(try await world.open(edit))
        await storage.reloadPacks()
        return storage
    }

    /// A rectangle of one tile at zoom 8, of the style of the tile server.
    static func pyramid(
        _ world: MapWorld, style: String? = "/live/style.json", zooms: ClosedRange<Double> = 0...8
    ) throws -> TilePyramidOfflineRegion {
        TilePyramidOfflineRegion(
            styleURL: style.map { world.server.address($0) }, bounds: try MapWorld.box, fromZoomLevel: zooms.lowerBound,
            toZoomLevel: zooms.upperBound)
    }

    /// Records the changes of a storage from now on.
    static func changes(_ storage: OfflineStorage) -> Recorder<PackChange> {
        let recorder = Recorder<PackChange>()
        let changes = storage.packChanges
        Task { for await change in changes { recorder.add(change) } }
        return recorder
    }

    /// Downloads a pack and waits until it is complete.
    ///
    /// - Parameter resumes: Whether the download begins here.
    static func complete(_ pack: OfflinePack, _ storage: OfflineStorage, resumes: Bool = true) async throws {
        let changes = changes(storage)
        if resumes { pack.resume() }
        while pack.state != .complete {
            let count = changes.all.count
            if case .failed(_, let cause)? = changes.all.first(where: { if case .failed = $0 { true } else { false } })
            {
                Issue.record("the pack failed: \(cause)")
                return
            }
            try await Eventually.holds("the pack changes", every: .milliseconds(5)) {
                changes.all.count != count || pack.state == .complete
            }
        }
    }

    /// Waits until no task is left.
    static func settle(_ storage: OfflineStorage) async throws {
        for task in try await storage.store.tasks() { try await storage.store.finish(task.id) }
    }

    static func database(_ world: MapWorld) throws -> URL {
        try FileManager.default.createDirectory(at: world.folder, withIntermediateDirectories: true)
        let file = world.folder.appending(path: "bundled.db")
        if !FileManager.default.fileExists(atPath: file.path) { try SampleDatabase.write(to: file) }
        return file
    }
}
