/// Points, lines and polygons in the whole units of ``MercatorPoint``: what a mask covers.
///
/// A polygon is a list of rings, filled by the even-odd rule and closed automatically; its area and all its edges
/// belong to the shape. A ring of one or two points is still a point or a segment. The shape is the union of all its
/// parts, so joining shapes is appending. Edges are straight on the Mercator plane.
public struct MercatorShape: Hashable, Sendable {
    /// Single points.
    public var points: [MercatorPoint]
    /// Open lines.
    public var lines: [[MercatorPoint]]
    /// Polygons, each a list of rings.
    public var polygons: [[[MercatorPoint]]]

    /// Makes a shape of its parts.
    ///
    /// Coordinates beyond ±2^34 units are moved there when the shape is covered.
    public init(points: [MercatorPoint] = [], lines: [[MercatorPoint]] = [], polygons: [[[MercatorPoint]]] = []) {
        self.points = points
        self.lines = lines
        self.polygons = polygons
    }

    /// Makes the shape of a box: one rectangle, or two when the box crosses the antimeridian.
    ///
    /// Its cover is every tile whose closed square meets the closed box, as the CARTO client counts bbox packages.
    public init(_ box: BoundingBox) {
        self.init(
            polygons: box.parts.map { part in
                let first = MercatorPoint(longitude: part.west, latitude: part.north)
                let last = MercatorPoint(longitude: part.east, latitude: part.south)
                return [[first, MercatorPoint(x: last.x, y: first.y), last, MercatorPoint(x: first.x, y: last.y)]]
            })
    }

    /// Whether the shape has no part at all.
    public var isEmpty: Bool {
        points.isEmpty && lines.allSatisfy(\.isEmpty) && polygons.allSatisfy { $0.allSatisfy(\.isEmpty) }
    }

    /// Adds the parts of another shape.
    public mutating func formUnion(_ other: MercatorShape) {
        points += other.points
        lines += other.lines
        polygons += other.polygons
    }

    /// The parts of both shapes.
    public func union(_ other: MercatorShape) -> MercatorShape {
        var union = self
        union.formUnion(other)
        return union
    }
}
