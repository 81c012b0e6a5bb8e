public import OfflineMaps
internal import Synchronization
public import Tiles

/// The package manager of CARTO's SDK, on a store.
///
/// It keeps no files and no tasks of its own: it translates ids, numbers and events. A `Bool` says whether a task was
/// accepted: then it is in the durable queue. For this reason the calls are asynchronous, which the SDK's are not.
/// A listener gets what happens from then on, also when another part of the app is the cause.
public final class PackageManager: Sendable {
    struct State {
        var listener: (any PackageManagerListener)?
        /// The last status of each task that the listener got.
        var reported: [TaskID: PackageStatus] = [:]
        /// The versions that were last seen, for packages that are removed.
        var versions: [String: Int32] = [:]
        /// Between ``start()`` and ``stop(wait:)``.
        var isStarted = false
        /// Whether the list was requested while the store was not started.
        var isListWanted = false
    }

    /// The store.
    public let store: MapStore
    /// The data group and the language of the packages.
    public let edition: Edition
    /// The kind of files that are downloaded.
    public let format: Format
    /// The tileset of boxes; `nil` is the one of the catalog.
    public let tileset: String?
    let names: PackageNames
    let boxes: BoxDownload
    let state = Mutex(State())
    private let loop = EventLoop()

    /// Manages the packages of a store.
    ///
    /// - Parameters:
    ///   - edition: The data group and the language of the packages.
    ///   - format: The kind of files that are downloaded.
    ///   - tileset: The tileset of boxes; `nil` is the one of the catalog.
    public init(
        _ store: MapStore, edition: Edition = Edition(), format: Format = .mbtiles, tileset: String? = nil
    ) {
        self.store = store
        self.edition = edition
        self.format = format
        self.tileset = tileset
        names = PackageNames(edition: edition, format: format)
        boxes = BoxDownload(store: store, edition: edition, tileset: tileset)
        loop.run(store) { [weak self] in await self?.handle($0) }
    }

    /// Lets the tasks of the store run, also the download of a list that was requested before.
    ///
    /// `false` when the store cannot be opened again after a suspension; the next call tries again.
    @discardableResult
    public func start() async -> Bool {
        do throws(StoreError) { try await store.start() } catch { return false }
        let isListWanted = state.withLock { state in
            state.isStarted = true
            defer { state.isListWanted = false }
            return state.isListWanted
        }
        if isListWanted { startPackageListDownload() }
        return true
    }

    /// Stops the tasks of the store; what they downloaded stays.
    ///
    /// - Parameter wait: Whether the call returns only when nothing runs any more.
    public func stop(wait: Bool) async {
        state.withLock { $0.isStarted = false }
        guard wait else {
            Task { [store] in await store.stop() }
            return
        }
        await store.stop()
    }

    /// Sets the listener that gets all further changes; `nil` sets none.
    ///
    /// There is one at a time, and it is held until it is replaced.
    public func setListener(_ listener: (any PackageManagerListener)?) {
        state.withLock { $0.listener = listener }
    }

    /// The age of the list in seconds; `Int32.max` if it was never read.
    public var serverPackageListAge: Int32 {
        get async {
            guard let age = await store.catalog?.age else { return .max }
            return Int32(clamping: age.components.seconds)
        }
    }

    /// The packages of the list in this edition; none before the list was read.
    public var serverPackages: [PackageInfo] {
        get async { await store.catalog?.packages.filter { $0.edition == edition } ?? [] }
    }

    /// The packages and boxes that are installed.
    public var localPackages: [PackageInfo] {
        get async { await LocalPackages(store: store, names: names).all() }
    }

    /// A package of the list.
    public func serverPackage(_ id: String) async -> PackageInfo? { await store.catalog?.package(id, edition) }

    /// An installed package or box.
    public func localPackage(_ id: String) async -> PackageInfo? {
        await localPackages.first { $0.id == id }
    }

    /// How far a package is: the task that does something with it, otherwise the installed package.
    ///
    /// - Parameter version: The version that is asked for; -1 is any.
    /// - Returns: `nil` when there is neither.
    public func localPackageStatus(_ id: String, version: Int32 = -1) async -> PackageStatus? {
        for task in await tasks(of: id) {
            guard let status = PackageStatus(task) else { continue }
            let about = await self.version(id, of: task)
            if version < 0 || version == about { return status }
        }
        guard let here = await localPackage(id), version < 0 || version == here.version else { return nil }
        return .ready
    }

    /// The packages at a place, the smallest file first; where there is none, those of the area around it.
    public func suggestPackages(_ place: Coordinate) async -> [PackageInfo] {
        let packages = await serverPackages
        var tile = TileID(at: place, zoom: packages.map(\.mask.maxZoom).max() ?? 0)
        while let asked = tile {
            let found = packages.filter { $0.mask.contains(asked) }
            if !found.isEmpty { return found.sorted { ($0.size, $0.id) < ($1.size, $1.id) } }
            tile = asked.parent
        }
        return []
    }

    /// Whether all tiles of a rectangle at a zoom are installed.
    public func isAreaDownloaded(_ box: BoundingBox, zoom: Int) -> Bool {
        ZoomRange(min: zoom, max: zoom).map { store.tiles.isCovered(.box(box), $0) } ?? false
    }
}
