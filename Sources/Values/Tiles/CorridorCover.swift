/// Covers the surroundings of segments: walks down the quadtree and keeps, for each tile, the list of segments that reach it.
///
/// The surroundings of one segment are convex, so a tile lies within them when its four corners do; everything below it then does, too.
struct CorridorCover {
    private let segments: [CorridorSegment]
    private var entries: [Int32] = []
    private var builder: MaskBuilder
    /// Whether only tiles count that lie wholly within the surroundings of one segment.
    private let isInner: Bool

    /// - Parameter isInner: `false` for every tile that is reached, measured outwards; `true` for tiles that lie wholly inside, measured
    ///   inwards.
    init(_ segments: [CorridorSegment], maxZoom: Int, isInner: Bool) {
        self.segments = segments
        self.isInner = isInner
        builder = MaskBuilder(maxZoom: maxZoom)
    }

    mutating func run() -> TileMask {
        let world = Double(MercatorPoint.world)
        for index in segments.indices {
            switch meeting(segments[index], x: 0, y: 0, size: world) {
            case .none: continue
            case .whole: return TileMask(full: builder.maxZoom)
            case .part: entries.append(Int32(truncatingIfNeeded: index))
            }
        }
        guard !entries.isEmpty else { return TileMask(empty: builder.maxZoom) }
        let root = node(zoom: 0, x: 0, y: 0, size: world, first: 0)
        return builder.mask(root)
    }

    /// The node of a tile that the segments from `first` to the top of the stack reach, and none of them holds whole.
    private mutating func node(zoom: Int, x: Double, y: Double, size: Double, first: Int) -> MaskNode {
        if zoom == builder.maxZoom { return isInner ? .absent : .through(zoom) }
        let end = entries.count
        let half = size / 2
        var children = MaskChildren()
        for quadrant in 0..<4 {
            let childX = x + (quadrant & 1 == 1 ? half : 0)
            let childY = y + (quadrant < 2 ? half : 0)
            var isWhole = false
            for position in first..<end {
                let entry = entries[position]
                let met = meeting(segments[Int(entry)], x: childX, y: childY, size: half)
                if met == .none { continue }
                if met == .whole {
                    isWhole = true
                    break
                }
                entries.append(entry)
                // Deeper tiles do not exist, so one is enough.
                if zoom + 1 == builder.maxZoom, !isInner { break }
            }
            if isWhole {
                children[quadrant] = .through(builder.maxZoom)
            } else if entries.count > end {
                children[quadrant] = node(zoom: zoom + 1, x: childX, y: childY, size: half, first: end)
            }
            entries.removeSubrange(end...)
        }
        return isInner && children.isEmpty ? .absent : builder.join(children, zoom: zoom)
    }

    private enum Meeting {
        case none
        case part
        case whole
    }

    private func meeting(_ segment: CorridorSegment, x: Double, y: Double, size: Double) -> Meeting {
        let reach = isInner ? segment.inner : segment.reach
        guard reach >= 0 else { return .none }
        let (east, south) = (x + size, y + size)
        if max(segment.x0, segment.x1) + reach < x || min(segment.x0, segment.x1) - reach > east
            || max(segment.y0, segment.y1) + reach < y || min(segment.y0, segment.y1) - reach > south
        {
            return .none
        }
        let limit = reach * reach
        let corners = (
            segment.square(toX: x, y), segment.square(toX: east, y), segment.square(toX: x, south),
            segment.square(toX: east, south)
        )
        let (least, most) = (
            min(min(corners.0, corners.1), min(corners.2, corners.3)),
            max(max(corners.0, corners.1), max(corners.2, corners.3))
        )
        if most <= limit { return .whole }
        if least <= limit { return .part }
        // No corner is near: an end of the segment is, or the segment goes through.
        let square = CorridorSquare(west: x, north: y, east: east, south: south)
        if square.distance(toX: segment.x0, y: segment.y0) <= limit
            || square.distance(toX: segment.x1, y: segment.y1) <= limit
        {
            return .part
        }
        return segment.crosses(square) ? .part : .none
    }
}

/// The borders of a tile.
private struct CorridorSquare {
    let west: Double
    let north: Double
    let east: Double
    let south: Double

    /// The square of the distance from a point.
    func distance(toX x: Double, y: Double) -> Double {
        let dx = max(0, max(west - x, x - east))
        let dy = max(0, max(north - y, y - south))
        return dx * dx + dy * dy
    }
}

extension CorridorSegment {
    /// The square of the distance from a point to the segment.
    fileprivate func square(toX px: Double, _ py: Double) -> Double {
        let (dx, dy) = (x1 - x0, y1 - y0)
        let length = dx * dx + dy * dy
        let share = length > 0 ? max(0, min(1, ((px - x0) * dx + (py - y0) * dy) / length)) : 0
        let (ex, ey) = (px - x0 - share * dx, py - y0 - share * dy)
        return ex * ex + ey * ey
    }

    /// Whether the segment meets a rectangle.
    fileprivate func crosses(_ square: CorridorSquare) -> Bool {
        var (from, to) = (0.0, 1.0)
        for (start, step, low, high) in [
            (x0, x1 - x0, square.west, square.east), (y0, y1 - y0, square.north, square.south),
        ] {
            if step == 0 {
                if start < low || start > high { return false }
                continue
            }
            let (one, two) = ((low - start) / step, (high - start) / step)
            from = max(from, min(one, two))
            to = min(to, max(one, two))
        }
        return from <= to
    }
}
