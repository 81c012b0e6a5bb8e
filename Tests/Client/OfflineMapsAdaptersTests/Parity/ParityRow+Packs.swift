import Foundation
import OfflineMaps
import OfflineMapsAdapters
import TestSupport
import Testing
import Tiles

extension ParityRow {
    /// C34 to C64: Mapbox GL's packs and regions.
    static let packs: [ParityRow] = [
        ParityRow("C34") { world in
            let (pack, _) = try await pack(world)
            let region = try #require(pack.region as? TilePyramidOfflineRegion)
            #expect(region.bounds == (try MapWorld.box) && region.maximumZoomLevel == 8)
        },
        ParityRow("C35") { world in
            let (pack, _) = try await pack(world)
            #expect(pack.context == Data("mine".utf8))
        },
        ParityRow("C36") { world in
            let (pack, storage) = try await pack(world)
            try await pack.setContext(Data("other".utf8))
            #expect(pack.context == Data("other".utf8))
            await storage.reloadPacks()
            #expect(storage.packs?.first?.context == Data("other".utf8))
        },
        ParityRow("C37") { world in
            let (pack, storage) = try await pack(world)
            #expect(pack.state == .inactive)
            try await complete(pack, storage)
            let store = try await world.reopen(storage.store)
            let again = OfflineStorage(store)
            await again.reloadPacks()
            #expect(again.packs?.first?.state == .complete, "the state is not known without a request")
        },
        ParityRow("C38") { world in
            let (pack, storage) = try await pack(world)
            try await complete(pack, storage)
            let progress = pack.progress
            #expect(progress.countOfResourcesCompleted == progress.countOfResourcesExpected)
            #expect(progress.countOfResourcesCompleted > 0 && progress.countOfBytesCompleted > 0)
        },
        ParityRow("C39") { world in
            let (pack, storage) = try await pack(world)
            #expect(pack.state == .inactive && world.server.requests("/live/0/0/0.pbf").isEmpty)
            pack.resume()
            try await complete(pack, storage, resumes: false)
            #expect(world.server.requests("/live/0/0/0.pbf").count == 1)
        },
        ParityRow("C40") { world in
            world.server.fail("/live/8/", .stall)
            let (pack, storage) = try await pack(world)
            let changes = changes(storage)
            pack.resume()
            try await world.asked("/live/8/")
            pack.suspend()
            try await Eventually.holds("the pack is inactive", every: .milliseconds(5)) { pack.state == .inactive }
            #expect(try await storage.store.tasks().first?.state == .paused(.user))
            world.server.mend()
            try await complete(pack, storage)
            #expect(changes.all.contains(.progress(pack)))
        },
        ParityRow("C41") { world in
            let (pack, storage) = try await pack(world)
            let changes = changes(storage)
            #expect(changes.all.isEmpty)
            pack.requestProgress()
            #expect(try await changes.first { _ in true } == .progress(pack))
        },
        ParityRow("C42") { world in
            let (pack, storage) = try await pack(world)
            let counts = Recorder<UInt64>()
            let stream = storage.packChanges
            let watch = Task {
                for await case .progress in stream { counts.add(pack.progress.countOfResourcesCompleted) }
            }
            world.server.fail("/live/8/", .stall)
            pack.resume()
            try await world.asked("/live/8/")
            pack.suspend()
            try await Eventually.holds("the pack is inactive", every: .milliseconds(5)) { pack.state == .inactive }
            world.server.mend()
            try await complete(pack, storage)
            watch.cancel()
            #expect(!counts.all.isEmpty)
            #expect(counts.all == counts.all.sorted())
        },
        ParityRow("C43") { world in
            let (pack, storage) = try await pack(world)
            let changes = changes(storage)
            try await complete(pack, storage)
            try await changes.first { $0 == .progress(pack) }
            #expect(changes.all.allSatisfy { $0 == .progress(pack) })
        },
        ParityRow("C44") { world in
            // The style, its source, four parts of the sprite, nine tiles.
            let (pack, storage) = try await pack(world)
            try await complete(pack, storage)
            #expect(pack.progress.countOfResourcesCompleted == 2 + 4 + 9)
        },
        ParityRow("C45") { world in
            let (pack, storage) = try await pack(world)
            try await complete(pack, storage)
            #expect(pack.progress.countOfBytesCompleted > pack.progress.countOfTileBytesCompleted)
        },
        ParityRow("C46") { world in
            let (pack, storage) = try await pack(world)
            try await complete(pack, storage)
            #expect(pack.progress.countOfTilesCompleted == 9)
        },
        ParityRow("C47") { world in
            let (pack, storage) = try await pack(world)
            try await complete(pack, storage)
            #expect(pack.progress.countOfTileBytesCompleted > 0)
        },
        ParityRow("C48") { world in
            let (pack, storage) = try await pack(world)
            try await complete(pack, storage)
            #expect(pack.progress.countOfResourcesExpected == pack.progress.countOfResourcesCompleted)
        },
        ParityRow("C49") { world in
            var progress = TaskProgress()
            progress.resources.required = 5
            progress.isPrecise = false
            #expect(PackProgress(progress).maximumResourcesExpected == .max)
            let (pack, storage) = try await pack(world)
            try await complete(pack, storage)
            #expect(pack.progress.maximumResourcesExpected == pack.progress.countOfResourcesExpected)
        },
        ParityRow("C50") { _ in
            #expect(PackState.unknown.rawValue == 0)
            for region in [RegionState.registered, .loading, .complete, .incomplete, .stale, .damaged] {
                for task in [nil, TaskState.done, .downloading, .paused(.user), .waiting(.turn), .cancelled] {
                    #expect(PackState(region, task) != .unknown)
                }
            }
        },
        ParityRow("C51") { world in
            let (pack, _) = try await pack(world)
            #expect(pack.state == .inactive && PackState.inactive.rawValue == 1)
            #expect(PackState(.loading, .paused(.user)) == .inactive)
        },
        ParityRow("C52") { world in
            world.server.fail("/live/8/", .stall)
            let (pack, storage) = try await pack(world)
            pack.resume()
            try await world.asked("/live/8/")
            try await Eventually.holds("the pack is active", every: .milliseconds(5)) { pack.state == .active }
            #expect(storage.packs?.first === pack)
            #expect(PackState.active.rawValue == 2)
        },
        ParityRow("C53") { world in
            let (pack, storage) = try await pack(world)
            try await complete(pack, storage)
            #expect(pack.state.rawValue == 3)
        },
        ParityRow("C54") { world in
            let (pack, storage) = try await pack(world)
            try await storage.removePack(pack)
            #expect(pack.state.rawValue == 4)
        },
        ParityRow("C55") { world in
            let (pack, storage) = try await pack(world)
            guard case .box(let box)? = try await storage.store.region(pack.id)?.definition.area else {
                Issue.record("the region is no rectangle")
                return
            }
            #expect(box == (try MapWorld.box))
        },
        ParityRow("C56") { world in
            let storage = try await storage(world)
            let pack = try await storage.addPack(for: try pyramid(world, zooms: 2.7...6.9), context: Data())
            #expect(try await storage.store.region(pack.id)?.definition.zooms == ZoomRange(min: 2, max: 6))
            await #expect(throws: StoreError.self) {
                try await storage.addPack(for: try pyramid(world, zooms: 23...24), context: Data())
            }
        },
        ParityRow("C57") { world in
            let storage = try await storage(world)
            let line = Geometry(lines: [[MapWorld.place(MapWorld.sharedTile), MapWorld.place(MapWorld.eastTile)]])
            let region = ShapeOfflineRegion(
                styleURL: world.server.address("/live/style.json"), shape: line, fromZoomLevel: 0, toZoomLevel: 8)
            let pack = try await storage.addPack(for: region, context: Data())
            try await complete(pack, storage)
            #expect((pack.region as? ShapeOfflineRegion)?.shape == line)
            #expect(storage.store.tiles.isCovered(.geometry(line), TinyMap.zooms))
        },
        ParityRow("C58") { world in
            let storage = try await storage(world)
            let pack = try await storage.addPack(for: try pyramid(world, style: nil), context: Data())
            try await complete(pack, storage)
            #expect(!world.server.requests("/live/style.json").isEmpty)
        },
        ParityRow("C59") { world in
            let storage = try await storage(world)
            for text in ["style.json", "file:///style.json"] {
                let region = TilePyramidOfflineRegion(
                    styleURL: URL(string: text), bounds: try MapWorld.box, fromZoomLevel: 0, toZoomLevel: 1)
                let error = await #expect(throws: StoreError.self) {
                    try await storage.addPack(for: region, context: Data())
                }
                #expect(error?.code == .invalidArguments)
            }
        },
        ParityRow("C60") { world in
            let storage = try await storage(world)
            let pack = try await storage.addPack(for: try pyramid(world, zooms: 0...22), context: Data())
            try await complete(pack, storage)
            #expect(pack.progress.countOfTilesCompleted == 9 && world.server.requests("/live/9/").isEmpty)
        },
        ParityRow("C61") { world in
            var region = try pyramid(world)
            region.includesIdeographicGlyphs = true
            let copy = try JSONDecoder().decode(
                TilePyramidOfflineRegion.self, from: try JSONEncoder().encode(region))
            #expect(copy.bounds == region.bounds && copy.includesIdeographicGlyphs && copy.styleURL == region.styleURL)
        },
        ParityRow("C62") { world in
            let storage = try await storage(world)
            let pack = try await storage.addPack(for: try pyramid(world), context: Data())
            #expect(storage.packs?.contains { $0 === pack } == true, "the call returned before the pack was added")
        },
        ParityRow("C63") { world in
            let address = world.server.address("/live/style.json")
            let storage = try await storage(world) { options in
                options.transform = { request in
                    var request = request
                    if request.url.scheme == "mapbox" { request.url = address }
                    return request
                }
            }
            var region = try pyramid(world)
            region.styleURL = URL(string: "mapbox://styles/live")
            let pack = try await storage.addPack(for: region, context: Data())
            try await complete(pack, storage)
            #expect(pack.state == .complete && world.server.requests("/live/style.json").count > 0)
        },
        notApplicable("C64"),
    ]

    private static func pack(_ world: MapWorld) async throws -> (OfflinePack, OfflineStorage) {
        let storage = try await storage(world)
        return (try await storage.addPack(for: try pyramid(world), context: Data("mine".utf8)), storage)
    }
}
