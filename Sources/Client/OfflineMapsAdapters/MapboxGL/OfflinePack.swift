public import Foundation
public import OfflineMaps
internal import Synchronization

/// An offline pack of Mapbox GL: a region of the store.
///
/// The object shows the region as it was at the last event of the store.
public final class OfflinePack: Hashable, Sendable {
    struct View: Sendable {
        var definition: RegionDefinition
        var context: Data
        var state: PackState
        var progress: PackProgress
    }

    /// The name of the region in the store.
    public let id: RegionID
    private let view: Mutex<View>
    private let storage: PackCommands

    init(_ id: RegionID, _ view: View, commands storage: PackCommands) {
        self.id = id
        self.view = Mutex(view)
        self.storage = storage
    }

    /// What the pack is to hold.
    public var region: any OfflineRegion { view.withLock { $0.definition }.offlineRegion }
    /// The app's own data.
    public var context: Data { view.withLock { $0.context } }
    /// Where the pack is.
    public var state: PackState { view.withLock { $0.state } }
    /// How far the pack is.
    public var progress: PackProgress { view.withLock { $0.progress } }

    /// Replaces the app's own data.
    ///
    /// - Throws: `wrongState` when the pack was removed.
    public func setContext(_ context: Data) async throws(StoreError) {
        guard state != .invalid else { throw Self.removed(id) }
        try await storage.store.setContext(context, of: id)
        view.withLock { $0.context = context }
    }

    /// Begins or continues the download, and starts the store; changes of the storage report its result.
    public func resume() {
        guard state != .invalid else { return }
        storage.resume(self)
    }

    /// Stops the download; what is there stays, also over a restart of the app.
    public func suspend() {
        guard state != .invalid else { return }
        storage.suspend(self)
    }

    /// Lets the storage report the progress once more.
    public func requestProgress() {
        guard state != .invalid else { return }
        storage.requestProgress(self)
    }

    /// Shows the region as it is now; `false` when nothing changed.
    ///
    /// What was removed stays removed.
    func show(_ new: View) -> Bool {
        view.withLock { view in
            guard view.state != .invalid else { return false }
            defer { view = new }
            return view.state != new.state || view.progress != new.progress
        }
    }

    func invalidate() { view.withLock { $0.state = .invalid } }

    /// Whether both are the same object.
    public static func == (one: OfflinePack, other: OfflinePack) -> Bool { one === other }
    /// Hashes the identity of the object.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    static func removed(_ id: RegionID) -> StoreError {
        StoreError(.wrongState, "The pack '\(id.text)' was removed.", advice: "Take a pack from the storage's list.")
    }
}
