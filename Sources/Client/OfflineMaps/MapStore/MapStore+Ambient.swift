internal import Files
public import Foundation

extension MapStore {
    /// Puts a resource or a tile into the ambient cache, as if it had been viewed.
    ///
    /// A cache that is off or cannot be written keeps nothing; that is no error, because nothing depends on it.
    ///
    /// - Parameters:
    ///   - body: The bytes, uncompressed.
    ///   - url: The address that the style has for it, of http or https.
    ///   - freshness: Until when it is fresh; without an expiry, for a day.
    /// - Throws: `invalid-arguments` for another address.
    public func preload(_ body: Data, for url: URL, _ freshness: Freshness = .init()) async throws(StoreError) {
        guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https", url.host != nil else {
            throw .failing(.invalidArguments, "'\(url.absoluteString)' is not an address of http or https.")
        }
        let entry = AmbientEntry(
            address: url.absoluteString, body: body, mediaType: StoredBody.imageType(body), etag: freshness.eTag,
            modified: freshness.modified, expires: freshness.expires, mustRevalidate: freshness.mustRevalidate,
            checked: Date())
        await ambient { $0.insert(entry) }
    }

    /// Removes everything from the ambient cache; the space on disk is free when the call returns.
    public func clearAmbientCache() async throws(StoreError) { await ambient { $0.clear() } }

    /// Lets the servers be asked about everything in the ambient cache before its next use.
    ///
    /// Nothing is downloaded now, and everything stays visible without a network.
    public func refreshAmbientCache() async throws(StoreError) { await ambient { $0.expire() } }

    private func ambient(_ body: @escaping @Sendable (AmbientCache) -> Void) async {
        let cache = worker.shared.web.ambient
        // The calls of the cache never fail.
        _ = try? await FileWork.run { body(cache) }
    }
}

extension MapSource {
    /// Shows the tiles of a tileset.
    ///
    /// - Parameters:
    ///   - tileset: The tileset of the store; also the name of what is viewed in the ambient cache.
    ///   - online: The server of the tiles; without one only what is here is shown.
    ///   - use: What the store is used for.
    ///   - pixelRatio: With 2 or more, `{ratio}` of the server's address becomes `@2x`.
    public convenience init(
        _ store: MapStore, tileset: String, online: OnlineSource? = nil, use: StoreUse = .readOnly,
        pixelRatio: Double = 1
    ) {
        self.init(
            store.tiles, store.worker.shared.web, tileset: tileset, online: online, use: use, isDense: pixelRatio >= 1.5
        ) { [weak store] tile in await store?.loadPack(of: tileset, with: tile) }
    }
}
