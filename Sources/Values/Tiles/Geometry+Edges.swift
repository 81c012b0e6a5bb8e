extension Geometry {
    /// Edges that can be read in two ways.
    public struct LongEdges: Hashable, Sendable {
        /// How many there are.
        public let count: Int
        /// Where the first one begins.
        public let from: Coordinate
        /// Where the first one ends.
        public let to: Coordinate

        /// A text that describes how the shape was read, and how to write the other meaning.
        public var explanation: String {
            let step = to.longitude - from.longitude
            let other = to.longitude - (step > 0 ? 360 : -360)
            let edges = count == 1 ? "An edge spans" : "\(count) edges span"
            let width = Self.text(abs(step))
            let short = Self.text(abs(other - from.longitude))
            return """
                \(edges) more than 180 degrees of longitude\(count == 1 ? "" : "; the first goes") from \(Self.text(from)) to \
                \(Self.text(to)). Read as a straight line (RFC 7946, 3.1.1), it is \(width) degrees long. If it is to cross the \
                antimeridian and be \(short) degrees long, write \(Self.text(other)) instead of \(Self.text(to.longitude)), or cut the \
                shape at 180 degrees into a MultiPolygon (RFC 7946, 3.1.9).
                """
        }

        private static func text(_ place: Coordinate) -> String {
            "[\(text(place.longitude)), \(text(place.latitude))]"
        }

        /// At most six decimals, about 10 cm, and none that are not needed.
        private static func text(_ degrees: Double) -> String {
            let rounded = (degrees * 1e6).rounded() / 1e6
            return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
        }
    }

    /// The edges of lines and rings that span more than 180° of longitude, but not 360°; `nil` when there are none.
    ///
    /// They are read as straight lines (RFC 7946, 3.1.1 and 3.1.9). A user who draws across the antimeridian with
    /// longitudes within ±180 writes the same edges and means the short way, so a program should warn about them. Edges
    /// along the top or the bottom of the map are left out, because both readings cover the same tiles there, and so
    /// are edges of exactly 360°, whose other reading is a point.
    public var longEdges: LongEdges? {
        var count = 0
        var first: (from: Coordinate, to: Coordinate)?
        func countIfLong(from: Coordinate, to: Coordinate) {
            let step = abs(to.longitude - from.longitude)
            guard step > 180, step != 360, min(abs(from.latitude), abs(to.latitude)) < BoundingBox.maxLatitude else {
                return
            }
            count += 1
            if first == nil { first = (from, to) }
        }
        for line in lines + polygons.joined() {
            for (from, to) in zip(line, line.dropFirst()) { countIfLong(from: from, to: to) }
        }
        for ring in polygons.joined() {
            if let start = ring.first, let end = ring.last { countIfLong(from: end, to: start) }
        }
        return first.map { LongEdges(count: count, from: $0.from, to: $0.to) }
    }

    /// A ring that goes round the same positions two to four times, once; other rings as they are.
    ///
    /// Some exports trace outlines twice, and the even-odd rule would make such a polygon hollow.
    static func tracedOnce(_ ring: [Coordinate]) -> [Coordinate] {
        var open: [Coordinate] = []
        open.reserveCapacity(ring.count)
        for place in ring where place != open.last { open.append(place) }
        while open.count > 1, open.last == open.first { open.removeLast() }
        for times in 2...4 where open.count % times == 0 && open.count / times >= 3 {
            let length = open.count / times
            if (length..<open.count).allSatisfy({ open[$0] == open[$0 - length] }) { return Array(open.prefix(length)) }
        }
        return ring
    }
}
