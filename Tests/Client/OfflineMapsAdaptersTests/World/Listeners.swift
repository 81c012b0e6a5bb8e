import OfflineMaps
import OfflineMapsAdapters
import Tiles

/// Records the calls of a package manager.
final class ManagerListener: PackageManagerListener {
    enum Call: Hashable, Sendable {
        case listUpdated, listFailed
        case status(String, Int32, PackageStatus)
        case updated(String, Int32)
        case cancelled(String, Int32)
        case failed(String, Int32, PackageErrorType)
        case styleUpdated(String)
        case styleFailed(String)
    }
    let calls = Recorder<Call>()

    private func add(_ call: Call) {
        MainActor.assertIsolated()
        calls.add(call)
    }
    func onPackageListUpdated() { add(.listUpdated) }
    func onPackageListFailed() { add(.listFailed) }
    func onPackageStatusChanged(_ id: String, version: Int32, status: PackageStatus) {
        add(.status(id, version, status))
    }
    func onPackageUpdated(_ id: String, version: Int32) { add(.updated(id, version)) }
    func onPackageCancelled(_ id: String, version: Int32) { add(.cancelled(id, version)) }
    func onPackageFailed(_ id: String, version: Int32, errorType: PackageErrorType) {
        add(.failed(id, version, errorType))
    }
    func onStyleUpdated(_ id: String) { add(.styleUpdated(id)) }
    func onStyleFailed(_ id: String) { add(.styleFailed(id)) }
}

/// Records the calls of a map loader.
final class LoaderDelegate: MapLoaderDelegate {
    enum Call: Sendable {
        case progress(Float)
        case installed(MapLoaderResult)
        case uninstalled(MapLoaderResult)
        case update(Bool, from: String, to: String, MapLoaderResult)
        case size(UInt64, MapLoaderResult)
        case updated(MapLoaderResult)
        case packages(MapLoaderResult)
        case package(MapPackage?, MapLoaderResult)
        case lost, found

        /// Whether the call ends an operation.
        var isEnd: Bool {
            switch self {
            case .progress, .lost, .found: false
            default: true
            }
        }
        /// The result that it carries.
        var result: MapLoaderResult? {
            switch self {
            case .installed(let result), .uninstalled(let result), .updated(let result), .packages(let result),
                .size(_, let result), .package(_, let result):
                result
            case .update(_, from: _, to: _, let result): result
            case .progress, .lost, .found: nil
            }
        }
    }
    let calls = Recorder<Call>()

    func mapLoader(_ loader: MapLoader, didUpdateProgress progress: Float) { calls.add(.progress(progress)) }
    func mapLoader(_ loader: MapLoader, didInstallPackagesWithResult result: MapLoaderResult) {
        calls.add(.installed(result))
    }
    func mapLoader(_ loader: MapLoader, didUninstallPackagesWithResult result: MapLoaderResult) {
        calls.add(.uninstalled(result))
    }
    func mapLoader(
        _ loader: MapLoader, didFindUpdate isThere: Bool, fromVersion: String, toVersion: String,
        withResult result: MapLoaderResult
    ) { calls.add(.update(isThere, from: fromVersion, to: toVersion, result)) }
    func mapLoader(_ loader: MapLoader, didGetUpdateSize kilobytes: UInt64, withResult result: MapLoaderResult) {
        calls.add(.size(kilobytes, result))
    }
    func mapLoader(_ loader: MapLoader, didUpdateWithResult result: MapLoaderResult) { calls.add(.updated(result)) }
    func mapLoader(_ loader: MapLoader, didGetMapPackages root: MapPackage?, withResult result: MapLoaderResult) {
        calls.add(.packages(result))
    }
    func mapLoader(
        _ loader: MapLoader, didGetMapPackage package: MapPackage?, atGeoCoordinates place: Coordinate,
        withResult result: MapLoaderResult
    ) { calls.add(.package(package, result)) }
    func mapLoaderDidLoseConnection(_ loader: MapLoader) { calls.add(.lost) }
    func mapLoaderDidFindConnection(_ loader: MapLoader) { calls.add(.found) }

    /// Runs an operation and waits for its end.
    func run(_ begin: () -> Bool) async throws -> MapLoaderResult? {
        calls.forget()
        guard begin() else { return nil }
        return try await calls.first(\.isEnd).result
    }
}
