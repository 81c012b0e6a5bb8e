public import OfflineMaps
internal import Synchronization

/// The store behind `OfflineStorage.shared()` and `MapLoader.shared()`.
///
/// The SDKs with shared objects find folder and server by themselves. A store needs to know whose catalogs it accepts,
/// so the app opens it and names it here once, at its start.
public enum SharedStore {
    private struct State {
        var store: MapStore?
        var storage: OfflineStorage?
        var loader: MapLoader?
    }
    private static let state = Mutex(State())

    /// Makes a store the shared one; objects that were shared before keep their store.
    public static func use(_ store: MapStore) {
        state.withLock { $0 = State(store: store) }
    }

    static func storage() throws(StoreError) -> OfflineStorage {
        let found = state.withLock { state -> OfflineStorage? in
            if state.storage == nil, let store = state.store { state.storage = OfflineStorage(store) }
            return state.storage
        }
        guard let found else { throw missing }
        return found
    }

    static func loader() throws(StoreError) -> MapLoader {
        let found = state.withLock { state -> MapLoader? in
            if state.loader == nil, let store = state.store { state.loader = MapLoader(store) }
            return state.loader
        }
        guard let found else { throw missing }
        return found
    }

    private static var missing: StoreError {
        StoreError(
            .wrongState, "No store is shared.",
            advice: "Open a store at the start of the app and give it to SharedStore.use.")
    }
}
