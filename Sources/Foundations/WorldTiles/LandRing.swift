internal import Tiles

/// A ring of a boundary and the box round it; the first point is not repeated.
struct LandRing: Sendable {
    let points: [MercatorPoint]
    let box: ClipBox
    /// Whether the ring is a hole: it runs counter-clockwise on the screen.
    let isHole: Bool

    /// A ring as the boundary has it.
    init(_ points: [MercatorPoint]) {
        self.init(points, isHole: Self.isCounterClockwise(points))
    }

    private init(_ points: [MercatorPoint], isHole: Bool) {
        self.points = points
        self.isHole = isHole
        box = ClipBox(of: points)
    }

    /// The part of the ring within the box, or `nil` when there is none.
    ///
    /// Where the ring leaves the box, the piece runs along the box's side (Sutherland and Hodgman), so a ring that winds
    /// in and out has edges there that cancel out. Crossings are rounded the same way from both sides of a border.
    func clipped(to clip: ClipBox) -> LandRing? {
        guard box.meets(clip) else { return nil }
        guard !clip.contains(box) else { return self }
        var points = points
        if box.minX < clip.minX { points = Self.cut(points, along: \.x, across: \.y, at: clip.minX, keepsAbove: true) }
        if box.maxX > clip.maxX { points = Self.cut(points, along: \.x, across: \.y, at: clip.maxX, keepsAbove: false) }
        if box.minY < clip.minY { points = Self.cut(points, along: \.y, across: \.x, at: clip.minY, keepsAbove: true) }
        if box.maxY > clip.maxY { points = Self.cut(points, along: \.y, across: \.x, at: clip.maxY, keepsAbove: false) }
        points = Self.straightened(points)
        return points.count < 3 ? nil : LandRing(points, isHole: isHole)
    }

    private typealias Axis = WritableKeyPath<MercatorPoint, Int64>

    /// One side of the clipping: keeps what lies on the wanted side of `limit` along `main`.
    @inline(__always)
    private static func cut(
        _ points: [MercatorPoint], along main: Axis, across other: Axis, at limit: Int64, keepsAbove: Bool
    ) -> [MercatorPoint] {
        guard var previous = points.last else { return [] }
        var result: [MercatorPoint] = []
        result.reserveCapacity(min(points.count, 256))
        let isX = main == \MercatorPoint.x
        func value(_ point: MercatorPoint) -> Int64 { isX ? point.x : point.y }
        var wasInside = keepsAbove ? value(previous) >= limit : value(previous) <= limit
        for point in points {
            let isInside = keepsAbove ? value(point) >= limit : value(point) <= limit
            if isInside != wasInside { result.append(crossing(previous, point, isX: isX, at: limit)) }
            if isInside { result.append(point) }
            (previous, wasInside) = (point, isInside)
        }
        return result
    }

    /// Where the edge meets the line, the same whichever way the edge is walked.
    private static func crossing(
        _ one: MercatorPoint, _ two: MercatorPoint, isX: Bool, at limit: Int64
    ) -> MercatorPoint {
        let isForward = (one.x, one.y) < (two.x, two.y)
        let (first, last) = isForward ? (one, two) : (two, one)
        let (run, rise, step) =
            isX
            ? (last.x - first.x, last.y - first.y, limit - first.x)
            : (last.y - first.y, last.x - first.x, limit - first.y)
        let offset = Int64(truncatingIfNeeded: Int128(rise) * Int128(step) / Int128(run))
        return isX ? MercatorPoint(x: limit, y: first.y + offset) : MercatorPoint(x: first.x + offset, y: limit)
    }

    /// Drops repeated points, and the middle of three in one row or column: what clipping leaves along the sides.
    private static func straightened(_ points: [MercatorPoint]) -> [MercatorPoint] {
        var result: [MercatorPoint] = []
        result.reserveCapacity(points.count)
        for point in points {
            while let last = result.last {
                if last == point {
                    result.removeLast()
                } else if result.count > 1, isStraight(from: result[result.count - 2], over: last, to: point) {
                    result.removeLast()
                } else {
                    break
                }
            }
            result.append(point)
        }
        while result.count > 2, let first = result.first, let last = result.last {
            if last == first || isStraight(from: result[result.count - 2], over: last, to: first) {
                result.removeLast()
            } else if isStraight(from: last, over: first, to: result[1]) {
                result.removeFirst()
            } else {
                break
            }
        }
        return result
    }

    private static func isStraight(from one: MercatorPoint, over two: MercatorPoint, to three: MercatorPoint) -> Bool {
        (one.x == two.x && two.x == three.x) || (one.y == two.y && two.y == three.y)
    }

    private static func isCounterClockwise(_ points: [MercatorPoint]) -> Bool {
        guard var previous = points.last else { return false }
        var doubled: Int128 = 0
        for point in points {
            doubled += Int128(previous.x) * Int128(point.y) - Int128(point.x) * Int128(previous.y)
            previous = point
        }
        return doubled < 0
    }
}
