public import OfflineMaps
public import Tiles

/// The result of an operation; the numbers are those of this library.
///
/// The five results of the SDK's guide, and two more of its header.
public enum MapLoaderResult: Int, Sendable {
    /// The operation ended well.
    case success
    /// A package is not in the tree, or the operation cannot be done with these arguments.
    case invalidParameters
    /// ``MapLoader/cancelCurrentOperation()`` ended the operation.
    case operationCancelled
    /// The server cannot be reached, refuses, or sends wrong bytes.
    case connectionFailed
    /// The store failed.
    case initializationFailed
    /// There is no package at the place.
    case searchFailed
    /// The disk or the quota has too little space.
    case insufficientStorage

    /// The result for a cause of failure.
    public init(_ cause: FailureCause) {
        switch cause {
        case .connection, .notFound, .notAllowed, .limitExceeded, .tooBig, .serverError, .badBytes, .badSignature,
            .olderCatalog, .badCatalog, .badStyle, .hostForbidsBulk:
            self = .connectionFailed
        case .tooManyPacks, .tooManyTiles, .notInCatalog, .invalidArguments, .superseded: self = .invalidParameters
        case .badFile, .storage, .internalError: self = .initializationFailed
        }
    }

    /// The result for an error of the store.
    public init(_ error: StoreError) {
        if let cause = error.failure {
            self.init(cause)
        } else if [.diskFull, .limit].contains(error.code) {
            self = .insufficientStorage
        } else if [.notFound, .invalidArguments, .notInCatalog].contains(error.code) {
            self = .invalidParameters
        } else {
            self = [.network, .catalog].contains(error.code) ? .connectionFailed : .initializationFailed
        }
    }
}

/// Gets the results of a map loader.
///
/// No method has a default: a method with another label or type would compile and never be called. A method that an
/// app does not need is empty.
public protocol MapLoaderDelegate: AnyObject, Sendable {
    /// The part of the operation that is done, 0...1.
    @MainActor func mapLoader(_ loader: MapLoader, didUpdateProgress progress: Float)
    /// An installation ended.
    @MainActor func mapLoader(_ loader: MapLoader, didInstallPackagesWithResult result: MapLoaderResult)
    /// A removal ended.
    @MainActor func mapLoader(_ loader: MapLoader, didUninstallPackagesWithResult result: MapLoaderResult)
    /// The server was asked for newer data; the versions are texts for people.
    @MainActor func mapLoader(
        _ loader: MapLoader, didFindUpdate isThere: Bool, fromVersion: String, toVersion: String,
        withResult result: MapLoaderResult)
    /// The size of an update is known, in KB of 1,024 bytes.
    @MainActor func mapLoader(
        _ loader: MapLoader, didGetUpdateSize kilobytes: UInt64, withResult result: MapLoaderResult)
    /// An update ended.
    @MainActor func mapLoader(_ loader: MapLoader, didUpdateWithResult result: MapLoaderResult)
    /// The tree was read; ``MapLoader/rootPackage`` has it, too.
    @MainActor func mapLoader(
        _ loader: MapLoader, didGetMapPackages root: MapPackage?, withResult result: MapLoaderResult)
    /// A place was looked up.
    @MainActor func mapLoader(
        _ loader: MapLoader, didGetMapPackage package: MapPackage?, atGeoCoordinates place: Coordinate,
        withResult result: MapLoaderResult)
    /// The network was lost during an operation, which goes on by itself later.
    @MainActor func mapLoaderDidLoseConnection(_ loader: MapLoader)
    /// The network is back.
    @MainActor func mapLoaderDidFindConnection(_ loader: MapLoader)
}
