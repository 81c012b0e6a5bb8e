import Testing
import Tiles

/// The cover against a naive one, which asks of each tile by itself whether an edge crosses one of its sides, an end of an
/// edge lies in it, or its middle lies inside the polygon.
struct CoverTests {
    private static let world = MercatorPoint.world
    private static let scales: [Int64] = [31, 20, 28, 29, 27, 4]
    private static let reaches: [ClosedRange<Int64>] = [
        0...world, (-world / 4)...(world * 5 / 4), 1_610_612_736...2_684_354_560, 1_342_177_280...2_415_919_104,
    ]

    @Test(arguments: 0..<SeededRandom.rounds(1_500))
    func aRandomShapeIsCoveredAsTheNaiveWayCoversIt(seed: UInt64) {
        var random = SeededRandom(seed)
        var shape = MercatorShape()
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            // Coarse grids make corners and edges that lie on tile borders; some points lie beyond the world.
            let grid = Int64(1) << Self.scales.randomElement(using: &random, or: 28)
            let reach = Self.reaches.randomElement(using: &random, or: 0...1)
            func point() -> MercatorPoint {
                MercatorPoint(
                    x: Int64.random(in: reach, using: &random) / grid * grid,
                    y: max(0, min(MercatorPoint.world, Int64.random(in: reach, using: &random) / grid * grid)))
            }
            func line(_ count: ClosedRange<Int>) -> [MercatorPoint] {
                (0..<Int.random(in: count, using: &random)).map { _ in point() }
            }
            switch Int.random(in: 0..<6, using: &random) {
            case 0: shape.points += line(1...4)
            case 1: shape.lines.append(line(0...5))
            case 2: shape.polygons.append([line(0...3)])
            case 3: shape.polygons.append([line(3...8)])
            case 4: shape.polygons.append((0..<3).map { _ in line(3...5) })
            default:
                let (one, two) = (point(), point())
                shape.polygons.append([
                    [one, MercatorPoint(x: two.x, y: one.y), two, MercatorPoint(x: one.x, y: two.y)], line(3...4),
                ])
            }
        }
        let depth = 5
        let mask = TileMask(covering: shape, maxZoom: depth)
        let naive = allTiles(depth).filter { NaiveCover.meets(shape, $0) }
        #expect(Set(naive) == tiles(of: mask), "seed \(seed)")
        #expect(TileMask(tiles: naive, maxZoom: depth) == mask, "seed \(seed): one set, one storage")
    }

    @Test func touchingCountsAndTheWorldDoesNotWrap() throws {
        let middle = MercatorPoint(x: 1 << 31, y: 1 << 31)
        #expect(TileMask(covering: MercatorShape(points: [middle]), maxZoom: 3).count(atZoom: 3) == 4)
        let west = MercatorShape(points: [MercatorPoint(x: 0, y: 1 << 30)])
        #expect(Array(TileMask(covering: west, maxZoom: 2).occupiedTiles(atZoom: 2)).allSatisfy { $0.x == 0 })
        let east = MercatorShape(points: [MercatorPoint(x: MercatorPoint.world, y: 0)])
        #expect(try Array(TileMask(covering: east, maxZoom: 22).occupiedTiles(atZoom: 22)) == [tile("22/4194303/0")])
        // A ring of one point, one of two, and one that goes there and back.
        for ring in [[middle], [middle, middle], [middle, MercatorPoint(x: 1 << 31, y: 1 << 30), middle]] {
            let mask = TileMask(covering: MercatorShape(polygons: [[ring]]), maxZoom: 2)
            #expect(mask.count(atZoom: 2) == (ring.count == 3 ? 6 : 4))
        }
        #expect(TileMask(covering: MercatorShape(), maxZoom: 14).isEmpty)
        #expect(TileMask(covering: MercatorShape(polygons: [[[]]]), maxZoom: 14).isEmpty)
        let far = MercatorPoint(x: .max, y: .min)
        #expect(TileMask(covering: MercatorShape(points: [far], lines: [[far, far]]), maxZoom: 14).isEmpty)
    }

    @Test func theWorldIsFullAtOnce() {
        #expect(TileMask(covering: MercatorShape(.world), maxZoom: 22) == TileMask(full: 22))
        let far = MercatorPoint.world * 2
        let around = [
            MercatorPoint(x: -far, y: -far), MercatorPoint(x: far, y: -far), MercatorPoint(x: far, y: far),
            MercatorPoint(x: -far, y: far),
        ]
        #expect(TileMask(covering: MercatorShape(polygons: [[around]]), maxZoom: 22) == TileMask(full: 22))
    }

    @Test func aBoxAcrossTheAntimeridianIsTwoRectangles() throws {
        let mask = TileMask(covering: MercatorShape(try BoundingBox(parsing: "177,-20,-178,-15")), maxZoom: 8)
        let columns = Set(mask.occupiedTiles(atZoom: 8).map(\.x))
        #expect(columns == [0, 1, 253, 254, 255])
    }
}

