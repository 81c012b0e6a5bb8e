internal import CatalogFormat
internal import Tiles

extension Planner {
    /// Adds the pack that has a viewed tile, of the smallest package of the tileset; it has no holder, so the store
    /// removes it when regions need the space.
    func addPack(
        _ viewed: ViewedTile, _ task: TaskRecord, in view: PlanView, to draft: inout PlanDraft
    ) async throws(PlanProblem) {
        guard let tile = TileID(zoom: viewed.zoom, x: viewed.column, y: viewed.row) else {
            throw .failed(.invalidArguments)
        }
        let offers = (view.content?.offers ?? []).filter { offer in
            (offer.tileset ?? offer.id) == viewed.tileset && offer.group == nil && offer.language == nil
                && offer.packs != nil
                && tile.ancestor(atZoom: min(tile.zoom, offer.mask.maxZoom)).map(offer.mask.contains) ?? false
        }
        .sorted { ($0.mask.share, $0.id) < ($1.mask.share, $1.id) }
        for offer in offers {
            let offered = try await packs(of: offer, view)
            let pack = offered.list.packs.first { pack in
                pack.zooms.contains(tile.zoom) && tile.ancestor(atZoom: pack.index.zoom) == pack.index
            }
            if let pack { return try add(pack, of: offered, holder: nil, task, in: view, to: &draft) }
        }
        throw .failed(.notInCatalog)
    }
}
