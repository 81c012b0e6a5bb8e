import Errors
import Foundation
package import Tiles

/// What a reader of a file puts its content into: features, or one shape.
package struct AreaSink {
    /// What to take of a file.
    package struct Wishes: Sendable {
        /// Whether waypoints of GPX and single places of KML are part of the area.
        package var waypoints: Bool
        /// Whether features stay apart, with their properties; else they become one shape.
        package var features: Bool
        /// Whether only lines are taken: single places as waypoints, and polygons are refused.
        package var isRoute: Bool

        package init(waypoints: Bool = false, features: Bool = false, isRoute: Bool = false) {
            self.waypoints = waypoints
            self.features = features
            self.isRoute = isRoute
        }
    }

    let wishes: Wishes
    /// The features, where they are wished for.
    package private(set) var features: [AreaFeature] = []
    /// Everything together, where features are not wished for.
    package private(set) var shape = AreaShape()
    /// Waypoints that were left out.
    package private(set) var omitted = 0
    /// The first edge of a route that is so long that a great circle lies elsewhere, and how many there are.
    package private(set) var longLegs: (line: Int, kilometers: Double, count: Int)?
    /// What the user should know of the file, each a text for `'FILE': TEXT`.
    package private(set) var remarks: [String] = []

    /// The line that is being read, its longitudes made continuous.
    private var route: [Coordinate] = []

    package init(_ wishes: Wishes = Wishes()) { self.wishes = wishes }

    /// Adds a remark.
    mutating func note(_ remark: String) { remarks.append(remark) }

    /// Adds a feature.
    ///
    /// - Throws: `.badArea` for a point outside of the map.
    mutating func add(_ feature: AreaFeature, at place: @autoclosure () -> String) throws(AreaFileError) {
        if let point = feature.geometry.points.first(where: { abs($0.latitude) > BoundingBox.maxLatitude }) {
            throw AreaFileError(
                .badArea, "\(place()): the point [\(point.longitude), \(point.latitude)] \(BoundingBox.liesBeyond)")
        }
        if wishes.features { return features.append(feature) }
        guard wishes.isRoute else { return shape.add(feature.geometry) }
        guard feature.geometry.polygons.isEmpty else {
            throw AreaFileError(.badArea, "\(place()): a polygon is no route", hint: "use --area")
        }
        if !wishes.waypoints { omitted += feature.geometry.points.count }
        shape.add(Geometry(points: wishes.waypoints ? feature.geometry.points : [], lines: feature.geometry.lines))
    }

    /// Adds a waypoint, or counts it where waypoints are not wished for.
    mutating func add(waypoint: Coordinate, at line: Int) throws(AreaFileError) {
        guard wishes.waypoints else {
            omitted += 1
            return
        }
        try add(AreaFeature(geometry: Geometry(points: [waypoint])), at: "line \(line)")
    }

    /// Continues a route or track, the short way round the world.
    mutating func extendRoute(_ place: Coordinate, at line: Int) throws(AreaFileError) {
        guard let last = route.last else {
            route.append(place)
            return
        }
        let turns = ((last.longitude - place.longitude) / 360).rounded()
        let next = Coordinate(longitude: place.longitude + 360 * turns, latitude: place.latitude)
        guard abs(next.longitude - last.longitude) != 180 || abs(last.latitude) == 90 || abs(next.latitude) == 90 else {
            throw .line(
                line, "two positions of a route are exactly 180 degrees apart, so neither way is the short one",
                hint: "add a position between them")
        }
        guard next != last else { return }
        note(edgeFrom: last, to: next, at: line)
        route.append(next)
        if route.count >= PackedLines.longest || abs(next.longitude) > 360 {
            flush()
            // Longitudes begin within one turn again.
            route = [Coordinate(longitude: next.longitude.remainder(dividingBy: 360), latitude: next.latitude)]
        }
    }

    /// Ends the line.
    mutating func endRoute() {
        flush()
        route.removeAll(keepingCapacity: true)
    }

    private mutating func flush() {
        guard !route.isEmpty else { return }
        if wishes.features {
            features.append(AreaFeature(geometry: Geometry(lines: [route])))
        } else {
            shape.add(route: route)
        }
    }

    private mutating func note(edgeFrom one: Coordinate, to two: Coordinate, at line: Int) {
        // A bound first, because almost no edge is long: a degree is 111 km.
        guard abs(two.latitude - one.latitude) > 0.2 || abs(two.longitude - one.longitude) > 0.2 else { return }
        let kilometers = one.kilometers(to: two)
        guard kilometers > 100 else { return }
        longLegs = longLegs.map { ($0.line, $0.kilometers, $0.count + 1) } ?? (line, kilometers, 1)
    }

    /// - Throws: `.badArea` for longitudes beyond ±180 or latitudes beyond ±90 degrees.
    static func check(_ place: Coordinate, at line: Int, turns: Bool = false) throws(AreaFileError) {
        let limit = turns ? 540.0 : 180
        guard abs(place.longitude) <= limit, abs(place.latitude) <= 90 else {
            throw .line(
                line,
                "longitude \(place.longitude), latitude \(place.latitude) is not on the map; expected -\(Int(limit))...\(Int(limit)) and -90...90"
            )
        }
    }
}

extension Coordinate {
    /// The distance on a sphere of 6,371 km.
    fileprivate func kilometers(to other: Coordinate) -> Double {
        let radians = Double.pi / 180
        let (dy, dx) = ((other.latitude - latitude) * radians, (other.longitude - longitude) * radians)
        let half =
            sin(dy / 2) * sin(dy / 2) + cos(latitude * radians) * cos(other.latitude * radians) * sin(dx / 2)
            * sin(dx / 2)
        return 2 * 6_371 * asin(min(1, half.squareRoot()))
    }
}
