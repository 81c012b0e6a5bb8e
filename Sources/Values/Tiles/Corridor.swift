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
    /// Also where the margin's far side is stretched so much more than the edge: a distance around it would be as much too wide.
    private static let stretch = 1.5
    /// Positions are rounded to units: 0.71 units from where they were, at each end; the rest is for doubles.
    private static let rounding = 1.5

    private(set) var segments: [CorridorSegment] = []
    /// Boxes around edges near a pole; they cover the margin, but tiles are never wholly within it because of them.
    private(set) var boxes = MercatorShape()
    /// The edges near a pole that are covered together: they are near to each other.
    private var polar: PolarPart?

    /// The angle that no point within the margin exceeds.
    let angle: Double
    /// The angle within which every point is within the margin.
    private let innerAngle: Double
    /// How far simplifying moves an edge at most.
    private let tolerance: Double

    static let world = Double(MercatorPoint.world)

    /// - Parameters:
    ///   - meters: The margin, above 0.
    ///   - maxZoom: The deepest zoom that is covered.
    ///   - isSimplified: Whether edges are simplified by 1/64 of its tiles: many positions take less time then, and the tiles of one
    ///     boundary in a hundred are too many.
    init(meters: Double, maxZoom: Int, isSimplified: Bool) {
        angle = meters / Self.smallestRadius
        innerAngle = meters / Self.largestRadius
        tolerance = isSimplified ? Self.world / Double(1 << TileMask.clamped(maxZoom)) / 64 : 0
    }

    /// Forgets the edges.
    mutating func removeAll() {
        polar = nil
        segments.removeAll(keepingCapacity: true)
        boxes = MercatorShape()
    }

    mutating func add(point: MercatorPoint) {
        let place = Place(point)
        add(place, place)
        flushPolar()
    }

    /// Adds a line; a closed one gets the edge from its end to its start.
    mutating func add(line: [MercatorPoint], isClosed: Bool) {
        var places = line.map(Place.init)
        guard let first = places.first, let last = places.last else { return }
        defer { flushPolar() }
        if places.count == 1 { return add(first, first) }
        if isClosed, last.x != first.x || last.y != first.y { places.append(first) }
        // In parts, because simplifying can take the square of the time.
        var start = 0
        while start < places.count - 1 {
            let part = Array(places[start..<min(places.count, start + PackedLines.longest)])
            var previous = part[0]
            let kept = tolerance > 0 ? LineSimplifier.kept(part, tolerance: tolerance) : Array(part.indices)
            for index in kept.dropFirst() {
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
        if cos(nearest) > 1.01 * cos(farthest) {
            let middle = Place(x: (one.x + two.x) / 2, y: (one.y + two.y) / 2)
            add(one, middle)
            return add(middle, two)
        }
        if farthest + angle >= Self.steep || cos(farthest) > Self.stretch * cos(farthest + angle) {
            return addPolar(one, two)
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

    /// Adds an edge so near to a pole that its margin is covered by boxes.
    private mutating func addPolar(_ one: Place, _ two: Place) {
        let part = PolarPart(one, two)
        guard part.isSmall(for: angle) else {
            let middle = Place(x: (one.x + two.x) / 2, y: (one.y + two.y) / 2)
            addPolar(one, middle)
            return addPolar(middle, two)
        }
        if let joined = polar?.joined(with: part), joined.isSmall(for: angle) {
            polar = joined
        } else {
            flushPolar()
            polar = part
        }
    }

    private mutating func flushPolar() {
        guard let part = polar else { return }
        polar = nil
        let slack = Self.rounding + tolerance
        for band in part.bands(angle: angle) {
            var (west, east) = (part.west - band.half - slack, part.east + band.half + slack)
            if east - west >= Self.world { (west, east) = (0, Self.world) }
            for turn in [-Self.world, 0, Self.world] where east + turn >= 0 && west + turn <= Self.world {
                addRectangle(west: west + turn, north: band.north - slack, east: east + turn, south: band.south + slack)
            }
        }
        if part.north + angle >= .pi / 2 { addRectangle(west: 0, north: 0, east: Self.world, south: 0) }
        if part.south - angle <= -.pi / 2 {
            addRectangle(west: 0, north: Self.world, east: Self.world, south: Self.world)
        }
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
