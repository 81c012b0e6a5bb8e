internal import CommandSupport
import Errors
import Foundation
import OfflineMaps

/// Opens the store of a command.
enum DeviceStore {
    /// Opens a store that exists.
    ///
    /// - Throws: ``CLIError`` 66 when the folder is no store; `StoreError`.
    static func existing(
        _ arguments: StoreArguments, _ catalog: CatalogArguments? = nil
    ) async throws -> MapStore {
        let folder = try arguments.folder
        guard FileKind.isThere(folder.appending(path: "store.sqlite")) else {
            throw CLIError(
                .noInput, "'\(folder.path)' is not a store",
                hint: "make one: packhorse device install ID --catalog ADDRESS --store '\(folder.path)'")
        }
        return try await open(folder, catalog)
    }

    /// Opens a store, and makes it where it does not exist.
    static func made(_ arguments: StoreArguments, _ catalog: CatalogArguments? = nil) async throws -> MapStore {
        try await open(try arguments.folder, catalog)
    }

    /// Runs `body` with the store, or with an empty store in a temporary folder where it does not exist.
    ///
    /// For commands that change nothing.
    static func looking<Value: Sendable>(
        _ arguments: StoreArguments, _ catalog: CatalogArguments, _ body: (MapStore) async throws -> Value
    ) async throws -> Value {
        let isNamed = arguments.store != nil || Variable.value("PACKHORSE_STORE") != nil
        if isNamed, FileKind.isThere(try arguments.folder.appending(path: "store.sqlite")) {
            return try await body(try await open(try arguments.folder, catalog, isKept: false))
        }
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "packhorse-device-\(UUID().uuidString)", directoryHint: .isDirectory)
        // A temporary folder that stays is removed by the system.
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await open(folder, catalog, isKept: false)
        let value = try await body(store)
        await store.stop()
        return value
    }

    private static func open(
        _ folder: URL, _ catalog: CatalogArguments?, isKept: Bool = true
    ) async throws -> MapStore {
        let before = try DeviceSettings.read(folder)
        let settings = try catalog.map { try before.with($0) } ?? before
        var options = StoreOptions(folder: folder, trust: settings.trust)
        options.catalog = settings.address
        options.fetcher = try DeviceFetcher(folder: settings.folder)
        let store = try await MapStore.open(options)
        if isKept, settings != before { try settings.write(folder) }
        return store
    }

    /// The catalog, read again from its server; the store is started for it, so tasks of its queue continue too.
    ///
    /// - Throws: ``CLIError`` with the cause when it cannot be read; `StoreError`.
    static func freshCatalog(of store: MapStore, _ arguments: CatalogArguments) async throws -> MapCatalog {
        await store.start()
        do throws(StoreError) {
            return try await store.refreshCatalog(ifOlderThan: .zero, allowOlder: arguments.allowOlder)
        } catch {
            guard let cause = error.failure else {
                let isWithout = error.code == .invalidArguments
                throw isWithout
                    ? CLIError(
                        .usage, "the store has no catalog",
                        hint: "give its folder or address: --catalog https://maps.example.com/offline/")
                    : CLIError(error)
            }
            throw CLIError(
                cause.exitStatus, "the catalog was not read: \(cause.words)", hint: Self.hint(cause))
        }
    }

    private static func hint(_ cause: OfflineMaps.FailureCause) -> String? {
        switch cause {
        case .olderCatalog: "--allow-older accepts it"
        case .badSignature: "check --public-key; --unsigned accepts catalogs without a signature"
        case .notFound: "check the address of the catalog"
        default: nil
        }
    }
}
