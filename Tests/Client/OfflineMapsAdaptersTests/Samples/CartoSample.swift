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
    func onPackageFailed(_ id: String, version: Int32, errorType: PackageErrorType) {
        lines.append("\(id) \(errorType)")
    }
    func onPackageCancelled(_ id: String, version: Int32) {}
    func onStyleUpdated(_ id: String) {}
    func onStyleFailed(_ id: String) {}

    func run(_ country: String, _ box: String) async throws {
        // The order of CARTO's sample in C#: the list is requested before the start.
        let isOld = await manager.serverPackageListAge > 86_400
        if isOld { manager.startPackageListDownload() }
        await manager.start()
        if isOld {
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
        let app = CartoSample(try await world.open(starts: false))
        try await app.run("EE", box)
        #expect(app.lines.contains { $0.hasPrefix("EE downloading") })
        #expect(app.lines.suffix(2) == ["Estonia v1", "\(box) v1"])
    }
}
