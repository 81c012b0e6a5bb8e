public import Errors

/// A rectangle of longitudes and latitudes in degrees; `west > east` means that it crosses the antimeridian.
///
/// Latitudes are clipped to what Web Mercator can show, ±``maxLatitude``.
public struct BoundingBox: Hashable, Sendable {
    /// The latitude of the edge of the square world, 2 * atan(exp(pi)) - pi / 2 in degrees.
    public static let maxLatitude = 85.051_128_779_806_6
    /// The whole world.
    public static let world = BoundingBox(trustedWest: -180, south: -maxLatitude, east: 180, north: maxLatitude)

    /// The western longitude, -180...180.
    public let west: Double
    /// The southern latitude, at most ``north``.
    public let south: Double
    /// The eastern longitude, -180...180; less than ``west`` when the box crosses the antimeridian.
    public let east: Double
    /// The northern latitude.
    public let north: Double

    /// Makes a box; latitudes within ±90 are clipped to ±``maxLatitude``.
    ///
    /// - Throws: ``TilesError`` `.badBox` when a number is not finite or out of range, or south lies north of north.
    public init(west: Double, south: Double, east: Double, north: Double) throws(TilesError) {
        for (name, value, limit) in [
            ("west", west, 180.0), ("south", south, 90), ("east", east, 180), ("north", north, 90),
        ] where !(value >= -limit && value <= limit) {
            throw TilesError(
                .badBox, "Bounding box has \(name) \(value); expected degrees within -\(Int(limit))...\(Int(limit)).")
        }
        guard south <= north else {
            throw TilesError(
                .badBox,
                "Bounding box has south \(south) above north \(north); expected west,south,east,north in degrees.")
        }
        self.init(trustedWest: west, south: south, east: east, north: north)
    }

    init(trustedWest west: Double, south: Double, east: Double, north: Double) {
        self.west = west
        self.east = east
        self.south = Swift.max(-Self.maxLatitude, Swift.min(Self.maxLatitude, south))
        self.north = Swift.max(-Self.maxLatitude, Swift.min(Self.maxLatitude, north))
    }

    /// Whether the box runs eastwards over longitude 180.
    public var crossesAntimeridian: Bool { west > east }

    /// The width of the box in degrees of longitude, 0...360.
    public var width: Double { crossesAntimeridian ? east - west + 360 : east - west }

    /// The middle of the box in degrees, of longitudes and latitudes each.
    public var center: (longitude: Double, latitude: Double) {
        let middle = west + width / 2
        return (middle > 180 ? middle - 360 : middle, (south + north) / 2)
    }

    /// West, south, east, north with west at most east: a box over longitude 180 has the whole width.
    ///
    /// For `bounds` of TileJSON 3.0, MBTiles and PMTiles: TileJSON forbids a west above the east, and renderers then draw
    /// few tiles or none. The exact shape is in the tile mask.
    public var flatEdges: [Double] { crossesAntimeridian ? [-180, south, 180, north] : [west, south, east, north] }

    /// The box or boxes that cover the same area without crossing the antimeridian.
    public var parts: [BoundingBox] {
        crossesAntimeridian
            ? [
                BoundingBox(trustedWest: west, south: south, east: 180, north: north),
                BoundingBox(trustedWest: -180, south: south, east: east, north: north),
            ] : [self]
    }

    /// The narrowest box that holds both; it crosses the antimeridian when that is the shorter way round.
    public func union(_ other: BoundingBox) -> BoundingBox {
        let south = Swift.min(south, other.south)
        let north = Swift.max(north, other.north)
        let plain = BoundingBox(
            trustedWest: Swift.min(west, other.west), south: south, east: Swift.max(east, other.east), north: north)
        let candidates = [
            crossesAntimeridian || other.crossesAntimeridian ? nil : plain,
            BoundingBox(trustedWest: west, south: south, east: other.east, north: north),
            BoundingBox(trustedWest: other.west, south: south, east: east, north: north),
            self.spanning(south, north), other.spanning(south, north),
        ]
        var best = BoundingBox(trustedWest: -180, south: south, east: 180, north: north)
        for candidate in candidates.compactMap({ $0 })
        where candidate.width < best.width && candidate.holdsLongitudes(of: self)
            && candidate.holdsLongitudes(of: other)
        {
            best = candidate
        }
        return best
    }

    private func spanning(_ south: Double, _ north: Double) -> BoundingBox {
        BoundingBox(trustedWest: west, south: south, east: east, north: north)
    }

    private func holdsLongitudes(of other: BoundingBox) -> Bool {
        let start = other.west < west ? other.west + 360 : other.west
        return start - west + other.width <= width || width == 360
    }
}
