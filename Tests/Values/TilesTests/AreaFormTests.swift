import Testing

@testable import Tiles

/// Sets of areas: unions, intersections, and areas without what others cover wholly.
struct AreaFormTests {
    private static func form(_ shape: MercatorShape, _ margin: Margin? = nil) -> AreaForm {
        .shape({ AreaShape(polygons: shape) }, margin)
    }

    private static func box(_ west: Double, _ south: Double, _ east: Double, _ north: Double) throws -> AreaForm {
        form(MercatorShape(try BoundingBox(west: west, south: south, east: east, north: north)))
    }

    /// A random polygon on a grid of units.
    private static func polygon(_ random: inout SeededRandom, grid: Int64) -> MercatorShape {
        let reach = MercatorPoint.world / grid
        let ring = (0..<Int.random(in: 3...7, using: &random)).map { _ in
            MercatorPoint(
                x: Int64.random(in: 0...reach, using: &random) * grid,
                y: Int64.random(in: 0...reach, using: &random) * grid)
        }
        return MercatorShape(polygons: [[ring]])
    }

    @Test func removedTilesAreThoseThatAreCoveredWholly() throws {
        // At zoom 3 a tile is 45 degrees wide.
        let area = try Self.box(-179, -60, 179, 60)
        let removed = try Self.box(-90, -80, 50, 80)
        let mask = AreaForm.difference(area, removed).mask(3)
        let columns = Set(mask.occupiedTiles(atZoom: 3).map(\.x))
        // -90 to 45 is wholly covered; 45 to 90 is cut by the edge at 50.
        #expect(columns == [0, 1, 5, 6, 7])
        #expect(AreaForm.difference(area, .world).mask(6).isEmpty)
        #expect(AreaForm.difference(area, try Self.box(1, 1, 1.01, 1.01)).mask(3) == area.mask(3))
    }

    /// A tile of a random polygon: whether sampled points of its inside all lie inside.
    @Test(arguments: 0..<SeededRandom.rounds(300))
    func aCoveredTileHasNoEdgeInItAndLiesInside(seed: UInt64) {
        var random = SeededRandom(seed)
        let depth = 4
        let shape = Self.polygon(&random, grid: [1 << 28, 1 << 26, 12_345].randomElement(using: &random) ?? 1)
        let covered = TileMask(coveredBy: shape, maxZoom: depth)
        let whole = TileMask(full: depth).subtracting(covered: covered)
        for tile in allTiles(depth) where tile.zoom == depth {
            let (x, y, size) = (tile.origin.x, tile.origin.y, tile.units)
            let ring = shape.polygons[0][0]
            let entered = zip(ring, ring.dropFirst() + ring.prefix(1)).contains {
                CoverEdge($0, $1).enters(x: x, y: y, size: size)
            }
            // No edge enters it, so its middle is representative; a ray to the east, ends counted once.
            let (middleX, middleY) = (Int128(x + size / 2), Int128(y + size / 2))
            let crossed = zip(ring, ring.dropFirst() + ring.prefix(1)).count { one, two in
                guard (one.y > Int64(middleY)) != (two.y > Int64(middleY)) else { return false }
                let left = (middleX - Int128(one.x)) * Int128(two.y - one.y)
                let right = Int128(two.x - one.x) * (middleY - Int128(one.y))
                return two.y > one.y ? left < right : left > right
            }
            let isInside = crossed % 2 == 1
            let expected = !entered && isInside
            #expect(whole.contains(tile) == !expected, "seed \(seed) \(tile)")
        }
    }

    @Test(arguments: 0..<SeededRandom.rounds(300))
    func setsAreSetsOfTilesAtEveryZoom(seed: UInt64) throws {
        var random = SeededRandom(seed)
        let forms = (0..<3).map { _ in Self.form(Self.polygon(&random, grid: 1 << 26)) }
        let depth = 6
        let sets = forms.map { Set(tiles(of: $0.mask(depth))) }
        #expect(tiles(of: AreaForm.union(forms).mask(depth)) == sets[0].union(sets[1]).union(sets[2]))
        #expect(
            tiles(of: AreaForm.intersection(forms).mask(depth)) == sets[0].intersection(sets[1]).intersection(sets[2]))
        // A tile goes when the removed area covers it, and a tile above when all below it are covered.
        let covered = forms[1].covered(depth)
        func isCovered(_ tile: TileID) -> Bool {
            tile.zoom == depth ? covered.contains(tile) : tile.children.allSatisfy(isCovered)
        }
        let kept = sets[0].filter { !isCovered($0) }
        let difference = AreaForm.difference(forms[0], forms[1])
        #expect(tiles(of: difference.mask(depth)) == kept)
        // The tiles of a zoom do not depend on the deepest one.
        for zoom in 0...depth {
            for form in [difference, .union(forms), .intersection(forms)] {
                #expect(form.mask(depth).clipped(toZoom: zoom) == form.mask(zoom), "seed \(seed) zoom \(zoom)")
            }
        }
        // What is cut out of the removed area stays.
        let hole = AreaForm.difference(.world, .difference(forms[0], forms[1]))
        #expect(tiles(of: forms[1].mask(depth)).subtracting(tiles(of: hole.mask(depth))).isEmpty)
    }

    @Test func aMarginWidensTheAreaButNotWhatIsRemovedFromIt() throws {
        let margin = try Margin([.init(zoom: 0, meters: 50_000)])
        let (area, removed) = (try Self.box(10, 50, 12, 52), try Self.box(11, 50.5, 12.5, 51.5))
        let plain = AreaForm.difference(area, removed)
        let wide = plain.widened(by: margin)
        #expect(wide.mask(10) == AreaForm.difference(area.widened(by: margin), removed).mask(10))
        #expect(plain.mask(10).subtracting(wide.mask(10)).isEmpty)
        #expect(wide.mask(10).count(atZoom: 10) > plain.mask(10).count(atZoom: 10))
        // A margin covers tiles wholly, too: those within it of one edge.
        let covered = removed.widened(by: margin).covered(10)
        #expect(removed.covered(10).subtracting(covered).isEmpty)
        #expect(covered.count(atZoom: 10) > removed.covered(10).count(atZoom: 10))
        #expect(covered.subtracting(removed.widened(by: margin).mask(10)).isEmpty)
    }
}
