import Foundation

/// A point of the square Web Mercator world in whole units: 2^32 × 2^32, x from the west, y from the north.
///
/// One unit is about 9.3 mm at the equator; a tile of zoom 22 is 1,024 units wide. An x outside 0...``world`` is allowed
/// and means a place beyond the antimeridian of a shape that crosses it.
public struct MercatorPoint: Hashable, Sendable {
    /// The width and height of the world in units.
    public static let world: Int64 = 1 << 32

    /// Units from the western edge.
    public var x: Int64
    /// Units from the northern edge.
    public var y: Int64

    /// Makes a point from its units.
    public init(x: Int64, y: Int64) {
        self.x = x
        self.y = y
    }

    /// Projects degrees onto the nearest unit; latitudes beyond the square world are moved to its edge.
    ///
    /// The only step of a cover that uses floating point: two machines whose `sin` and `log` differ in the last bit can
    /// differ here by one unit, about once in a million points.
    ///
    /// - Parameters:
    ///   - longitude: Degrees, finite; beyond ±180 the x lies outside the world.
    ///   - latitude: Degrees, finite.
    public init(longitude: Double, latitude: Double) {
        let scale = Double(Self.world)
        let limit = BoundingBox.maxLatitude
        let sine = sin(Swift.max(-limit, Swift.min(limit, latitude)) * .pi / 180)
        let row = latitude >= limit ? 0 : latitude <= -limit ? 1 : 0.5 - log((1 + sine) / (1 - sine)) / (4 * .pi)
        x = Self.units((longitude + 180) / 360 * scale)
        y = Swift.max(0, Swift.min(Self.world, Self.units(row * scale)))
    }

    /// The longitude in degrees, -180...180 within the world.
    public var longitude: Double { Double(x) / Double(Self.world) * 360 - 180 }

    /// The latitude in degrees.
    public var latitude: Double { Self.latitude(row: Double(y) / Double(Self.world)) }

    /// The latitude of a fraction of the world's height, counted from the north.
    static func latitude(row: Double) -> Double {
        if row <= 0 { return BoundingBox.maxLatitude }
        if row >= 1 { return -BoundingBox.maxLatitude }
        return atan(sinh(.pi * (1 - 2 * row))) * 180 / .pi
    }

    /// Rounds to a whole unit within ±2^34; accepts values that are not finite.
    private static func units(_ value: Double) -> Int64 {
        Int64(Swift.max(-0x4_0000_0000, Swift.min(0x4_0000_0000, value.isFinite ? value.rounded() : 0)))
    }
}

extension TileID {
    /// The width of the tile in units of ``MercatorPoint``.
    public var units: Int64 { MercatorPoint.world >> Int64(zoom) }

    /// The north-west corner of the tile.
    public var origin: MercatorPoint { MercatorPoint(x: Int64(x) * units, y: Int64(y) * units) }

    /// The tile's rectangle in degrees.
    public var bounds: BoundingBox {
        let far = MercatorPoint(x: origin.x + units, y: origin.y + units)
        return BoundingBox(
            trustedWest: origin.longitude, south: far.latitude, east: far.longitude, north: origin.latitude)
    }
}
