import OfflineMaps
import OfflineMapsAdapters
import Testing
import Tiles

/// An app in the habit of CARTO's SDK: reads the list, downloads a country and a box, looks for updates.
@MainActor
final class CartoSample: PackageManagerListener {
    private let manager: PackageManager
    private(set) var lines: [String] = []
    private let ended = Recorder<String>()

    init(_ store: MapStore) {
        manager = PackageManager(store)
        manager.setListener(self)
    }

    func onPackageListUpdated() { ended.add("list") }
    func onPackageListFailed() { lines.append("no list") }
    func onPackageStatusChanged(_ id: String, version: Int32, status: PackageStatus) {
        lines.append("\(id) \(status.currentAction) \(Int(status.progress)) %")
    }
    func onPackageUpdated(_ id: String, version: Int32) { ended.add(id) }
    func onPackageFailed(_ id: String, version: Int32, error: PackageErrorType) { lines.append("\(id) \(error)") }

    func run(_ country: String, _ box: String) async throws {
        await manager.start()
        if await manager.serverPackageListAge > 86_400 {
            manager.startPackageListDownload()
            try await ended.first { $0 == "list" }
        }
        for id in [country, box] where await manager.startPackageDownload(id) { try await ended.first { $0 == id } }
        for package in await manager.localPackages {
            let newest = await manager.serverPackage(package.id)?.version ?? package.version
            lines.append("\(package.name("en")) v\(package.version)\(newest > package.version ? " old" : "")")
        }
        manager.setListener(nil)
    }
}

struct CartoSampleTests {
    @Test @MainActor func aCountryAndABoxAreDownloaded() async throws {
        let world = try MapWorld()
        let box = "bbox(\(try MapWorld.box.description))"
        let app = CartoSample(try await world.open(list: false))
        try await app.run("EE", box)
        #expect(app.lines.contains { $0.hasPrefix("EE downloading") })
        #expect(app.lines.suffix(2) == ["Estonia v1", "\(box) v1"])
    }
}
