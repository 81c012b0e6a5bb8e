/// Longitudes beyond ±180, in which geometries that cross the antimeridian are written.
enum Antimeridian {
    /// A longitude within -180...180; the antimeridian is written as -180 for a western edge and as 180 for an eastern
    /// edge.
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
    /// What lies beyond ±``BoundingBox/maxLatitude`` is cut off (``MapEdge``); a point beyond it counts as on the edge.
    ///
    /// An edge is a straight line in longitude and latitude between its two positions as they are written, however long it is
    /// (RFC 7946, 3.1.1); ``Geometry/longEdges`` lists those that may have been meant otherwise. Parts with longitudes beyond ±180
    /// appear once for each side of the antimeridian. A ring that is traced several times counts once.
    public init(_ geometry: Geometry) {
        self.init()
        for point in geometry.points {
            points.append(
                MercatorPoint(
                    longitude: Antimeridian.normalized(point.longitude, isWest: true), latitude: point.latitude))
        }
        for line in geometry.lines {
            for copy in Self.copies([MapEdge.projected(line, isClosed: false)]) { lines += copy }
        }
        for polygon in geometry.polygons {
            let rings = Self.aligned(polygon.map { MapEdge.projected(Geometry.tracedOnce($0), isClosed: true) })
            polygons += Self.copies(rings)
        }
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

    /// Moves holes that are written 360° away from their outer ring (the first ring) into that ring.
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

    /// The rings, shifted by 360° for each copy of the world in which more than an edge of them is visible.
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
