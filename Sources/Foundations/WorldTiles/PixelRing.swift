internal import Tiles

/// A point in the units of a tile: 4,096 to a side, x from the west, y from the north.
struct Pixel: Hashable, Sendable {
    var x: Int
    var y: Int
}

/// Converts world units to the units of one tile.
///
/// A world point lands on the same place of the zoom's pixel plane in every tile, so neighbours agree on shared borders.
struct PixelGrid: Sendable {
    /// Units to the side of a tile.
    static let extent = 4096

    private let down: Int64
    private let snap: Int64
    private let originX: Int
    private let originY: Int
    private let isUp: Bool

    init(_ tile: TileID) {
        // At low zooms points are drawn together on a coarser grid: a quarter of a screen pixel is precise enough
        // there.
        snap = tile.zoom < 4 ? 2 : tile.zoom < 6 ? 1 : 0
        isUp = tile.zoom > 20
        down = Int64(isUp ? tile.zoom - 20 : 20 - tile.zoom)
        originX = tile.x * Self.extent
        originY = tile.y * Self.extent
    }

    func pixel(_ point: MercatorPoint) -> Pixel { Pixel(x: plane(point.x) - originX, y: plane(point.y) - originY) }

    private func plane(_ value: Int64) -> Int {
        guard !isUp else { return Int(value << down) }
        let shift = down + snap
        let half: Int64 = shift == 0 ? 0 : 1 << (shift - 1)
        return Int(((value + half) >> shift) << snap)
    }
}

/// A ring in tile units without needless points, with the winding order of vector tiles.
struct PixelRing: Sendable {
    let points: [Pixel]
    /// Twice the area by the surveyor's formula: positive for an exterior ring, negative for a hole.
    let doubledArea: Int

    /// Draws a ring on the grid; `nil` when it shrinks to nothing or less than `smallest` (doubled area).
    init?(_ ring: LandRing, _ grid: PixelGrid, smallest: Int) {
        var result: [Pixel] = []
        result.reserveCapacity(ring.points.count)
        for point in ring.points {
            let pixel = grid.pixel(point)
            while let last = result.last {
                if last == pixel
                    || (result.count > 1 && Self.isStraight(from: result[result.count - 2], over: last, to: pixel))
                {
                    result.removeLast()
                } else {
                    break
                }
            }
            result.append(pixel)
        }
        while result.count > 2, let first = result.first, let last = result.last {
            if last == first || Self.isStraight(from: result[result.count - 2], over: last, to: first) {
                result.removeLast()
            } else if Self.isStraight(from: last, over: first, to: result[1]) {
                result.removeFirst()
            } else {
                break
            }
        }
        let area = Self.doubledArea(result)
        guard result.count > 2, abs(area) >= max(smallest, 1), (area < 0) == ring.isHole else { return nil }
        points = result
        doubledArea = area
    }

    /// Whether the point lies inside, by the even-odd rule.
    func contains(_ point: Pixel) -> Bool {
        guard var previous = points.last else { return false }
        var isInside = false
        for next in points {
            if (next.y > point.y) != (previous.y > point.y) {
                let side = (previous.x - next.x) * (point.y - next.y) - (point.x - next.x) * (previous.y - next.y)
                if (side > 0) == (previous.y > next.y) { isInside.toggle() }
            }
            previous = next
        }
        return isInside
    }

    private static func isStraight(from one: Pixel, over two: Pixel, to three: Pixel) -> Bool {
        (two.x - one.x) * (three.y - one.y) == (three.x - one.x) * (two.y - one.y)
    }

    private static func doubledArea(_ points: [Pixel]) -> Int {
        guard var previous = points.last else { return 0 }
        var doubled = 0
        for point in points {
            doubled += previous.x * point.y - point.x * previous.y
            previous = point
        }
        return doubled
    }
}

/// Rings in the order of a vector tile: each exterior ring followed by its holes.
enum RingOrder {
    static func sorted(_ rings: [PixelRing]) -> [PixelRing] {
        let shells = rings.filter { $0.doubledArea > 0 }
        guard shells.count < rings.count else { return shells }
        var holes = [[PixelRing]](repeating: [], count: shells.count)
        for hole in rings where hole.doubledArea < 0 {
            if let owner = owner(of: hole, among: shells) { holes[owner].append(hole) }
        }
        return zip(shells, holes).flatMap { [$0] + $1 }
    }

    /// The smallest shell that holds most of the hole's points.
    private static func owner(of hole: PixelRing, among shells: [PixelRing]) -> Int? {
        if shells.count == 1 { return 0 }
        let candidates = shells.indices.filter { shells[$0].doubledArea > -hole.doubledArea }
        let votes = candidates.map { index in (index, hole.points.count { shells[index].contains($0) }) }
        let most = votes.map(\.1).max() ?? 0
        return votes.filter { $0.1 == most }.map(\.0).min { shells[$0].doubledArea < shells[$1].doubledArea }
    }
}
