internal import CatalogTransfer
internal import CommandSupport
import Errors
internal import Files
import Foundation
import OfflineMaps
internal import TextFormats

/// Opens the store of a command.
enum DeviceStore {
    /// Opens a store that exists.
    ///
    /// - Throws: ``CLIError`` 66 when the folder is no store; `StoreError`.
    static func openExisting(
        _ arguments: StoreArguments, _ catalog: CatalogArguments? = nil
    ) async throws -> MapStore {
        let folder = try arguments.folder
        guard try MapStore.isStore(folder) else {
            throw CLIError(
                .noInput, "'\(folder.path)' is not a store",
                hint: "make one: packhorse device install ID --catalog ADDRESS --store '\(folder.path)'")
        }
        return try await open(folder, catalog)
    }

    /// Opens a store, and makes it where it does not exist.
    ///
    /// - Parameter prepare: What the command needs before it changes anything; when it throws, a new folder is removed.
    static func openOrCreate<Value: Sendable>(
        _ arguments: StoreArguments, _ catalog: CatalogArguments? = nil,
        preparing prepare: (MapStore) async throws -> Value
    ) async throws -> (store: MapStore, Value) {
        let folder = try arguments.folder
        let isNew = !FileKind.isThere(folder)
        let missing = MissingFolders([folder])
        let store = try await open(folder, catalog)
        do { return (store, try await prepare(store)) } catch {
            if isNew {
                await store.suspend()
                // The error of the command is what matters.
                try? FileManager.default.removeItem(at: folder)
                missing.removeEmpty()
            }
            throw error
        }
    }

    /// Runs `body` with the store, or with an empty store in a temporary folder where it does not exist.
    ///
    /// For commands that change nothing: a store with another catalog than the named one is left alone too.
    static func openReadOnly<Value: Sendable>(
        _ arguments: StoreArguments, _ catalog: CatalogArguments, body: (MapStore) async throws -> Value
    ) async throws -> Value {
        if arguments.isNamed, case let folder = try arguments.folder, try MapStore.isStore(folder) {
            let kept = try DeviceSettings.read(folder)
            let isSame = try kept.catalog == nil || kept.with(catalog).catalog == kept.catalog
            if isSame { return try await body(try await open(folder, catalog)) }
            Console.note("the store has another catalog: what is installed is not compared with this one")
        }
        return try await withTemporaryStore(catalog, body)
    }

    /// Runs `body` with an empty store in a temporary folder.
    private static func withTemporaryStore<Value: Sendable>(
        _ catalog: CatalogArguments, _ body: (MapStore) async throws -> Value
    ) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "packhorse-device-\(UUID().uuidString)", directoryHint: .isDirectory)
        // A temporary folder that stays is removed by the system.
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await open(folder, catalog)
        do {
            let value = try await body(store)
            await store.suspend()
            return value
        } catch {
            await store.suspend()
            throw error
        }
    }

    private static func open(_ folder: URL, _ catalog: CatalogArguments?) async throws -> MapStore {
        let kept = try DeviceSettings.read(folder)
        let settings = try catalog.map { try kept.with($0) } ?? kept
        let isOther = kept.catalog != nil && settings.catalog != kept.catalog
        if let catalog, isOther {
            // A store that is opened with another catalog forgets what the last one offers: look whether there is one.
            _ = try await withTemporaryStore(catalog) { try await freshCatalog(of: $0, catalog) }
        }
        var options = StoreOptions(folder: folder, trust: settings.trust)
        options.catalog = settings.address
        if case .web? = settings.place { options.token = try Variable.catalogToken() }
        options.fetcher = try DeviceFetcher(folder: settings.folder)
        options.onRefusedAddress = { Console.warning($0.words) }
        let store = try await MapStore.open(options)
        await warn(ofLeftoversIn: store)
        // The process that works reads the catalog with which it was started.
        guard !isOther || store.role == .worker else {
            throw CLIError(
                .temporary, "another process works on the store, with the catalog '\(kept.catalog ?? "")'",
                hint: "end that process (device serve, watch or run), then name the other catalog")
        }
        return store
    }

    /// The most leftovers that are named one by one.
    private static let namedLeftovers = 5

    /// Says what lies in the store, belongs to nothing and cannot be removed; the command goes on.
    private static func warn(ofLeftoversIn store: MapStore) async {
        let left = await store.leftovers
        for finding in left.prefix(namedLeftovers) {
            Console.warning("the store holds what cannot be removed or read now: \(finding.problem)")
        }
        if left.count > namedLeftovers {
            Console.warning("the store holds \(Units.count(left.count - namedLeftovers, of: "more file")) of this kind")
        }
    }

    /// Keeps what the command line says of the catalog for later commands.
    static func rememberCatalog(_ arguments: CatalogArguments, in store: MapStore) async throws {
        let kept = try DeviceSettings.read(store.folder)
        let settings = try kept.with(arguments)
        if settings != kept { try settings.write(store.folder) }
    }

    /// The catalog, read again from its server; the tasks of the queue do not begin.
    ///
    /// - Parameter isKept: Whether later commands use this catalog too, once it was read.
    /// - Throws: ``CLIError`` with the cause when it cannot be read; `CatalogTransferError`, `StoreError`.
    static func freshCatalog(
        of store: MapStore, _ arguments: CatalogArguments, isKept: Bool = false
    ) async throws -> MapCatalog {
        let settings = try DeviceSettings.read(store.folder).with(arguments)
        guard let place = settings.place else {
            throw CLIError(
                .usage, "the store has no catalog",
                hint: "give its folder or address: --catalog https://maps.example.com/offline/")
        }
        try await store.start(.catalog)
        let catalog: MapCatalog
        do throws(StoreError) {
            catalog = try await store.refreshCatalog(ifOlderThan: .zero, allowOlder: arguments.allowOlder)
        } catch {
            guard let cause = error.failure else { throw CLIError(error) }
            switch cause {
            case .connection: throw place.unreachable(cause.words)
            case .notFound: throw place.missingIndex
            // The message has what the server said.
            case .serverError: throw CLIError(error)
            default:
                throw CLIError(
                    cause.exitStatus, "the catalog at '\(place.name)' was not read: \(cause.words)",
                    hint: Self.hint(cause))
            }
        }
        if isKept { try await rememberCatalog(arguments, in: store) }
        return catalog
    }

    private static func hint(_ cause: StoreFailure) -> String? {
        switch cause {
        case .olderCatalog: "--allow-older accepts it"
        case .badSignature: "check --public-key; --unsigned accepts catalogs without a signature"
        case .notAllowed: CatalogLocation.tokenHint
        default: nil
        }
    }
}

extension RefusedAddress {
    /// What happened and what follows.
    fileprivate var words: String {
        switch reason {
        case .wrongBytes:
            "'\(address.absoluteString)' gave bytes that are not those of the catalog; it is not asked again in this run"
        case .wrongList:
            "'\(address.absoluteString)' gave a catalog that is damaged or not signed by a trusted key; it is not asked again for an hour"
        case .olderList: "'\(address.absoluteString)' has an older catalog; another address is asked for a newer one"
        }
    }
}
