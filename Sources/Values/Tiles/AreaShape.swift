/// What a file or a region contains, in the form from which tiles are covered; lines are packed.
///
/// It is filled feature by feature, so that a file need not be in memory at once.
package struct AreaShape: Sendable {
    /// Single places, in degrees, for a radius around them.
    package private(set) var points: [Coordinate] = []
    /// All lines.
    package private(set) var lines = PackedLines()
    /// All polygons, each a list of rings, filled by the even-odd rule.
    package private(set) var polygons: [[[MercatorPoint]]] = []
    /// Edges that can be read in two ways.
    package private(set) var longEdges: Geometry.LongEdges?
    private var boxes: [BoundingBox] = []

    /// Lines are covered in groups of so many positions, and the covers are joined.
    static let groupPositions = 1 << 15

    package init() {}

    /// The shape of a geometry.
    package init(_ geometry: Geometry) { add(geometry) }

    /// The polygons of a shape; its bounds are not known.
    package init(polygons shape: MercatorShape) { polygons = shape.polygons }

    /// Adds the parts of a geometry; edges that can be read in two ways are counted.
    package mutating func add(_ geometry: Geometry) {
        add(geometry, edges: geometry.longEdges)
    }

    /// Adds a line each of whose edges goes the short way round the world: none is longer than 180 degrees.
    package mutating func add(route line: [Coordinate]) {
        add(Geometry(lines: [line]), edges: nil)
    }

    private mutating func add(_ geometry: Geometry, edges: Geometry.LongEdges?) {
        guard !geometry.isEmpty else { return }
        points += geometry.points
        let shape = MercatorShape(Geometry(lines: geometry.lines, polygons: geometry.polygons))
        for line in shape.lines { lines.append(line) }
        polygons += shape.polygons
        if let box = geometry.boundingBox { boxes.append(box) }
        if let edges {
            longEdges =
                longEdges.map {
                    Geometry.LongEdges(count: $0.count + edges.count, from: $0.from, to: $0.to)
                } ?? edges
        }
    }

    /// The same with circles of a radius in place of the points; 0 changes nothing.
    package func circled(radiusMeters: Double) -> AreaShape {
        guard radiusMeters > 0 else { return self }
        var other = self
        other.points = []
        other.add(Geometry.circles(points: points, radiusMeters: radiusMeters))
        return other
    }

    /// Whether there is nothing in it.
    package var isEmpty: Bool { points.isEmpty && lines.isEmpty && polygons.isEmpty }

    /// The narrowest box that the parts allow; `nil` without parts.
    package var bounds: BoundingBox? {
        // In order from west to east, so that the union grows over neighbours and not over gaps.
        let ordered = boxes.sorted { ($0.west, $0.east) < ($1.west, $1.east) }
        guard let first = ordered.first else { return nil }
        return ordered.dropFirst().reduce(first) { $0.union($1) }
    }

    /// Points and polygons, without the lines.
    var withoutLines: MercatorShape {
        var shape = MercatorShape(Geometry(points: points))
        shape.polygons = polygons
        return shape
    }

    /// Every tile that the shape touches, down to a zoom.
    package func mask(_ maxZoom: Int) -> TileMask {
        var union = TileMaskUnion(maxZoom: maxZoom)
        union.add(TileMask(covering: withoutLines, maxZoom: maxZoom))
        lines.forEachGroup(of: Self.groupPositions) { group in
            union.add(TileMask(covering: MercatorShape(lines: group), maxZoom: maxZoom))
        }
        return union.mask
    }
}

/// The union of masks that come one after another.
///
/// Masks are joined with others of the same number of parts, so that many do not each cost a walk over the sum of those before.
struct TileMaskUnion {
    private let maxZoom: Int
    private var stack: [(parts: Int, mask: TileMask)] = []

    init(maxZoom: Int) { self.maxZoom = maxZoom }

    mutating func add(_ mask: TileMask) {
        guard !mask.isEmpty else { return }
        var top = (parts: 1, mask: mask)
        while let below = stack.last, below.parts <= top.parts {
            top = (below.parts + top.parts, below.mask.union(top.mask))
            stack.removeLast()
        }
        stack.append(top)
    }

    var mask: TileMask {
        stack.reversed().reduce(TileMask(empty: maxZoom)) { $0.union($1.mask) }
    }
}
