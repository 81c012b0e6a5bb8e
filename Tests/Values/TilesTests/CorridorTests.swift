import Foundation
import Testing

@testable import Tiles

/// Margins around lines: known sets of tiles, and a dense sampling of distances on WGS 84.
struct CorridorTests {
    private static func line(_ places: (Double, Double)...) -> AreaShape {
        var shape = AreaShape()
        shape.add(route: places.map { Coordinate(longitude: $0.0, latitude: $0.1) })
        return shape
    }

    private static func columns(_ mask: TileMask, _ zoom: Int) -> [Int: [Int]] {
        var rows: [Int: [Int]] = [:]
        for tile in mask.occupiedTiles(atZoom: zoom) { rows[tile.y, default: []].append(tile.x) }
        return rows.mapValues { $0.sorted() }
    }

    private static func margin(_ meters: Double) throws -> Margin { try Margin([.init(zoom: 0, meters: meters)]) }

    @Test func aRouteAtTheEquator() throws {
        let mask = Self.line((0.005, 0), (0.105, 0)).mask(14, within: try Self.margin(2_000))
        #expect(Self.columns(mask, 14) == [8191: Array(8191...8197), 8192: Array(8191...8197)])
        #expect(Self.line((0.005, 0), (0.105, 0)).mask(14, within: try Self.margin(0)).count(atZoom: 14) == 10)
    }

