internal import CatalogFormat
internal import Errors
public import Foundation

/// The maps of an app in few calls: open, download, show.
///
/// ``store`` has everything else: regions, quotas, events, tile packs, rollbacks.
public struct OfflineMaps: Sendable {
    /// The store on disk that these calls use.
    public let store: MapStore

    /// Uses a store that was opened and started.
    public init(_ store: MapStore) { self.store = store }

    /// Opens the maps of a folder, makes the folder where it is missing, and continues downloads that the end of an earlier
    /// process interrupted.
    ///
    /// A second call for the same folder gives the same store; it must name the same catalog and the same key. No network is
    /// needed. The working folder of the process is taken only when it is empty or has maps: an empty text names it too.
    ///
    /// - Parameters:
    ///   - folder: The folder on this device.
    ///   - catalog: The address of the publisher's catalog.
    ///   - key: The publisher's key, `ed25519-public:` and 44 characters; lists that it did not sign are refused.
    ///   - change: Changes further options before the store is opened, for example the quota.
    /// - Throws: `invalid-arguments` for a text that is no key, for a folder that is open with another key or another catalog, and for a
    ///   working folder with other files; `folder`, `storage`, `disk-full`.
    public static func open(
        _ folder: URL, catalog: URL, key: String, change: (inout StoreOptions) -> Void = { _ in }
    ) async throws(StoreError) -> OfflineMaps {
        let key = key.trimmingCharacters(in: .whitespacesAndNewlines)
        do throws(CatalogError) { _ = try CatalogPublicKey(key) } catch {
            throw .failing(
                .invalidArguments, error.message, advice: "Copy the line of the publisher's file that ends with .pub.",
                below: error)
        }
        var options = StoreOptions(folder: folder, trust: .keys([key]))
        options.catalog = catalog
        change(&options)
        try refuseWorkingFolder(options.folder)
        let store = try await MapStore.open(options)
        try await store.start()
        return OfflineMaps(store)
    }

    /// Refuses the working folder of the process when it has other files and no maps: `URL(filePath: "")` is that folder.
    private static func refuseWorkingFolder(_ folder: URL) throws(StoreError) {
        let files = FileManager.default
        func place(_ url: URL) -> String { url.standardizedFileURL.resolvingSymlinksInPath().path }
        guard place(folder) == place(URL(filePath: files.currentDirectoryPath, directoryHint: .isDirectory)),
            // A folder that cannot be listed is refused when it is opened.
            let names = try? files.contentsOfDirectory(atPath: folder.path), !names.isEmpty,
            try !MapStore.isStore(folder)
        else { return }
        throw StoreError(
            .invalidArguments,
            "'\(folder.path)' is the working folder and has other files; maps need a folder of their own.",
            advice: "Name a folder, for example 'maps'.")
    }

    /// Downloads a package and a style, or brings them to the newest version of the last list, which is read again when it is
    /// a day old; ``update()`` asks the server at once.
    ///
    /// The work begins with the first element that is asked for. What is installed in its newest version is not downloaded
    /// again, so this call is also the test whether the map is complete, with and without a network. The last element has
    /// ``DownloadProgress/isComplete``. A map of which a read or ``verify()`` has found damage is downloaded again; the damaged
    /// file stays until the new one is whole.
    ///
    /// A task that is cancelled, and a loop that is left, stop the download and keep its bytes: the next call continues
    /// there, also after a restart. A process that is killed stops nothing for good: the next ``open(_:catalog:key:change:)`` continues.
    ///
    /// The loop throws a ``StoreError``: `network` when there is no network, or the server of the catalog fails or asks to wait
    /// for more than 30 s, and no catalog was read before, `catalog` when the
    /// address has no catalog or it is refused,
    /// `not-in-catalog` for an unknown id, the cause of a download that failed for good, `wrong-state` when another call
    /// has removed or cancelled it. While there is no network, and while the server of a file asks to wait, a download waits
    /// and its state says so.
    ///
    /// - Parameters:
    ///   - id: The id of the package in the catalog: `FR`, `DE-BY`.
    ///   - style: The id of the style in the catalog; `nil` for the package alone.
    public func download(_ id: String, style: String? = nil) -> MapDownload {
        MapDownload(
            DownloadRun(store: store, maxAge: .seconds(86_400), needsList: false) { store throws(StoreError) in
                try await store.items(package: id, style: style)
            })
    }

    /// Brings everything that is installed to the newest version, with patches where the catalog has them.
    ///
    /// The sequence is like that of ``download(_:style:)``; without an update it has one element.
    public func update() -> MapDownload {
        MapDownload(
            DownloadRun(store: store, maxAge: .zero, needsList: true) { store throws(StoreError) in
                try await store.updates().changes.map(\.item)
            })
    }

    /// Reads every byte of what is installed and compares it with what the publisher signed.
    ///
    /// A damaged map stays: ``download(_:style:)`` and ``update()`` then download it again.
    ///
    /// - Returns: What is missing or damaged; nothing when all is whole.
    public func verify() async throws(StoreError) -> [Finding] { try await store.verify(deep: true) }

    /// An installed style, as JSON for a renderer on this device: its source of tiles is the file of an installed package,
    /// its sprites and glyphs are files too.
    ///
    /// Give it to the renderer and do not store it: an update has other paths. Sources that the package does not have keep
    /// the addresses of their servers. MapLibre Native reads `mbtiles://` and `pmtiles://`.
    ///
    /// - Parameters:
    ///   - style: The id of the style.
    ///   - id: The id of the package.
    /// - Throws: `not-found` when one of both is not installed; `invalid-arguments` for a package of several files, which needs
    ///   ``ResourceResolver/style(_:_:)`` with a server; `damaged`.
    public func style(_ style: String, for id: String) throws(StoreError) -> Data {
        try store.resources.style(style, .files(of: store.resources.item(ofPackage: id)))
    }

    /// Removes a package; its space is free when the call returns.
    ///
    /// A download of it is cancelled, and its bytes are removed. Styles stay, because other packages use them.
    ///
    /// - Throws: `not-found` when the package is neither installed nor being downloaded; `storage`.
    public func remove(_ id: String) async throws(StoreError) {
        let items = try await store.held(package: id)
        guard !items.isEmpty else {
            throw StoreError(.notFound, "The package '\(id.prefix(200))' is neither installed nor being downloaded.")
        }
        let events = store.events
        for task in try await store.remove(items) { try await store.expectEnd(of: task, in: events) }
    }
}

extension MapStore {
    /// Waits for a task that must be done.
    fileprivate func expectEnd(of task: TaskID, in events: StoreEvents) async throws(StoreError) {
        if case .failed(let cause) = await end(of: task, in: events) {
            throw .failing(cause, "The package was not removed: \(cause.words).", advice: "Call it again.")
        }
    }
}

extension ResourceResolver {
    /// The item of a package of the main edition; a whole one before one in parts, MBTiles before others.
    func item(ofPackage id: String) -> Item {
        let found = snapshot.maps.map(\.item).filter { $0.identifier == id && $0.edition == Edition() }
        return found.first { $0 == .package(id) } ?? found.first { $0.hasVersion } ?? .package(id)
    }
}
