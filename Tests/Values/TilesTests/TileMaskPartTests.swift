import Testing

@testable import Tiles

/// Parts of masks along the Hilbert curve, against sets of tiles.
struct TileMaskPartTests {
    private func randomMask(_ random: inout SeededRandom, depth: Int) throws -> TileMask {
        var tiles: [TileID] = []
        for _ in 0..<Int(random.next() % 40 + 1) {
            // Some tiles end above the deepest zoom, as with a margin that narrows.
            let zoom = Int(random.next() % 3) + depth - 2
            let (x, y) = (Int(random.next() % (1 << UInt64(zoom))), Int(random.next() % (1 << UInt64(zoom))))
            tiles.append(try #require(TileID(zoom: zoom, x: x, y: y)))
        }
        return TileMask(tiles: tiles, maxZoom: depth)
    }

    /// Whether a tile has a place of a run below it, or lies below one.
    private func reaches(_ tile: TileID, _ run: Range<UInt64>, grid: Int) -> Bool {
        let cell = tile.ancestor(atZoom: min(grid, tile.zoom)) ?? tile
        let first = cell.hilbertPlace << UInt64(2 * (grid - cell.zoom))
        return (first..<first + 1 << UInt64(2 * (grid - cell.zoom))).overlaps(run)
    }

    @Test func runsThatFollowOneAnotherHaveAllTilesAndNoOthers() throws {
        var random = SeededRandom(93)
        for round in 0..<60 {
            let depth = 6
            let mask = try randomMask(&random, depth: depth)
            let grid = Int(random.next() % 4) + 2
            let common = Int(random.next() % UInt64(grid + 1))
            let end: UInt64 = 1 << UInt64(2 * grid)
            let places = ([0] + (0..<random.next() % 4).map { _ in random.next() % end }).sorted()
            let starts = Array(Set(places)).sorted()
            var union = TileMask(empty: depth)
            for (number, start) in starts.enumerated() {
                let next = number + 1 < starts.count ? starts[number + 1] : nil
                let part = mask.part(
                    from: try #require(TileID(hilbertPlace: start, zoom: grid)),
                    before: next.flatMap { TileID(hilbertPlace: $0, zoom: grid) }, common: common)
                #expect(part.maxZoom == mask.maxZoom)
                let run = start..<(next ?? end)
                let expected = Set(mask.tiles(in: .all).filter { $0.zoom < common || reaches($0, run, grid: grid) })
                #expect(Set(part.tiles(in: .all)) == expected, "round \(round), part \(number)")
                union = union.union(part)
            }
            #expect(union == mask, "round \(round)")
        }
    }

    @Test func aPlaceIsTheTileThere() throws {
        for zoom in [0, 1, 5, 22] {
            let last: UInt64 = 1 << UInt64(2 * zoom) - 1
            for place in [0, last / 3, last] {
                let tile = try #require(TileID(hilbertPlace: place, zoom: zoom))
                #expect(tile.zoom == zoom && tile.hilbertPlace == place)
            }
            #expect(TileID(hilbertPlace: last + 1, zoom: zoom) == nil)
        }
        #expect(TileID(hilbertPlace: 0, zoom: 23) == nil)
    }
}
