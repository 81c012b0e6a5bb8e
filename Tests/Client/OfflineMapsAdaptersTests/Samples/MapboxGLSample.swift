import Foundation
import OfflineMaps
import OfflineMapsAdapters
import Testing
import Tiles

/// An app in the habit of Mapbox GL: registers a region, downloads it, and shows its progress.
struct MapboxGLSample {
    let style: URL
    let bounds: BoundingBox

    /// - Returns: The progress lines, the last one at the end.
    func run(_ storage: OfflineStorage) async throws -> [String] {
        var lines: [String] = []
        let changes = storage.packChanges
        let region = TilePyramidOfflineRegion(
            styleURL: style, bounds: bounds, fromZoomLevel: 0, toZoomLevel: 8)
        let pack = try await storage.addPack(for: region, context: Data("My Map".utf8))
        pack.resume()
        for await change in changes {
            switch change {
            case .progress(let pack):
                let progress = pack.progress
                lines.append("\(progress.countOfResourcesCompleted) of \(progress.countOfResourcesExpected)")
                if pack.state == .complete { return lines }
            case .failed(_, let cause): throw StoreError(.network, "The pack failed: \(cause).")
            case .limitReached(let count): throw StoreError(.limit, "More than \(count) tiles.")
            case .set, .inserted, .removed: continue
            }
        }
        return lines
    }
}

struct MapboxGLSampleTests {
    @Test func aRegionIsDownloadedWithItsProgress() async throws {
        let world = try MapWorld()
        let store = try await world.open(starts: false)
        let storage = OfflineStorage(store)
        let app = MapboxGLSample(style: world.server.address("/live/style.json"), bounds: try MapWorld.box)
        let lines = try await app.run(storage)
        let last = try #require(lines.last).split(separator: " of ")
        #expect(last.count == 2 && last[0] == last[1])
        #expect(storage.packs?.first?.context == Data("My Map".utf8))
        await store.forceOffline(true)
        #expect(try await store.resources.load(world.server.address("/live/style.json")) != nil)
    }
}
