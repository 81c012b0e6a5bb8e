public import Foundation
public import OfflineMaps

extension OfflineStorage {
    /// The folder of the store; the SDK has one file for packs and cache.
    public var databaseURL: URL { store.folder }

    /// The path of the folder of the store.
    public var databasePath: String { store.folder.path }

    /// The bytes of everything on disk, also of the ambient cache.
    public var countOfBytesCompleted: UInt64 {
        // 0 for a store that cannot be read: the SDK's property has no errors.
        get async { (try? await store.usage())?.total ?? 0 }
    }

    /// Sets how many tiles may be added by single requests; what is there stays.
    public func setMaximumAllowedTiles(_ count: UInt64) async throws(StoreError) {
        var quota = try await store.quota()
        quota.onlineTiles = count
        try await store.setQuota(quota)
    }

    /// Sets the most bytes of the ambient cache; 0 turns it off.
    ///
    /// Packs do not count towards it.
    public func setMaximumAmbientCacheSize(_ bytes: UInt64) async throws(StoreError) {
        var quota = try await store.quota()
        quota.ambientBytes = bytes
        try await store.setQuota(quota)
    }

    /// Has the ambient cache ask the server before it uses what it holds; offline, everything stays usable.
    public func invalidateAmbientCache() async throws(StoreError) { try await store.refreshAmbientCache() }

    /// Empties the ambient cache; packs stay.
    public func clearAmbientCache() async throws(StoreError) { try await store.clearAmbientCache() }

    /// Removes everything: packs, packages, tasks and the ambient cache.
    public func resetDatabase() async throws(StoreError) {
        try await store.reset()
        await reloadPacks()
    }

    /// Puts a resource into the ambient cache, as if a map had requested it.
    ///
    /// - Parameter data: The uncompressed bytes.
    /// - Returns: The address, as in the SDK.
    @discardableResult
    public func preload(
        _ data: Data, for url: URL, modified: Date? = nil, expires: Date? = nil, eTag: String? = nil,
        mustRevalidate: Bool = false
    ) async throws(StoreError) -> URL {
        var freshness = Freshness()
        (freshness.modified, freshness.expires, freshness.eTag) = (modified, expires, eTag)
        freshness.mustRevalidate = mustRevalidate
        try await store.preload(data, for: url, freshness)
        return url
    }
}
