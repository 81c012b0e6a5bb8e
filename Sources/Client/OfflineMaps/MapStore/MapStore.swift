package import Foundation

/// The maps of a device: what is installed, what is wanted, and the queue that brings one to the other.
///
/// There is one instance for each folder in a process. Of several processes one does the work (``Role/worker``); the
/// others read and ask, and one of them takes the work over when the lock is free.
public actor MapStore {
    let worker: StoreWorker

    /// Reads the tiles of the installed packages.
    public nonisolated let tiles: TileReader
    /// Finds what renderers request.
    public nonisolated let resources: ResourceResolver
    /// Which loops of ``OfflineMaps`` follow which tasks.
    nonisolated let downloads = DownloadDesk()

    /// Opens the store of a folder, and makes the folder where it is missing.
    ///
    /// A second call for the same folder gives the same store. It must name the same keys and the same catalog, or no catalog; a token
    /// that it names replaces the former one, and its other options are not read. No task begins before
    /// ``start()``. A damaged database is set aside as `store.sqlite.damaged`; such a one, and one that is missing or empty, is
    /// made again from the installed files.
    ///
    /// - Throws: `invalid-arguments` while the folder is open with other keys or another catalog; `folder`, `storage`, `disk-full`.
    public static func open(_ options: StoreOptions) async throws(StoreError) -> MapStore {
        try await StoreRegistry.shared.open(options)
    }

    /// Whether a folder has maps or their database, also when the database is lost.
    ///
    /// - Throws: `folder` when it cannot be listed.
    package static func isStore(_ folder: URL) throws(StoreError) -> Bool {
        let folder = StoreFolder(folder)
        if StoreScan.absence(of: folder.database) == nil { return true }
        return try StoreScan.hasInstalled(folder)
    }

    /// Opens a store that other callers do not share.
    init(alone options: StoreOptions) async throws(StoreError) {
        let worker = try StoreWorker(options)
        try await worker.open()
        self.worker = worker
        tiles = worker.shared.tiles
        resources = worker.shared.resources
    }

    deinit {
        worker.shared.events.end()
        Task { [worker] in await worker.close() }
    }

    /// What happens from now on.
    public nonisolated var events: StoreEvents { StoreEvents(worker.shared.events.subscribe()) }

    /// What this process does with the store at the moment.
    public nonisolated var role: Role { worker.shared.role }

    /// Lets tasks begin and continue, also those of an earlier process; after ``suspend()`` it opens the store again.
    ///
    /// - Parameter work: With ``StoreWork/catalog`` only ``refreshCatalog(ifOlderThan:allowOlder:)`` works; other tasks stay
    ///   as they are. A store whose tasks were started already goes on with all.
    /// - Throws: `folder`, `storage`, `disk-full` when the store cannot be opened again; the next `start()` tries again.
    public func start(_ work: StoreWork = .all) async throws(StoreError) { try await worker.startTasks(work) }

    /// Stops all tasks; returns when no request and no file work is under way.
    public func stop() async { await worker.stopTasks() }

    /// Stops all requests while it is on, whatever the network monitor says.
    public func forceOffline(_ on: Bool) async { await worker.forceOffline(on) }

    /// Stops all tasks and releases the lock and the database; tiles stay readable.
    ///
    /// For an app that goes to the background. ``start()`` continues.
    public func suspend() async { await worker.suspend() }
}

/// The stores of this process, by their folders.
private actor StoreRegistry {
    static let shared = StoreRegistry()

    private struct Entry { weak var store: MapStore? }
    private var stores: [String: Entry] = [:]
    private var opening: [String: Task<Result<MapStore, StoreError>, Never>] = [:]

    func open(_ options: StoreOptions) async throws(StoreError) -> MapStore {
        let path = options.folder.standardizedFileURL.resolvingSymlinksInPath().path
        if let store = stores[path]?.store {
            guard let other = store.worker.options.difference(from: options) else {
                return try Self.shared(store, with: options)
            }
            // A store that was suspended makes place for one with other options.
            guard await store.worker.isLetGo else { throw Self.isOpen(options.folder, with: other) }
            // Another call may have opened it meanwhile.
            guard stores[path]?.store === store, opening[path] == nil else { return try await self.open(options) }
        }
        if let running = opening[path] {
            let store = try await running.value.get()
            if let other = store.worker.options.difference(from: options) {
                throw Self.isOpen(options.folder, with: other)
            }
            return try Self.shared(store, with: options)
        }
        let task = Task { () async -> Result<MapStore, StoreError> in
            do throws(StoreError) { return .success(try await MapStore(alone: options)) } catch {
                return .failure(error)
            }
        }
        opening[path] = task
        let result = await task.value
        opening[path] = nil
        if case .success(let store) = result { stores[path] = Entry(store: store) }
        return try result.get()
    }

    /// A store that is open already, with the token of this call when it names one: the former one may have ended.
    private static func shared(_ store: MapStore, with options: StoreOptions) throws(StoreError) -> MapStore {
        if let token = options.token { try store.worker.token.replace(with: token) }
        return store
    }

    private static func isOpen(_ folder: URL, with other: String) -> StoreError {
        StoreError(
            .invalidArguments, "The folder '\(folder.path)' is open with another \(other).",
            advice: "Close it first, or open another folder.")
    }
}

extension StoreOptions {
    /// What other options name that one store cannot have both of; `nil` when one store does for both.
    fileprivate func difference(from other: StoreOptions) -> String? {
        switch (trust, other.trust) {
        case (.unsigned, .unsigned): break
        case (.keys(let own), .keys(let others)) where Set(own) == Set(others): break
        default: return "key"
        }
        func address(_ url: URL?) -> URL? { url.map { CatalogAddress($0).folder } }
        return other.catalog == nil || address(catalog) == address(other.catalog) ? nil : "address of the catalog"
    }
}

extension StoreWorker {
    /// Whether lock and database are released, and nobody is opening them.
    fileprivate var isLetGo: Bool { mode == .closed && !isOpening }
}
