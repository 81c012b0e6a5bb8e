import CatalogFormat
import Foundation
import Testing
import Tiles

@testable import OfflineMaps

/// A catalog on a server of its own, and stores that read it; everything is removed at the end of a test.
final class MapWorld: Sendable {
    /// The catalog's files, written once for all tests of the process.
    private static let catalog = Result { () throws -> (writer: CatalogWriter, key: String) in
        let root = FileManager.default.temporaryDirectory.appending(
            path: "packhorse-catalog-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        let writer = CatalogWriter(root: root)
        try writer.write()
        return (writer, try writer.key.publicKey.description)
    }

    let server: MapServer
    let folder: URL
    private let key: String

    init() throws {
        let (writer, key) = try Self.catalog.get()
        self.key = key
        server = try MapServer(writer.root)
        folder = FileManager.default.temporaryDirectory.appending(
            path: "packhorse-parity-\(UUID().uuidString)", directoryHint: .isDirectory)
    }

    deinit {
        server.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    /// The files of the catalog.
    var files: URL { get throws { try Self.catalog.get().writer.root } }

    /// The options of a store of this world.
    var options: StoreOptions {
        var options = StoreOptions(
            folder: folder.appending(path: "maps", directoryHint: .isDirectory), trust: .keys([key]))
        options.catalog = server.catalog
        options.defaultStyle = server.address("/live/style.json")
        return options
    }

    /// Ends a store and opens its folder again, as an app does that was restarted.
    func reopen(_ store: MapStore, list: Bool = true, _ between: () -> Void = {}) async throws -> MapStore {
        await store.suspend()
        between()
        // As long as the first store is held, the folder's store would be this one.
        let next = try await MapStore(alone: options)
        try await next.start()
        if list { _ = try await next.refreshCatalog() }
        return next
    }

    /// Opens and starts a store, with the list that the server has now.
    ///
    /// - Parameters:
    ///   - starts: Whether the store is started; adapters start it by themselves.
    ///   - list: Whether the list is read.
    func open(
        _ edit: (inout StoreOptions) -> Void = { _ in }, starts: Bool = true, list: Bool = true
    ) async throws -> MapStore {
        var options = options
        edit(&options)
        let store = try await MapStore.open(options)
        if starts { try await store.start() }
        if starts && list { _ = try await store.refreshCatalog() }
        return store
    }
}

extension MapStore {
    /// Installs items and waits for the end.
    func bring(_ items: Item..., rule: TaskRule = TaskRule()) async throws {
        for id in try await install(items, rule) { try await finish(id) }
    }

    /// Waits for the end of a task; fails when the task fails.
    func finish(_ id: TaskID) async throws {
        let end = await end(of: id)
        try #require(end == .done, "task \(id.number) ended as \(String(describing: end))")
    }

    /// Waits until a task has ended or failed.
    func end(of id: TaskID) async -> TaskState? {
        await state(of: id) { state in
            if case .failed = state { true } else { state.isOver }
        }
    }

    /// Waits until a task is in a state; the end of the task is the end of the wait.
    ///
    /// - Returns: The last state that was seen; `done` for a task that has no row any more.
    func state(of id: TaskID, _ isWanted: @escaping @Sendable (TaskState) -> Bool) async -> TaskState? {
        let events = events
        let now = try? await tasks().first { $0.id == id }
        guard var last = now?.state else { return .done }
        if isWanted(last) { return last }
        for await event in events {
            guard case .task(let task) = event, task.id == id else { continue }
            last = task.state
            if isWanted(last) || last.isOver { break }
        }
        return last
    }
}
