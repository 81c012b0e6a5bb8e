internal import OfflineMaps
internal import Tiles

/// Downloads boxes: a box is a region of one tileset, made of the tile packs of the catalog.
struct BoxDownload: Sendable {
    let store: MapStore
    let edition: Edition
    /// `nil` is the tileset of the catalog.
    let tileset: String?

    /// Registers the region of a box, unless there is one, and downloads what it lacks.
    func run(_ box: BoxID) async throws(StoreError) {
        let region = RegionID(box.text)
        let isNew = try await store.region(region) == nil
        if isNew { try await store.addRegion(region, try await definition(box)) }
        do throws(StoreError) { _ = try await store.load(region) } catch {
            // The call is refused as a whole; a region that stays has no tiles.
            if isNew { _ = try? await store.remove([.region(region)]) }
            throw error
        }
    }

    private func definition(_ box: BoxID) async throws(StoreError) -> RegionDefinition {
        // A box needs no list of the app's.
        if await store.catalog == nil { _ = try await store.refreshCatalog() }
        let packages = await store.catalog?.packages.filter { $0.edition == edition } ?? []
        guard let tileset = tileset ?? packages.lazy.compactMap(\.tileset).first else {
            throw StoreError(.notInCatalog, "No tileset is known for '\(box.text)'.")
        }
        guard packages.contains(where: { $0.tileset == tileset && $0.hasTilePacks }) else {
            throw StoreError(
                .notInCatalog, "The catalog has no tile packs of the tileset '\(tileset)' for '\(box.text)'.",
                advice: "The publisher adds them with 'packhorse packs'.")
        }
        let deepest = packages.compactMap { $0.zooms?.max }.max() ?? 14
        return RegionDefinition(
            .box(box.box), zooms: ZoomRange(min: 0, max: deepest) ?? .all, sources: [.tileset(tileset, edition)])
    }
}
