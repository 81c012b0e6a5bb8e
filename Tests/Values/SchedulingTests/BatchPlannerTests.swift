import Testing
import Tiles

@testable import Scheduling

struct BatchPlannerTests {
    private func zooms(_ low: Int, _ high: Int) throws -> ZoomRange { try #require(ZoomRange(min: low, max: high)) }

    /// A blob of tiles around a place, ragged on purpose.
    private func raggedMask(maxZoom: Int) throws -> TileMask {
        var tiles: [TileID] = []
        let middle = 1 << (maxZoom - 1)
        for x in 0..<90 {
            for y in 0..<(20 + (x * 7) % 60) where (x * 31 + y * 17) % 13 != 0 {
                tiles.append(try #require(TileID(zoom: maxZoom, x: middle + x, y: middle - 40 + y)))
            }
        }
        return TileMask(tiles: tiles, maxZoom: maxZoom)
    }

    @Test func batchesHoldEveryTileOfTheMaskExactlyOnce() throws {
        let mask = try raggedMask(maxZoom: 13)
        let planner = BatchPlanner(mask: mask, zooms: try zooms(3, 13))
        var seen: Set<TileID> = []
        var count: UInt64 = 0
        for batch in planner.batches() {
            let tiles = Array(mask.restricted(to: batch.cell).tiles(in: batch.zooms))
            #expect(UInt64(tiles.count) == batch.tiles)
            for tile in tiles {
                #expect(batch.cell.contains(tile))
                #expect(seen.insert(tile).inserted, "\(tile) twice")
            }
            count += batch.tiles
        }
        #expect(count == planner.tiles)
        #expect(seen == Set(mask.tiles(in: try zooms(3, 13))))
    }

    @Test func cellsLieAtOrAboveTheIndexZoomOfTheirPack() throws {
        let planner = BatchPlanner(mask: try raggedMask(maxZoom: 16), zooms: try zooms(0, 16))
        for batch in planner.batches() {
            let band = try #require(BatchBand.all.first { $0.zooms.contains(batch.zooms.min) })
            #expect(band.zooms.contains(batch.zooms.max))
            #expect(batch.cell.zoom <= band.indexZoom)
            #expect(batch.tiles <= BatchPlanner.largestBatch)
        }
    }

    @Test func batchesOfRangesAreFewLongAndOfOneZoomWhereThereAreManyTiles() throws {
        let planner = BatchPlanner(mask: try raggedMask(maxZoom: 14), zooms: try zooms(0, 14), cut: .ranges)
        let batches = Array(planner.batches())
        #expect(batches.reduce(0) { $0 + $1.tiles } == planner.tiles)
        #expect(batches.filter { $0.zooms.max >= 13 }.allSatisfy { $0.zooms.min == $0.zooms.max })
        #expect(
            batches.count < BatchPlanner(mask: planner.mask, zooms: planner.zooms).batches().reduce(0) { n, _ in n + 1 }
        )
        let whole = try #require(ZoomRange(min: 0, max: 22))
        #expect(BatchBand.ofRanges.flatMap { Array($0.zooms.min...$0.zooms.max) } == Array(whole.min...whole.max))
        #expect(BatchBand.ofRanges.allSatisfy { $0.indexZoom <= $0.zooms.min })
    }

    @Test func orderIsByBandThenHilbertID() throws {
        let batches = Array(BatchPlanner(mask: TileMask(full: 9), zooms: try zooms(0, 9)).batches())
        let keys = batches.map { ($0.zooms.min, $0.cell.hilbertID) }
        #expect(zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test func aSmallJobIsCutFinelyEnoughForManyWorkers() throws {
        let planner = BatchPlanner(mask: try raggedMask(maxZoom: 14), zooms: try zooms(0, 14))
        let batches = Array(planner.batches())
        #expect(batches.count >= 64)
        #expect(batches.map(\.tiles).max() ?? 0 <= max(planner.target, 85))
    }

    @Test func thePlanetIsEnumeratedWithFullCells() throws {
        let planner = BatchPlanner(mask: TileMask(full: 14), zooms: try zooms(0, 14))
        #expect(planner.tiles == (0...14).reduce(0) { $0 + (UInt64(1) << UInt64(2 * $1)) })
        var count = 0
        var sum: UInt64 = 0
        for batch in planner.batches() {
            count += 1
            sum += batch.tiles
        }
        #expect(count == 1 + 256 + 65_536)
        #expect(sum == planner.tiles)
    }

    @Test func anEmptyMaskHasNoBatches() throws {
        #expect(Array(BatchPlanner(mask: TileMask(empty: 14), zooms: try zooms(0, 14)).batches()).isEmpty)
    }
}