enum NaiveCover {
    typealias Point = (x: Int128, y: Int128)

    static func meets(_ shape: MercatorShape, _ tile: TileID) -> Bool {
        let size = Int128(tile.units)
        let (x, y) = (Int128(tile.origin.x), Int128(tile.origin.y))
        let corners: [Point] = [(x, y), (x + size, y), (x + size, y + size), (x, y + size)]
        func holds(_ point: Point) -> Bool {
            point.x >= x && point.x <= x + size && point.y >= y && point.y <= y + size
        }
        func wide(_ point: MercatorPoint) -> Point { (Int128(point.x), Int128(point.y)) }
        func touched(_ one: Point, _ two: Point) -> Bool {
            holds(one) || holds(two) || (0..<4).contains { crosses(one, two, corners[$0], corners[($0 + 1) % 4]) }
        }
        func touched(along line: [Point], closed: Bool) -> Bool {
            line.contains(where: holds)
                || zip(line, line.dropFirst() + (closed ? line.prefix(1) : [])).contains { touched($0, $1) }
        }
        if shape.points.contains(where: { holds(wide($0)) }) { return true }
        if shape.lines.contains(where: { touched(along: $0.map(wide), closed: false) }) { return true }
        return shape.polygons.contains { polygon in
            let rings = polygon.map { $0.map(wide) }
            if rings.contains(where: { touched(along: $0, closed: true) }) { return true }
            // No edge in the tile: its middle is representative. A ray to the east, ends counted once.
            let middle = (x: x + size / 2, y: y + size / 2)
            var inside = false
            for ring in rings {
                for (one, two) in zip(ring, ring.dropFirst() + ring.prefix(1))
                where (one.y > middle.y) != (two.y > middle.y) {
                    let left = (middle.x - one.x) * (two.y - one.y)
                    let right = (two.x - one.x) * (middle.y - one.y)
                    if two.y > one.y ? left < right : left > right { inside.toggle() }
                }
            }
            return inside
        }
    }

    /// Whether two closed segments have a point in common.
    private static func crosses(_ a: Point, _ b: Point, _ c: Point, _ d: Point) -> Bool {
        func turn(_ p: Point, _ q: Point, _ r: Point) -> Int {
            ((q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x)).signum() == 0
                ? 0 : (q.x - p.x) * (r.y - p.y) > (q.y - p.y) * (r.x - p.x) ? 1 : -1
        }
        func between(_ p: Point, _ q: Point, _ r: Point) -> Bool {
            min(p.x, q.x) <= r.x && r.x <= max(p.x, q.x) && min(p.y, q.y) <= r.y && r.y <= max(p.y, q.y)
        }
        let (one, two, three, four) = (turn(a, b, c), turn(a, b, d), turn(c, d, a), turn(c, d, b))
        if one != two && three != four { return true }
        return one == 0 && between(a, b, c) || two == 0 && between(a, b, d) || three == 0 && between(c, d, a)
            || four == 0 && between(c, d, b)
    }
}

extension Array {
    fileprivate func randomElement(using random: inout SeededRandom, or other: Element) -> Element {
        randomElement(using: &random) ?? other
    }
}
