import Foundation
import OfflineMaps
import OfflineMapsAdapters
import TestSupport
import Testing
import Tiles

extension ParityRow {
    private static let kept = URL(string: "https://kept.example.com/style.json") ?? URL(filePath: "/")

    /// C24 to C33: Mapbox GL's ambient cache.
    static let cache: [ParityRow] = [
        ParityRow("C24") { world in
            let storage = try await storage(world)
            let empty = await storage.countOfBytesCompleted
            try await complete(try await storage.addPack(for: try pyramid(world), context: Data()), storage)
            let full = await storage.countOfBytesCompleted
            #expect(full > empty)
            #expect(try await storage.store.usage().total == full)
        },
        ParityRow("C25") { world in
            #expect(Quota().ambientBytes == 50 << 20)
            let storage = try await storage(world)
            try await storage.setMaximumAmbientCacheSize(0)
            try await storage.preload(Data("kept".utf8), for: kept)
            #expect(try await viewed(kept, storage.store) == nil)
        },
        ParityRow("C26") { world in
            let storage = try await storage(world)
            try await storage.setMaximumAmbientCacheSize(0)
            try await complete(try await storage.addPack(for: try pyramid(world), context: Data()), storage)
            #expect(try storage.store.resources.resource(world.server.address("/live/0/0/0.pbf")) != nil)
        },
        ParityRow("C27") { world in
            let storage = try await storage(world)
            let url = world.server.address("/live/1/1/1.pbf")
            _ = try await storage.store.resources.load(url)
            _ = try await storage.store.resources.load(url)
            #expect(world.server.requests("/live/1/1/1.pbf").count == 1)
            world.server.setLiveData(2)
            try await storage.invalidateAmbientCache()
            let body = try #require(try await storage.store.resources.load(url)?.body)
            #expect(try MapWorld.data(of: body) == "live 2")
            #expect(world.server.requests("/live/1/1/1.pbf").last?.headers["if-none-match"] != nil)
        },
        ParityRow("C28") { world in
            let storage = try await storage(world)
            try await complete(try await storage.addPack(for: try pyramid(world), context: Data()), storage)
            try await storage.preload(Data("kept".utf8), for: kept)
            try await storage.clearAmbientCache()
            #expect(try await viewed(kept, storage.store) == nil)
            #expect(try storage.store.resources.resource(world.server.address("/live/0/0/0.pbf")) != nil)
        },
        ParityRow("C29") { world in
            let storage = try await storage(world)
            let pack = try await storage.addPack(for: try pyramid(world), context: Data())
            try await complete(pack, storage)
            try await storage.preload(Data("kept".utf8), for: kept)
            try await storage.resetDatabase()
            #expect(storage.packs?.isEmpty == true && pack.state == .invalid)
            #expect(try await viewed(kept, storage.store) == nil)
            #expect(try storage.store.resources.resource(world.server.address("/live/0/0/0.pbf")) == nil)
        },
        ParityRow("C30") { world in
            let storage = try await storage(world)
            try await storage.preload(
                Data("kept".utf8), for: kept, modified: Date(), expires: Date(timeIntervalSinceNow: 60), eTag: "\"7\"")
            let found = try #require(try await viewed(kept, storage.store))
            #expect(found.body == Data("kept".utf8) && found.etag == "\"7\"" && !found.isStale)
        },
        ParityRow("C31") { world in
            let storage = try await storage(world)
            #expect(try await storage.preload(Data("kept".utf8), for: kept) == kept)
        },
        ParityRow("C32") { world in
            let storage = try await storage(world)
            await storage.store.forceOffline(true)
            try await storage.preload(
                Data("kept".utf8), for: kept, expires: Date(timeIntervalSinceNow: -60), mustRevalidate: true)
            let found = try #require(try await storage.store.resources.load(kept))
            #expect(found.body == Data("kept".utf8) && found.isStale)
        },
        ParityRow("C33") { world in
            let storage = try await storage(world)
            let body = Data(repeating: 7, count: 100_000)
            try await storage.preload(body, for: kept)
            let found = try #require(try await viewed(kept, storage.store))
            #expect(found.body == body && found.coding == .plain)
        },
    ]

    /// What is here of an address, without the network.
    static func viewed(_ url: URL, _ store: MapStore) async throws -> Resource? {
        await store.forceOffline(true)
        let found = try await store.resources.load(url)
        await store.forceOffline(false)
        return found
    }
}
