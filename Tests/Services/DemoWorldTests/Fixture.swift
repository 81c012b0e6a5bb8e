import Regions
import Tiles

@testable import DemoWorld
@testable import WorldTiles

/// The embedded world and one cutter over it, made once.
enum Fixture {
    static let tree: Result<RegionTree, any Error> = Result { try RegionTree.embedded() }
    static let cutter: Result<TileCutter, any Error> = Result { TileCutter(tree: try tree.get()) }

    /// The tile of a place.
    static func tile(_ longitude: Double, _ latitude: Double, zoom: Int) -> TileID? {
        let point = MercatorPoint(longitude: longitude, latitude: latitude)
        return TileID(
            zoom: zoom, x: Int(point.x >> Int64(32 - zoom)), y: Int(point.y >> Int64(32 - zoom)))
    }

    /// Places at borders, coasts, islands, inland, at the antimeridian and near the poles.
    static let places: [(Double, Double)] = [
        (13.4, 52.5), (7.6, 47.6), (6.1, 49.5), (9.5, 47.2), (7.42, 43.74), (24.75, 59.4), (27.5, 57.7), (10.2, 56.1),
        (-3.2, 55.9), (-122.3, 49.0), (-79.0, 43.2), (-100, 49), (28.5, -29.5), (12.45, 41.9), (12.45, 43.94),
        (180, 68.5), (-179.9, 71), (178.5, -18), (-179.99, -16.7), (0, -84.9), (0.01, 51.5), (-17.9, 64.4), (2.1, 41.4),
        (30, 31), (37.6, 55.7), (139.7, 35.7), (103.8, 1.35), (-68, -54.8), (172.6, -43.5), (20.5, 54.7), (44.5, 40.2),
        (35.2, 31.8), (74.3, 37.2), (114.1, 22.5), (-58.4, -34.6), (55.5, -4.6), (-90, 0), (25.0, 35.2), (14.5, 35.9),
    ]
}
