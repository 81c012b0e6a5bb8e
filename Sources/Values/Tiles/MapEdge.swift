/// The northern and southern edge of the square map, at ±``BoundingBox/maxLatitude``, where lines and rings are cut.
enum MapEdge {
    /// How far outside the map a vertex is put that lies beyond it, in units: no tile touches it there.
    private static let distance = MercatorPoint.world >> 2

    /// Projects a line or ring.
    ///
    /// A vertex is added where an edge crosses the map's edge; vertices beyond it go out of the map. The crossing is computed on the straight line in longitude and latitude, the meaning of an edge in RFC 7946, 3.1.1. (Moving
    /// the vertex to the map's edge instead would bend the line, and the shape would lose tiles.)
    ///
    /// - Parameter isClosed: Whether an edge from the last vertex to the first one belongs to the shape.
    static func projected(_ line: [Coordinate], isClosed: Bool) -> [MercatorPoint] {
        let limit = BoundingBox.maxLatitude
        guard line.contains(where: { abs($0.latitude) > limit }), let first = line.first else {
            return line.map { MercatorPoint(longitude: $0.longitude, latitude: $0.latitude) }
        }
        var points: [MercatorPoint] = []
        for (index, start) in line.enumerated() {
            points.append(vertex(start))
            if index + 1 < line.count {
                points += crossings(from: start, to: line[index + 1])
            } else if isClosed {
                points += crossings(from: start, to: first)
            }
        }
        return points
    }

    /// A vertex; out of the map when it lies beyond its edge.
    private static func vertex(_ place: Coordinate) -> MercatorPoint {
        var point = MercatorPoint(longitude: place.longitude, latitude: place.latitude)
        if place.latitude > BoundingBox.maxLatitude { point.y = -distance }
        if place.latitude < -BoundingBox.maxLatitude { point.y = MercatorPoint.world + distance }
        return point
    }

    /// The points at which an edge crosses the map's edges, in its direction.
    private static func crossings(from start: Coordinate, to end: Coordinate) -> [MercatorPoint] {
        let limit = BoundingBox.maxLatitude
        let crossed = [limit, -limit].filter { isBeyond(start, $0) != isBeyond(end, $0) }
        return (start.latitude < end.latitude ? crossed.reversed() : crossed).map { latitude in
            let share = (latitude - start.latitude) / (end.latitude - start.latitude)
            return MercatorPoint(
                longitude: start.longitude + share * (end.longitude - start.longitude), latitude: latitude)
        }
    }

    /// Whether a place lies beyond the edge of this latitude.
    private static func isBeyond(_ place: Coordinate, _ limit: Double) -> Bool {
        limit > 0 ? place.latitude > limit : place.latitude < limit
    }
}