    @Test func aRouteAtSixtyDegrees() throws {
        let mask = Self.line((10.008, 60), (10.108, 60)).mask(14, within: try Self.margin(2_000))
        #expect(
            Self.columns(mask, 14) == [
                4756: Array(8646...8653), 4757: Array(8645...8653), 4758: Array(8645...8653), 4759: Array(8646...8653),
            ])
    }

    @Test func aRouteThatClimbs() throws {
        let mask = Self.line((10, 60), (10.2, 60.1)).mask(12, within: try Self.margin(1_100))
        #expect(
            Self.columns(mask, 12) == [
                1186: [2163, 2164], 1187: [2162, 2163, 2164], 1188: [2161, 2162, 2163], 1189: [2161, 2162],
            ])
    }

    @Test func aRouteOverTheAntimeridian() throws {
        for shape in [Self.line((179.95, 0.001), (180.05, 0.001)), Self.line((-180.05, 0.001), (-179.95, 0.001))] {
            let mask = shape.mask(14, within: try Self.margin(2_000))
            let row = Array(0...3) + Array(16_380...16_383)
            #expect(Self.columns(mask, 14) == [8191: row, 8192: row])
        }
        // A line that ends before it, with a margin that does not.
        let mask = Self.line((179.9, 0.001), (179.995, 0.001)).mask(14, within: try Self.margin(2_000))
        for text in ["14/0/8191", "14/16383/8191"] { #expect(mask.contains(try tile(text))) }
    }

    @Test func whatReachesThePoleHasTheWholeRowAtTheEdge() throws {
        let point = AreaShape(Geometry(points: [Coordinate(longitude: 10, latitude: 85)]))
        for zoom in [3, 9] {
            let rows = Self.columns(point.mask(zoom, within: try Self.margin(600_000)), zoom)
            #expect(rows[0]?.count == 1 << zoom)
        }
        let south = AreaShape(Geometry(points: [Coordinate(longitude: 10, latitude: -85)]))
        #expect(Self.columns(south.mask(5, within: try Self.margin(600_000)), 5)[31]?.count == 32)
        // 20 km at 85 degrees reach 2.08 degrees of longitude, and no more than 2.2.
        let near = point.mask(14, within: try Self.margin(20_000))
        func has(_ longitude: Double) throws -> Bool {
            near.contains(try #require(TileID(at: Coordinate(longitude: longitude, latitude: 85), zoom: 14)))
        }
        for (longitude, isIn) in [(12.07, true), (7.93, true), (12.25, false), (7.75, false)] {
            #expect(try has(longitude) == isIn)
        }
        // 10,000 km are more than a hemisphere.
        let half = AreaShape(Geometry(points: [Coordinate(longitude: 0, latitude: 0)]))
        let wide = half.mask(4, within: try Self.margin(10_000_000))
        for text in ["4/8/0", "4/4/8", "4/11/15"] { #expect(wide.contains(try tile(text))) }
    }

    /// The angle in radians between two places on the sphere of latitude and longitude.
    private static func angle(_ one: Coordinate, _ two: Coordinate) -> Double {
        let radians = Double.pi / 180
        let (dy, dx) = ((two.latitude - one.latitude) * radians, (two.longitude - one.longitude) * radians)
        let half =
            pow(sin(dy / 2), 2) + cos(one.latitude * radians) * cos(two.latitude * radians) * pow(sin(dx / 2), 2)
        return 2 * asin(min(1, half.squareRoot()))
    }

    /// A wide margin that comes near to a pole is a circle on the globe, and not a box around it.
    @Test(arguments: [
        (150.0, 65.0, 1_760_000.0), (-170, 80, 700_000), (20, -70, 2_100_000), (0, 40, 9_000_000), (179, 75, 1_400_000),
    ])
    func aWideMarginNearThePoleHasNoDistantTile(longitude: Double, latitude: Double, meters: Double) throws {
        let place = Coordinate(longitude: longitude, latitude: latitude)
        let (zoom, angle) = (6, meters / 6_335_439)
        let mask = AreaShape(Geometry(points: [place])).mask(zoom, within: try Self.margin(meters))
        for y in 0..<1 << zoom {
            for x in 0..<1 << zoom {
                let tile = try #require(TileID(zoom: zoom, x: x, y: y))
                // Places of the tile, its corners among them, and how far they are from each other.
                var (nearest, step) = (Double.infinity, 0.0)
                for part in 0..<81 {
                    let (dx, dy) = (Double(part % 9) / 8, Double(part / 9) / 8)
                    let row = (Double(y) + dy) / Double(1 << zoom)
                    let other = Coordinate(
                        longitude: (Double(x) + dx) / Double(1 << zoom) * 360 - 180,
                        latitude: atan(sinh(.pi * (1 - 2 * row))) * 180 / .pi)
                    nearest = min(nearest, Self.angle(place, other))
                    step = max(step, .pi / 64 / 4 * cos(other.latitude * .pi / 180))
                }
                // The radii of curvature differ by 1 %.
                let isCovered = mask.contains(tile)
                if nearest < angle * 0.985 { #expect(isCovered, "\(tile) at \(nearest) of \(angle)") }
                let isEdge = y == 0 || y == (1 << zoom) - 1
                if nearest > angle * 1.03 + step, !isEdge {
                    #expect(!isCovered, "\(tile) at \(nearest) of \(angle)")
                }
            }
        }
    }

    /// Edges of a few positions are not simplified: the tiles are those of the formula.
    @Test func aFewPositionsAreCoveredExactly() throws {
        // 13 positions within 1/200 of a tile of a straight line, and the edge of the margin just outside of a tile.
        let side = 360.0 / Double(1 << 14)
        let places = (0...12).map { (10 + Double($0) * side, $0 % 2 == 0 ? 0 : 0.005 * side) }
        var shape = AreaShape()
        shape.add(route: places.map { Coordinate(longitude: $0.0, latitude: $0.1) })
        let reach = 0.99 * side * .pi / 180 * 6_335_439.3
        // To the south the margin ends 1/100 of a tile before the next row.
        #expect(Self.columns(shape.mask(14, within: try Self.margin(reach)), 14).keys.sorted() == [8191, 8192])
    }

    @Test func polygonsPointsAndBoxesAreWidenedToo() throws {
        let box = AreaShape(polygons: MercatorShape(try BoundingBox(west: 10, south: 60, east: 10.5, north: 60.2)))
        let plain = box.mask(12)
        let mask = box.mask(12, within: try Self.margin(5_000))
        #expect(plain.subtracting(mask).isEmpty && mask.count(atZoom: 12) > plain.count(atZoom: 12))
        // Five kilometres are 0.0898 degrees of longitude at 60 degrees, and 0.0449 of latitude.
        func has(_ longitude: Double, _ latitude: Double) throws -> Bool {
            mask.contains(try #require(TileID(at: Coordinate(longitude: longitude, latitude: latitude), zoom: 12)))
        }
        for (longitude, latitude) in [(9.911, 60.1), (10.2, 59.956), (10.2, 60.244)] {
            #expect(try has(longitude, latitude))
        }
        for (longitude, latitude) in [(9.7, 60.1), (10.2, 59.85)] { #expect(try !has(longitude, latitude)) }
    }

    @Test func eachZoomHasItsOwnDistance() throws {
        let shape = Self.line((25, 59), (25.4, 59.2))
        let stepped = shape.mask(15, within: try Margin([.init(zoom: 0, meters: 5_000), .init(zoom: 14, meters: 500)]))
        let (wide, narrow) = (
            shape.mask(13, within: try Self.margin(5_000)), shape.mask(15, within: try Self.margin(500))
        )
        for zoom in 0...13 { #expect(stepped.count(atZoom: zoom) == wide.count(atZoom: zoom)) }
        for zoom in 14...15 { #expect(stepped.count(atZoom: zoom) == narrow.count(atZoom: zoom)) }
        #expect(
            shape.mask(10, within: try Margin([.init(zoom: 0, meters: 5_000), .init(zoom: 14, meters: 500)]))
                == wide.clipped(toZoom: 10))
    }

    @Test func wrongMarginsAreRefused() throws {
        for steps in [
            [], [(1, 5.0)], [(0, -1)], [(0, 10_000_001)], [(0, .nan)], [(0, 5), (0, 4)], [(0, 5), (3, 6)],
            [(0, 5), (23, 1)],
        ] as [[(Int, Double)]] {
            #expect(throws: TilesError.self, "\(steps)") { try Margin(steps.map { .init(zoom: $0.0, meters: $0.1) }) }
        }
    }

    /// The metres between two near places, by the radii of curvature of WGS 84 between them.
    private static func meters(_ one: Coordinate, _ two: Coordinate) -> Double {
        let square = 0.006_694_379_990_14
        let latitude = (one.latitude + two.latitude) / 2 * .pi / 180
        let bent = 1 - square * sin(latitude) * sin(latitude)
        let (meridian, normal) = (6_378_137 * (1 - square) / pow(bent, 1.5), 6_378_137 / bent.squareRoot())
        let dy = (two.latitude - one.latitude) * .pi / 180 * meridian
        let dx = (two.longitude - one.longitude) * .pi / 180 * normal * cos(latitude)
        return (dx * dx + dy * dy).squareRoot()
    }

    /// Points on a line that is straight on the Mercator plane.
    private static func samples(_ one: Coordinate, _ two: Coordinate, _ count: Int) -> [Coordinate] {
        let (start, end) = (
            MercatorPoint(longitude: one.longitude, latitude: one.latitude),
            MercatorPoint(longitude: two.longitude, latitude: two.latitude)
        )
        return (0...count).map { step in
            let share = Double(step) / Double(count)
            let point = MercatorPoint(
                x: start.x + Int64(share * Double(end.x - start.x)), y: start.y + Int64(share * Double(end.y - start.y))
            )
            return Coordinate(longitude: point.longitude, latitude: point.latitude)
        }
    }

    @Test(arguments: 0..<SeededRandom.rounds(50))
    func noTileWithinTheDistanceIsLostAndFewAreAdded(seed: UInt64) throws {
        var random = SeededRandom(seed)
        let zoom = Int.random(in: 9...15, using: &random)
        let latitude = Double.random(in: -84...84, using: &random)
        let width = 360 / Double(1 << zoom)
        // From a part of a tile to four tiles.
        let meters = Double.random(in: 0.05...4, using: &random) * width * 111_000 * cos(latitude * .pi / 180)
        let start = Coordinate(longitude: Double.random(in: -170...170, using: &random), latitude: latitude)
        let end = Coordinate(
            longitude: start.longitude + Double.random(in: -4...4, using: &random) * width,
            latitude: max(-84.9, min(84.9, latitude + Double.random(in: -2...2, using: &random) * width)))
        var shape = AreaShape()
        shape.add(route: [start, end])
        let mask = shape.mask(zoom, within: try Self.margin(meters))
        let line = Self.samples(start, end, 60)
        // How much wider than the distance it may be: what the projection stretches, and 2 %.
        let (low, high) = (min(abs(start.latitude), abs(end.latitude)), max(abs(start.latitude), abs(end.latitude)))
        let excess = 1.02 * cos(low * .pi / 180) / cos(high * .pi / 180 + meters / 6_335_439)
        let first = try #require(TileID(at: start, zoom: zoom))
        let side = 1 << zoom
        var (found, extra) = (0, 0)
        for y in max(0, first.y - 9)...min(side - 1, first.y + 9) {
            for x in first.x - 10...first.x + 10 {
                guard let tile = TileID(zoom: zoom, x: x, y: y) else { continue }
                let box = tile.bounds
                // Far away: the middle is more than a tile's diagonal beyond the distance.
                let middle = Coordinate(longitude: box.center.longitude, latitude: box.center.latitude)
                let tileMeters = width * 111_400 * cos(box.center.latitude * .pi / 180)
                if line.allSatisfy({ Self.meters(middle, $0) > meters * excess + 2 * tileMeters }) {
                    #expect(!mask.contains(tile), "seed \(seed): \(tile) is far away")
                    continue
                }
                var nearest = Double.infinity
                for row in 0...6 {
                    // Where the line does not enter the tile, its border is nearest.
                    for column in 0...6 where row % 6 == 0 || column % 6 == 0 {
                        let place = Coordinate(
                            longitude: box.west + box.width * Double(column) / 6,
                            latitude: box.south + (box.north - box.south) * Double(row) / 6)
                        for other in line { nearest = min(nearest, Self.meters(place, other)) }
                    }
                }
                // The line may cross a tile between samples of its sides.
                let isCrossed = line.contains { TileID(at: $0, zoom: zoom) == tile }
                let isIn = mask.contains(tile)
                if nearest <= meters * 0.9999 || isCrossed { #expect(isIn, "seed \(seed): \(tile) is lost") }
                guard isIn else { continue }
                found += 1
                // Samples are at most a twelfth of a tile from the nearest point.
                if nearest > meters * excess + tileMeters / 7, !isCrossed { extra += 1 }
            }
        }
        #expect(found > 0 && extra == 0, "seed \(seed): \(extra) of \(found) tiles are too far")
    }

    @Test(arguments: 0..<SeededRandom.rounds(200))
    func manyEdgesAreCoveredAsOneByOne(seed: UInt64) throws {
        var random = SeededRandom(seed)
        let zoom = 10
        var place = Coordinate(
            longitude: Double.random(in: -175...175, using: &random),
            latitude: Double.random(in: -80...80, using: &random))
        var line = [place]
        for _ in 0..<Int.random(in: 1...60, using: &random) {
            place.longitude += Double.random(in: -0.3...0.3, using: &random)
            place.latitude = max(-84, min(84, place.latitude + Double.random(in: -0.2...0.2, using: &random)))
            line.append(place)
        }
        let margin = try Self.margin(Double.random(in: 100...30_000, using: &random))
        var whole = AreaShape()
        whole.add(route: line)
        var parts = TileMask(empty: zoom)
        for (one, two) in zip(line, line.dropFirst()) {
            var edge = AreaShape()
            edge.add(route: [one, two])
            parts = parts.union(edge.mask(zoom, within: margin))
        }
        let mask = whole.mask(zoom, within: margin)
        // Simplifying may only add tiles, within 1/64 of a tile.
        #expect(parts.subtracting(mask).isEmpty, "seed \(seed)")
        #expect(mask.subtracting(parts).count(atZoom: zoom) <= mask.count(atZoom: zoom) / 10, "seed \(seed)")
    }

    @Test func simplifyingMovesNothingFartherThanTheTolerance() {
        var random = SeededRandom(7)
        for _ in 0..<200 {
            var (x, y) = (0.0, 0.0)
            let places = (0..<Int.random(in: 1...80, using: &random)).map { _ in
                x += Double.random(in: -3...3, using: &random)
                y += Double.random(in: -3...3, using: &random)
                return Corridor.Place(x: x, y: y)
            }
            let kept = LineSimplifier.kept(places, tolerance: 2)
            #expect(kept.first == 0 && kept.last == places.count - 1)
            for (start, end) in zip(kept, kept.dropFirst()) {
                for index in start..<end {
                    let (dx, dy) = (places[end].x - places[start].x, places[end].y - places[start].y)
                    let (px, py) = (places[index].x - places[start].x, places[index].y - places[start].y)
                    let share = max(0, min(1, (px * dx + py * dy) / max(1e-300, dx * dx + dy * dy)))
                    #expect(hypot(px - share * dx, py - share * dy) <= 2.000001)
                }
            }
        }
    }

    @Test func packedLinesComeBackAsTheyWere() {
        var random = SeededRandom(11)
        var packed = PackedLines()
        var lines: [[MercatorPoint]] = []
        for _ in 0..<300 {
            let line = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                MercatorPoint(
                    x: Int64.random(in: -0x4_0000_0000...0x4_0000_0000, using: &random),
                    y: Int64.random(in: -10...10, using: &random))
            }
            packed.append(line)
            if !line.isEmpty { lines.append(line) }
        }
        var back: [[MercatorPoint]] = []
        packed.forEachGroup(of: 100) { back += $0 }
        #expect(back == lines && packed.count == lines.count)
        let long = (0..<10_000).map { MercatorPoint(x: $0, y: -$0) }
        var one = PackedLines()
        one.append(long)
        back = []
        one.forEachGroup(of: 1) { back += $0 }
        #expect(back.count == 5 && back[0].last == back[1].first)
        #expect(back[0] + back.dropFirst().flatMap { $0.dropFirst() } == long)
    }
}
