import Tiles

/// The boundary of an imported region at full fixed-point precision.
struct ImportedShape: Sendable {
    let polygons: [[[MercatorPoint]]]

    func contains(_ point: MercatorPoint) -> Bool {
        polygons.contains { PointInRings.contains(point, $0) }
    }
}
