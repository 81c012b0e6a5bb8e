internal import Tiles

/// The lines, borders and places of a file with an area, for a person who looks at them on a map.
struct AreaOutline: Encodable, Sendable {
    /// Longitude and latitude of the positions of each line, and of each border of a polygon, closed.
    ///
    /// A line across the antimeridian is there twice, at both edges of the world, and goes on beyond 180 degrees.
    let lines: [[[Double]]]
    /// Longitude and latitude of each single place.
    let points: [[Double]]

    /// More positions than this are too many to draw while a map is moved.
    static let mostPositions = 10_000
    /// 0.6 m at the equator: a pixel of zoom 18.
    private static let finest: Int64 = MercatorPoint.world >> 26
    /// A pixel of zoom 0.
    private static let coarsest: Int64 = MercatorPoint.world >> 8

    /// Positions are moved to pixels, which are made larger until few positions are left; what then is too much is left out.
    init(_ shape: AreaShape) {
        var lines = shape.polygons.joined().map { ring in ring + ring.prefix(1) }
        shape.lines.forEachGroup(of: PackedLines.longest) { lines += $0 }
        var points = shape.points.map { MercatorPoint(longitude: $0.longitude, latitude: $0.latitude) }
        var pixel = Self.finest
        while true {
            // What is smaller than a pixel is a place.
            let moved = lines.map { Self.moved($0, to: pixel) }
            points = Self.distinct(Self.moved(points, to: pixel) + moved.filter { $0.count == 1 }.joined())
            lines = Self.distinct(moved.filter { $0.count > 1 })
            let count = lines.reduce(points.count) { $0 + $1.count }
            guard count > Self.mostPositions, pixel < Self.coarsest else { break }
            pixel *= 2
        }
        var left = Self.mostPositions
        self.lines = lines.prefix { line in
            left -= line.count
            return left >= 0
        }.map { $0.map(Self.degrees) }
        self.points = points.prefix(max(0, left)).map(Self.degrees)
    }

    /// Moves points to pixels, and leaves out those that move onto their predecessor.
    static func moved(_ line: [MercatorPoint], to pixel: Int64) -> [MercatorPoint] {
        var result: [MercatorPoint] = []
        for point in line {
            let moved = MercatorPoint(
                x: (point.x + pixel / 2) / pixel * pixel, y: (point.y + pixel / 2) / pixel * pixel)
            if result.last != moved { result.append(moved) }
        }
        return result
    }

    /// Each once, in their order.
    private static func distinct<Value: Hashable>(_ values: [Value]) -> [Value] {
        var seen: Set<Value> = []
        return values.filter { seen.insert($0).inserted }
    }

    /// With five decimals: a metre.
    private static func degrees(_ point: MercatorPoint) -> [Double] {
        [point.longitude, point.latitude].map { ($0 * 1e5).rounded() / 1e5 }
    }
}
