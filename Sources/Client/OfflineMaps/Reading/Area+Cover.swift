internal import Tiles

extension Area {
    /// The tiles of the area down to a zoom, at the zoom and above it.
    func cover(toZoom zoom: Int) -> TileMask {
        switch self {
        case .box(let box): TileMask(covering: MercatorShape(box), maxZoom: zoom)
        case .geometry(let geometry): TileMask(covering: MercatorShape(geometry), maxZoom: zoom)
        case .around(let places, let meters):
            TileMask(
                covering: MercatorShape(Geometry.circles(points: places, radiusMeters: max(0, meters))), maxZoom: zoom)
        case .mask(let mask): mask.maxZoom >= zoom ? mask.clipped(toZoom: zoom) : mask.expanded(toZoom: zoom)
        }
    }
}
