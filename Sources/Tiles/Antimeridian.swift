/// Longitudes of lines and rings that cross the antimeridian.
enum Antimeridian {
    /// Moves longitudes by whole turns so that no step is longer than half a turn: a step longer than that goes the short way
    /// round, over the antimeridian.
    ///
    /// Kept as they are: steps of a whole turn (-180 to 180, the top and bottom of a box around the world) in a line without
    /// other long steps, and everywhere at the poles, where Antarctica's outline runs along the bottom of the map. A ring
    /// that does not come back to where it started has gone round a pole; it is closed over the nearer one.
    static func unwrapped(_ line: [Coordinate], isRing: Bool = false) -> [Coordinate] {
        guard let first = line.first else { return [] }
        let line = isRing && line.last != first ? line + [first] : line
        let steps = zip(line, line.dropFirst())
        let longSteps = steps.map { abs($1.longitude - $0.longitude) }.filter { $0 > 180 }
        if longSteps.isEmpty { return line }
        let crosses = longSteps.contains { $0 < 360 }
        var unwrapped = [first]
        var turns = 0.0
        for (previous, next) in steps {
            let step = next.longitude - previous.longitude
            let isAtPole = min(abs(previous.latitude), abs(next.latitude)) >= BoundingBox.maxLatitude
            if abs(step) > 180, abs(step) < 360 || crosses && !isAtPole { turns -= step > 0 ? 360 : -360 }
            unwrapped.append(Coordinate(longitude: next.longitude + turns, latitude: next.latitude))
        }
        if isRing, let last = unwrapped.last, abs(last.longitude - first.longitude) >= 180 {
            let pole = line.reduce(0) { $0 + $1.latitude } < 0 ? -90.0 : 90
            unwrapped.append(Coordinate(longitude: last.longitude, latitude: pole))
            unwrapped.append(Coordinate(longitude: first.longitude, latitude: pole))
        }
        return unwrapped
    }

    /// A longitude within -180...180; of the two names of the antimeridian, the one fit for a western or an eastern edge.
    static func normalized(_ longitude: Double, isWest: Bool) -> Double {
        if longitude >= -180 && longitude <= 180 { return longitude }
        let turn = (longitude + 180).truncatingRemainder(dividingBy: 360)
        let within = (turn < 0 ? turn + 360 : turn) - 180
        return within == -180 && !isWest ? 180 : within
    }
}

extension MercatorShape {
    /// Projects a geometry; vertices are rounded to the nearest unit and joined by straight Mercator edges.
    ///
    /// A step of more than 180° of longitude goes the short way, over the antimeridian, and so do longitudes beyond ±180; such
    /// parts come in once for each side. (A box wider than 180° given as a polygon therefore needs points between its
    /// corners.) Steps of exactly 360° between -180 and 180 go across the map. A ring around a pole is closed over it.
    public init(_ geometry: Geometry) {
        self.init()
        for point in geometry.points {
            points.append(
                MercatorPoint(
                    longitude: Antimeridian.normalized(point.longitude, isWest: true), latitude: point.latitude))
        }
        for line in geometry.lines {
            for copy in Self.copies([Self.projected(Antimeridian.unwrapped(line))]) { lines += copy }
        }
        for polygon in geometry.polygons {
            let rings = Self.aligned(polygon.map { Self.projected(Antimeridian.unwrapped($0, isRing: true)) })
            polygons += Self.copies(rings)
        }
    }

    private static func projected(_ line: [Coordinate]) -> [MercatorPoint] {
        line.map { MercatorPoint(longitude: $0.longitude, latitude: $0.latitude) }
    }

    private static func range(_ rings: [[MercatorPoint]]) -> (west: Int64, east: Int64) {
        var (west, east) = (Int64.max, Int64.min)
        for ring in rings {
            for point in ring {
                west = Swift.min(west, point.x)
                east = Swift.max(east, point.x)
            }
        }
        return (west, east)
    }

    /// Moves holes that were unwrapped to another turn than their outer ring, the first, next to it.
    private static func aligned(_ rings: [[MercatorPoint]]) -> [[MercatorPoint]] {
        guard rings.count > 1, let first = rings.first, !first.isEmpty else { return rings }
        let outer = range([first])
        guard outer.west < 0 || outer.east > MercatorPoint.world else { return rings }
        return rings.map { ring in
            guard !ring.isEmpty else { return ring }
            let own = range([ring])
            for turn in [0, MercatorPoint.world, -MercatorPoint.world]
            where own.west + turn >= outer.west && own.east + turn <= outer.east {
                return moved(ring, by: turn)
            }
            return ring
        }
    }

    private static func moved(_ ring: [MercatorPoint], by turn: Int64) -> [MercatorPoint] {
        turn == 0 ? ring : ring.map { MercatorPoint(x: $0.x + turn, y: $0.y) }
    }

    /// The rings once for each turn of the world that shows more of them than its very edge.
    private static func copies(_ rings: [[MercatorPoint]]) -> [[[MercatorPoint]]] {
        let own = range(rings)
        guard own.west <= own.east else { return [] }
        if own.west >= 0 && own.east <= MercatorPoint.world { return [rings] }
        var copies: [[[MercatorPoint]]] = []
        for turn in (-3...3).map({ $0 * MercatorPoint.world }) {
            let (west, east) = (own.west + turn, own.east + turn)
            let shows = west == east ? west >= 0 && west < MercatorPoint.world : west < MercatorPoint.world && east > 0
            if shows { copies.append(rings.map { moved($0, by: turn) }) }
        }
        return copies
    }
}
