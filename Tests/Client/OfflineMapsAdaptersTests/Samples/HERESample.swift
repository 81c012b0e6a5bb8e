import OfflineMaps
import OfflineMapsAdapters
import Testing
import Tiles

/// An app in the habit of HERE's SDK: reads the tree, installs a country, updates all map data.
@MainActor
final class HERESample: MapLoaderDelegate {
    private let loader: MapLoader
    private(set) var lines: [String] = []
    let ended = Recorder<String>()

    init(_ store: MapStore) {
        loader = MapLoader(store)
        loader.setDelegate(self)
    }

    func start() { loader.getMapPackages() }

    func mapLoader(_ loader: MapLoader, didGetMapPackages root: MapPackage?, withResult result: MapLoaderResult) {
        guard result == .success, let europe = root?.children.first else { return }
        let countries = europe.children.flatMap(\.children)
        lines.append(countries.map { "\($0.title) \($0.sizeOnDisk) KB" }.joined(separator: ", "))
        loader.install(countries.filter { $0.packageId == "EE" })
    }
    func mapLoader(_ loader: MapLoader, didInstallPackagesWithResult result: MapLoaderResult) {
        lines.append("installed: \(result)")
        ended.add("install")
    }
    func update() { loader.checkForMapDataUpdate() }
    func mapLoader(
        _ loader: MapLoader, didFindUpdate isThere: Bool, fromVersion: String, toVersion: String,
        withResult result: MapLoaderResult
    ) {
        guard isThere else { return ended.add("update") }
        loader.performMapDataUpdate()
    }
    func mapLoader(_ loader: MapLoader, didUpdateWithResult result: MapLoaderResult) {
        lines.append("updated: \(result)")
        ended.add("update")
    }
    func mapLoader(_ loader: MapLoader, didUpdateProgress progress: Float) {}
    func mapLoader(_ loader: MapLoader, didUninstallPackagesWithResult result: MapLoaderResult) {}
    func mapLoader(_ loader: MapLoader, didGetUpdateSize kilobytes: UInt64, withResult result: MapLoaderResult) {}
    func mapLoader(
        _ loader: MapLoader, didGetMapPackage package: MapPackage?, atGeoCoordinates place: Coordinate,
        withResult result: MapLoaderResult
    ) {}
    func mapLoaderDidLoseConnection(_ loader: MapLoader) {}
    func mapLoaderDidFindConnection(_ loader: MapLoader) {}
}

struct HERESampleTests {
    @Test @MainActor func aCountryIsInstalledAndUpdated() async throws {
        let world = try MapWorld()
        let store = try await world.open(starts: false)
        let app = HERESample(store)
        app.start()
        try await app.ended.first { $0 == "install" }
        world.server.publish(2)
        app.update()
        try await app.ended.first { $0 == "update" }
        #expect(app.lines.count == 3 && app.lines[0].contains("Latvia"))
        #expect(app.lines.suffix(2) == ["installed: success", "updated: success"])
        #expect(try MapWorld.data(store, MapWorld.eastTile) == "data 2")
    }
}
