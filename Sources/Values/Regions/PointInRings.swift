import Tiles

/// The even-odd test of a point against rings, exact on the integers of the fixed point.
enum PointInRings {
    /// Whether a point lies inside.
    ///
    /// A point on a border lies in exactly one of the two neighbours that share it: an edge includes its upper end and
    /// excludes its lower end, and a point on the edge counts as to the right of it.
    static func contains(_ point: MercatorPoint, _ rings: [[MercatorPoint]]) -> Bool {
        var isInside = false
        for ring in rings {
            guard var before = ring.last else { continue }
            for after in ring {
                if (before.y > point.y) != (after.y > point.y), isRight(point, of: before, after) { isInside.toggle() }
                before = after
            }
        }
        return isInside
    }

    /// Whether a point is to the east of an edge that crosses its row, or on it; the same answer for both directions of the edge.
    private static func isRight(_ point: MercatorPoint, of a: MercatorPoint, _ b: MercatorPoint) -> Bool {
        let (top, bottom) = a.y < b.y ? (a, b) : (b, a)
        if point.x < min(top.x, bottom.x) { return false }
        if point.x > max(top.x, bottom.x) { return true }
        // Differences reach 2^32, so their products need more than 64 bits.
        let along = Int128(bottom.x - top.x) * Int128(point.y - top.y)
        let across = Int128(point.x - top.x) * Int128(bottom.y - top.y)
        return across >= along
    }
}
