import Foundation

/// A part of an edge on the Mercator plane, and how far the margin reaches around it there; all in units of ``MercatorPoint``.
struct CorridorSegment {
    let x0: Double
    let y0: Double
    let x1: Double
    let y1: Double
    /// What lies farther away than this is farther than the margin on the ellipsoid.
    let reach: Double
    /// What lies nearer than this is within the margin on the ellipsoid; below 0 nothing is.
    let inner: Double
}

/// The margin around the edges of a shape, as segments with a distance each; near the poles as boxes.
///
/// A distance m on WGS 84 is at most the angle m / a(1 - e²) on the unit sphere of latitude and longitude, because no radius of curvature
/// is smaller, and at least m / (a² / b). A path of the angle d that stays below the latitude f + d is at most d / cos(f + d) long on the
/// Mercator plane. Edges are cut until the cosines of their ends differ by less than 1 %, so that the reach is little too wide.
struct Corridor {
    /// WGS 84's smallest radius of curvature, a (1 - e²), in metres.
    private static let smallestRadius = 6_335_439.3
    /// WGS 84's largest radius of curvature, a² / b, in metres.
    private static let largestRadius = 6_399_593.7
    /// From this latitude on the plane is too stretched for a distance around an edge: 88 degrees.
    private static let steep = 88 * Double.pi / 180
    /// Positions are rounded to units: 0.71 units from where they were, at each end; the rest is for doubles.
    private static let rounding = 1.5

    private(set) var segments: [CorridorSegment] = []
    /// Boxes around edges near a pole; they cover the margin, but tiles are never wholly within it because of them.
    private(set) var boxes = MercatorShape()

    /// The angle that no point within the margin exceeds.
    private let angle: Double
    /// The angle within which every point is within the margin.
    private let innerAngle: Double
    /// How far simplifying moves an edge at most.
    private let tolerance: Double

    private static let world = Double(MercatorPoint.world)

    /// - Parameters:
    ///   - meters: The margin, above 0.
    ///   - maxZoom: The deepest zoom that is covered: edges are simplified by 1/64 of its tiles.
    init(meters: Double, maxZoom: Int) {
        angle = meters / Self.smallestRadius
        innerAngle = meters / Self.largestRadius
        tolerance = Self.world / Double(1 << TileMask.clamped(maxZoom)) / 64
    }

    /// Forgets the edges.
    mutating func removeAll() {
        segments.removeAll(keepingCapacity: true)
        boxes = MercatorShape()
    }

    mutating func add(point: MercatorPoint) {
        let place = Place(point)
        add(place, place)
    }

    /// Adds a line; a closed one gets the edge from its end to its start.
    mutating func add(line: [MercatorPoint], isClosed: Bool) {
        var places = line.map(Place.init)
        guard let first = places.first, let last = places.last else { return }
        if places.count == 1 { return add(first, first) }
        if isClosed, last.x != first.x || last.y != first.y { places.append(first) }
        // In parts, because simplifying can take the square of the time.
        var start = 0
        while start < places.count - 1 {
            let part = Array(places[start..<min(places.count, start + PackedLines.longest)])
            var previous = part[0]
            for index in LineSimplifier.kept(part, tolerance: tolerance).dropFirst() {
                add(previous, part[index])
                previous = part[index]
            }
            start += part.count - 1
        }
    }

    /// A position; what lies beyond the map's northern or southern edge counts as on it.
    struct Place {
        let x: Double
        let y: Double

        init(_ point: MercatorPoint) {
            x = Double(point.x)
            y = Double(max(0, min(MercatorPoint.world, point.y)))
        }

        init(x: Double, y: Double) {
            self.x = x
            self.y = y
        }

        /// Radians.
        var latitude: Double { atan(sinh(.pi * (1 - 2 * y / Corridor.world))) }
    }

    private mutating func add(_ one: Place, _ two: Place) {
        let (first, second) = (one.latitude, two.latitude)
        let farthest = max(abs(first), abs(second))
        let nearest = first * second <= 0 ? 0 : min(abs(first), abs(second))
        if farthest + angle >= Self.steep { return addBox(from: one, to: two, latitudes: (first, second)) }
        if cos(nearest) > 1.01 * cos(farthest) {
            let middle = Place(x: (one.x + two.x) / 2, y: (one.y + two.y) / 2)
            add(one, middle)
            return add(middle, two)
        }
        let scale = Self.world / (2 * .pi)
        let reach = angle / cos(farthest + angle) * scale * (1 + 1e-9) + Self.rounding + tolerance
        let inner =
            innerAngle / cos(max(0, nearest - innerAngle)) * scale * (1 - 1e-9) - Self.rounding - tolerance
        for turn in [-Self.world, 0, Self.world]
        where max(one.x, two.x) + turn + reach >= 0 && min(one.x, two.x) + turn - reach <= Self.world {
            segments.append(
                CorridorSegment(
                    x0: one.x + turn, y0: one.y, x1: two.x + turn, y1: two.y, reach: reach, inner: inner))
        }
    }

    /// An edge so near to a pole that its margin is covered by a box: as far as the margin reaches along the meridians, and along the
    /// parallels at the map's edge.
    ///
    /// Two points of the map at the angle d differ in longitude by at most 2 asin(sin(d/2) / sqrt(cos f1 cos f2)). An edge whose margin
    /// contains the pole gets the whole row at the map's edge.
    private mutating func addBox(from one: Place, to two: Place, latitudes: (Double, Double)) {
        let (first, second) = latitudes
        let limit = BoundingBox.maxLatitude * .pi / 180
        let (south, north) = (min(first, second) - angle, max(first, second) + angle)
        let farthest = min(limit, max(abs(first), abs(second)))
        let share = sin(min(angle, .pi) / 2) / (cos(farthest) * cos(limit)).squareRoot()
        let half = share >= 1 ? Self.world : 2 * asin(share) / (2 * .pi) * Self.world * (1 + 1e-9)
        func row(_ latitude: Double) -> Double {
            if latitude >= limit { return 0 }
            if latitude <= -limit { return Self.world }
            return (0.5 - atanh(sin(latitude)) / (2 * .pi)) * Self.world
        }
        let slack = Self.rounding + tolerance
        var west = min(one.x, two.x) - half - slack
        var east = max(one.x, two.x) + half + slack
        if east - west >= Self.world { (west, east) = (0, Self.world) }
        for turn in [-Self.world, 0, Self.world] where east + turn >= 0 && west + turn <= Self.world {
            addRectangle(
                west: west + turn, north: row(north) - slack, east: east + turn, south: row(south) + slack)
        }
        if north >= .pi / 2 { addRectangle(west: 0, north: 0, east: Self.world, south: 0) }
        if south <= -.pi / 2 { addRectangle(west: 0, north: Self.world, east: Self.world, south: Self.world) }
    }

    private mutating func addRectangle(west: Double, north: Double, east: Double, south: Double) {
        func point(_ x: Double, _ y: Double, up: Bool) -> MercatorPoint {
            let bound = 3 * Self.world
            let (x, y) = (max(-bound, min(bound, x)), max(0, min(Self.world, y)))
            return MercatorPoint(x: Int64(x), y: Int64(up ? y.rounded(.down) : y.rounded(.up)))
        }
        boxes.polygons.append([
            [
                point(west.rounded(.down), north, up: true), point(east.rounded(.up), north, up: true),
                point(east.rounded(.up), south, up: false), point(west.rounded(.down), south, up: false),
            ]
        ])
    }
}
