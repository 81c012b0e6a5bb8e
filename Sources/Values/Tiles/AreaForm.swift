/// What an area is made of: shapes, and sets of them.
///
/// Its tiles follow at any zoom.
package indirect enum AreaForm: Sendable {
    /// Every tile.
    case world
    /// A shape, made when it is needed, and the margin around it.
    case shape(@Sendable () -> AreaShape, Margin?)
    /// Tiles as they are; deeper ones are all those below the deepest.
    case tiles(TileMask)
    /// What any of the areas touches.
    case union([AreaForm])
    /// What all of the areas touch.
    case intersection([AreaForm])
    /// The first area without the tiles that the second one covers wholly.
    case difference(AreaForm, AreaForm)

    /// Every tile of the area down to a zoom, with all its parents.
    package func mask(_ maxZoom: Int) -> TileMask {
        switch self {
        case .world: return TileMask(full: maxZoom)
        case .shape(let shape, let margin):
            return margin.map { shape().mask(maxZoom, within: $0) } ?? shape().mask(maxZoom)
        case .tiles(let mask): return mask.fitted(to: maxZoom)
        case .union(let areas): return TileMask(union: areas.map { $0.mask(maxZoom) }) ?? TileMask(empty: maxZoom)
        case .intersection(let areas):
            let masks = areas.map { $0.mask(maxZoom) }
            return masks.dropFirst().reduce(masks.first ?? TileMask(empty: maxZoom)) { $0.intersection($1) }
        case .difference(let area, let removed):
            return area.mask(maxZoom).subtracting(covered: removed.covered(maxZoom))
        }
    }

    /// A mask whose complete parts are the tiles that the area covers wholly.
    ///
    /// Several shapes of a union cover a tile only if one of them does, or if each of its parts down to the deepest zoom is covered by one.
    package func covered(_ maxZoom: Int) -> TileMask {
        switch self {
        case .world: return TileMask(full: maxZoom)
        case .shape(let shape, let margin): return shape().covered(maxZoom, within: margin)
        // A tile above the deepest of a mask may be there because of one below it.
        case .tiles(let mask):
            return mask.maxZoom <= maxZoom ? mask.fitted(to: maxZoom) : TileMask(empty: maxZoom)
        case .union(let areas): return TileMask(union: areas.map { $0.covered(maxZoom) }) ?? TileMask(empty: maxZoom)
        case .intersection(let areas):
            let masks = areas.map { $0.covered(maxZoom) }
            return masks.dropFirst().reduce(masks.first ?? TileMask(empty: maxZoom)) { $0.intersection($1) }
        case .difference(let area, let removed):
            // Wholly covered is a tile of which nothing was removed.
            return area.covered(maxZoom).subtracting(removed.mask(maxZoom))
        }
    }

    /// The area with a margin around each of its shapes; what is removed from it or cuts it stays as it is.
    package func widened(by margin: Margin) -> AreaForm {
        switch self {
        case .world, .tiles: self
        case .shape(let shape, _): .shape(shape, margin)
        case .union(let areas): .union(areas.map { $0.widened(by: margin) })
        case .intersection(let areas):
            .intersection((areas.first.map { [$0.widened(by: margin)] } ?? []) + areas.dropFirst())
        case .difference(let area, let removed): .difference(area.widened(by: margin), removed)
        }
    }
}

extension TileMask {
    /// The mask with everything below its deepest tiles, or cut at a shallower zoom.
    func fitted(to zoom: Int) -> TileMask { zoom > maxZoom ? expanded(toZoom: zoom) : clipped(toZoom: zoom) }
}
