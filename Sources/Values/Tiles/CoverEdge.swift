/// A closed segment of a shape's boundary in world units within ±2^34, and the integer predicates on it.
struct CoverEdge {
    let x0: Int64
    let y0: Int64
    let x1: Int64
    let y1: Int64

    init(_ start: MercatorPoint, _ end: MercatorPoint) {
        x0 = Self.limited(start.x)
        y0 = Self.limited(start.y)
        x1 = Self.limited(end.x)
        y1 = Self.limited(end.y)
    }

    /// The range in which every difference fits 36 bits and every product 72.
    private static func limited(_ value: Int64) -> Int64 { max(-0x4_0000_0000, min(0x4_0000_0000, value)) }

    @inline(__always)
    private static func product(_ left: Int64, _ right: Int64) -> Int128 { Int128(left) * Int128(right) }

    /// Twice the signed area of the edge and a point: 0 on the line through the edge.
    @inline(__always)
    func side(_ x: Int64, _ y: Int64) -> Int128 {
        Self.product(x1 - x0, y - y0) - Self.product(y1 - y0, x - x0)
    }

    /// Whether the edge and the closed square meet.
    ///
    /// Exact: the axes and the edge's normal are all that can separate them.
    @inline(__always)
    func touches(x: Int64, y: Int64, size: Int64) -> Bool {
        if max(x0, x1) < x || min(x0, x1) > x + size || max(y0, y1) < y || min(y0, y1) > y + size { return false }
        if x0 >= x && x0 <= x + size && y0 >= y && y0 <= y + size { return true }
        if x1 >= x && x1 <= x + size && y1 >= y && y1 <= y + size { return true }
        // The corners where `side` is smallest and largest.
        let rising = x1 >= x0
        let leftward = y1 >= y0
        let least = side(leftward ? x + size : x, rising ? y : y + size)
        let most = side(leftward ? x : x + size, rising ? y + size : y)
        return least <= 0 && most >= 0
    }

    /// Whether the edge meets the open square.
    @inline(__always)
    func enters(x: Int64, y: Int64, size: Int64) -> Bool {
        if max(x0, x1) <= x || min(x0, x1) >= x + size || max(y0, y1) <= y || min(y0, y1) >= y + size { return false }
        let rising = x1 >= x0
        let leftward = y1 >= y0
        let least = side(leftward ? x + size : x, rising ? y : y + size)
        let most = side(leftward ? x : x + size, rising ? y + size : y)
        return least < 0 && most > 0 || x0 == x1 && y0 == y1
    }

    // Whether a point is inside is computed for a point that is moved by infinitesimal amounts, (x + e, y + e²). Such a
    // point is on no edge with integer coordinates. So it is always inside or outside, without special cases for
    // vertices and for edges along tile borders.

    /// Whether the moved point lies on the positive side of the edge, which must not be a single point.
    @inline(__always)
    private func isPositive(_ x: Int64, _ y: Int64) -> Bool {
        let side = side(x, y)
        if side != 0 { return side > 0 }
        return y1 != y0 ? y1 < y0 : x1 > x0
    }

    /// Whether the edge crosses the horizontal segment between two moved points of the same y.
    @inline(__always)
    func crossesLevel(y: Int64, from left: Int64, to right: Int64) -> Bool {
        (y0 <= y) != (y1 <= y) && isPositive(left, y) != isPositive(right, y)
    }

    /// Whether the edge crosses the vertical segment between two moved points of the same x.
    @inline(__always)
    func crossesUpright(x: Int64, from top: Int64, to bottom: Int64) -> Bool {
        (x0 <= x) != (x1 <= x) && isPositive(x, top) != isPositive(x, bottom)
    }
}
