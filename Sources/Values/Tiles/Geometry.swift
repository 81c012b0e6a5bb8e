/// A place in degrees.
public struct Coordinate: Hashable, Sendable {
    /// Degrees east; beyond ±180 within a geometry that crosses the antimeridian.
    public var longitude: Double
    /// Degrees north, -90...90.
    public var latitude: Double

    /// Makes a place from degrees.
    public init(longitude: Double, latitude: Double) {
        self.longitude = longitude
        self.latitude = latitude
    }
}

/// Points, lines and polygons in degrees, as GeoJSON gives them; features and collections are split into their parts.
public struct Geometry: Hashable, Codable, Sendable {
    /// Single points.
    public var points: [Coordinate]
    /// Lines.
    public var lines: [[Coordinate]]
    /// Polygons, each a list of rings: outer ones and holes alike, filled by the even-odd rule.
    public var polygons: [[[Coordinate]]]

    /// Makes a geometry of its parts.
    public init(points: [Coordinate] = [], lines: [[Coordinate]] = [], polygons: [[[Coordinate]]] = []) {
        self.points = points
        self.lines = lines
        self.polygons = polygons
    }

    /// Whether there is nothing in it.
    public var isEmpty: Bool { points.isEmpty && lines.isEmpty && polygons.isEmpty }

    /// The box around all parts, `nil` if there are none.
    ///
    /// The narrowest that the parts allow, so it crosses the
    /// antimeridian where they do.
    public var boundingBox: BoundingBox? {
        var boxes = points.compactMap { Self.box(around: [$0]) }
        boxes += lines.compactMap { Self.box(around: $0) }
        boxes += polygons.compactMap { Self.box(around: Array($0.joined())) }
        // In order from west to east, so that the union grows over neighbours and not over gaps.
        boxes.sort { ($0.west, $0.east) < ($1.west, $1.east) }
        guard let first = boxes.first else { return nil }
        return boxes.dropFirst().reduce(first) { $0.union($1) }
    }

    private static func box(around places: [Coordinate]) -> BoundingBox? {
        guard let first = places.first else { return nil }
        var (west, east, south, north) = (first.longitude, first.longitude, first.latitude, first.latitude)
        for place in places {
            west = min(west, place.longitude)
            east = max(east, place.longitude)
            south = min(south, place.latitude)
            north = max(north, place.latitude)
        }
        if east - west >= 360 { return BoundingBox(trustedWest: -180, south: south, east: 180, north: north) }
        return BoundingBox(
            trustedWest: Antimeridian.normalized(west, isWest: true), south: south,
            east: Antimeridian.normalized(east, isWest: false),
            north: north)
    }
}
