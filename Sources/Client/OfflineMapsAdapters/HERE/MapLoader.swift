public import OfflineMaps
internal import Synchronization
public import Tiles

/// The map loader of HERE's SDK, on a store.
///
/// It does one operation at a time: each call says at once whether its operation has begun, and the delegate gets the
/// result on the main actor. The first operation starts the store. It keeps no files and no tasks of its own; tasks of other parts of the app do not count as
/// its operation.
public final class MapLoader: Sendable {
    struct State {
        weak var delegate: (any MapLoaderDelegate)?
        var root: MapPackage?
        var operation: LoaderOperation?
    }

    /// The store.
    public let store: MapStore
    /// The language of titles.
    public let language: String
    let state = Mutex(State())
    private let loop = EventLoop()
    /// Changes of the selection, one after the other.
    let selections = SerialWork()

    /// The loader on the store that the app gave to ``SharedStore``.
    ///
    /// - Throws: `wrongState` when it gave none.
    public static func shared() async throws(StoreError) -> MapLoader { try SharedStore.loader() }

    /// Makes a loader.
    ///
    /// - Parameter language: The language of titles.
    public init(_ store: MapStore, language: String = "en") {
        self.store = store
        self.language = language
        loop.run(store) { [weak self] in await self?.handle($0) }
    }

    /// The tree of the last operation; `nil` before the first.
    ///
    /// Each operation replaces it.
    public var rootPackage: MapPackage? { state.withLock { $0.root } }

    /// Names who gets the results; held weakly, as in the SDK.
    public func setDelegate(_ delegate: (any MapLoaderDelegate)?) { state.withLock { $0.delegate = delegate } }

    /// Reads the tree, from the server when the list is older than a day.
    ///
    /// `false` while another operation runs.
    @discardableResult
    public func getMapPackages() -> Bool {
        begin { [store] _ in
            await Self.result { () throws(StoreError) in _ = try await store.refreshCatalog() }
        } notify: { loader, delegate, result in
            await delegate?.mapLoader(loader, didGetMapPackages: loader.rootPackage, withResult: result)
        }
    }

    /// Looks for the smallest package at a place; also while an operation runs.
    ///
    /// Always `true`.
    @discardableResult
    public func getMapPackage(at place: Coordinate) -> Bool {
        Task {
            if rootPackage == nil { await readTree() }
            let id = await store.catalog?.packages(at: place).first { $0.edition == Edition() }?.id
            let package = id.flatMap { id in rootPackage.flatMap { Self.find(id, in: $0) } }
            let delegate = state.withLock { $0.delegate }
            await delegate?.mapLoader(
                self, didGetMapPackage: package, atGeoCoordinates: place,
                withResult: package == nil ? .searchFailed : .success)
        }
        return true
    }

    /// Downloads packages; those that are installed are skipped.
    ///
    /// `false` while another operation runs.
    @discardableResult
    public func install(_ packages: [MapPackage]) -> Bool {
        begin { [self] operation in
            let items = Self.items(packages)
            guard !items.isEmpty else { return .invalidParameters }
            return await operation.run(progress: reportProgress) { () throws(StoreError) in
                var wanted: [Item] = []
                for item in items where try await store.status(of: item).map(\.isWhole) != true { wanted.append(item) }
                return wanted.isEmpty ? [] : try await store.install(wanted)
            }
        } notify: { loader, delegate, result in
            await delegate?.mapLoader(loader, didInstallPackagesWithResult: result)
        }
    }

    /// Removes packages; those that are not installed are skipped.
    ///
    /// `false` while another operation runs.
    @discardableResult
    public func uninstall(_ packages: [MapPackage]) -> Bool {
        begin { [self] operation in
            let items = Self.items(packages)
            guard !items.isEmpty else { return .invalidParameters }
            return await operation.run(progress: reportProgress) { () throws(StoreError) in
                var there: [Item] = []
                for item in items where try await store.status(of: item)?.installed != nil { there.append(item) }
                return there.isEmpty ? [] : try await store.remove(there)
            }
        } notify: { loader, delegate, result in
            await delegate?.mapLoader(loader, didUninstallPackagesWithResult: result)
        }
    }

    /// Asks the server for newer data.
    ///
    /// `false` while another operation runs.
    @discardableResult
    public func checkForMapDataUpdate() -> Bool {
        let found = Found()
        return begin { [store] _ in
            await Self.result { () throws(StoreError) in
                _ = try await store.refreshCatalog(ifOlderThan: .zero)
                found.set(try await store.updates())
            }
        } notify: { loader, delegate, result in
            await delegate?.mapLoader(
                loader, didFindUpdate: !(found.value?.changes.isEmpty ?? true), fromVersion: found.value?.from ?? "",
                toVersion: found.value?.to ?? "", withResult: result)
        }
    }

    /// Computes what ``performMapDataUpdate()`` would download.
    ///
    /// `false` while another operation runs.
    @discardableResult
    public func getMapDataUpdateSize() -> Bool {
        let found = Found()
        return begin { [store] _ in
            await Self.result { () throws(StoreError) in found.set(try await store.updates()) }
        } notify: { loader, delegate, result in
            let kilobytes = ((found.value?.bytes ?? 0) + 1_023) / 1_024
            await delegate?.mapLoader(loader, didGetUpdateSize: kilobytes, withResult: result)
        }
    }

    /// Brings all packages to the newest data at once: all of them or none.
    ///
    /// `false` while another operation runs.
    @discardableResult
    public func performMapDataUpdate() -> Bool {
        begin { [self] operation in
            await operation.run(progress: reportProgress) { () throws(StoreError) in
                try await store.update(nil, together: true)
            }
        } notify: { loader, delegate, result in
            await delegate?.mapLoader(loader, didUpdateWithResult: result)
        }
    }

    /// Ends the operation, also without a network; the delegate gets ``MapLoaderResult/operationCancelled``.
    ///
    /// - Returns: `false` when no operation runs.
    @discardableResult
    public func cancelCurrentOperation() -> Bool {
        guard let operation = state.withLock({ $0.operation }) else { return false }
        Task { await operation.cancel() }
        return true
    }
}
