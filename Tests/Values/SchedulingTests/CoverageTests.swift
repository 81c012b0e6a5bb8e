import Scheduling
import Testing
import Tiles

struct CoverageTests {
    private func zooms(_ low: Int, _ high: Int) throws -> ZoomRange { try #require(ZoomRange(min: low, max: high)) }

    @Test func eachStateOfABatchHasItsByte() throws {
        var bench = Bench()
        let job = bench.submit(7)
        #expect(bench.scheduler.coverage(of: job, size: 512)?.map(\.cells) == [[1, 1, 1, 1, 1, 1, 1]])
        bench.join(1, credit: 6)
        let offers = bench.offers()
        func commit(_ index: Int, _ counts: FetchCounts, failures: [FailedTile] = []) {
            bench.on(.commit(1, offers[index].token, .fetch(Bench.digest(UInt64(index)), counts, failures: failures)))
        }
        let lost = FailedTile(
            tile: try #require(TileID(zoom: 14, x: 24, y: 0)),
            trouble: .reported(cause: "http-status", detail: "404"))
        commit(0, FetchCounts(stored: 85))
        commit(1, FetchCounts(stored: 80, empty: 5))
        commit(2, FetchCounts(empty: 85))
        commit(3, FetchCounts(stored: 84, failed: 1), failures: [lost])
        commit(4, FetchCounts(stored: 85, notModified: 85))
        let band = try #require(bench.scheduler.coverage(of: job, size: 512)?.first)
        // The batch with a failed tile waits for its next attempt.
        #expect(band.cells == [3, 4, 5, 1, 9, 2, 1])
        #expect(band.zooms == (try zooms(11, 14)) && band.cellZoom == 11 && band.shift == 0)
        #expect((band.x, band.y, band.width, band.height) == (0, 0, 7, 1))
        #expect(bench.scheduler.coverage(of: 99, size: 512) == nil)
    }

    @Test func aSmallPictureHasTheWorstStateOfItsCells() throws {
        var bench = Bench()
        let job = bench.submit(2_050)
        bench.join(1, credit: 1)
        bench.finish(bench.offers()[0], by: 1)
        let band = try #require(bench.scheduler.coverage(of: job, size: 512)?.first)
        // 2,048 columns in two rows: every byte stands for 4 × 4 cells, and one stored cell is hidden by waiting ones.
        #expect((band.shift, band.width, band.height) == (2, 512, 1))
        #expect(band.cells.allSatisfy { $0 == CellState.waiting.rawValue })
        let whole = try #require(bench.scheduler.coverage(of: job, size: 4_096)?.first)
        #expect((whole.shift, whole.width, whole.height) == (0, 2_048, 2))
        #expect(whole.cells.prefix(3) == [3, 1, 1] && whole.cells[2_048...2_050] == [1, 1, 0])
    }

    @Test func aDividedBatchIsDrawnByItsParts() throws {
        var bench = Bench()
        let job = bench.submit(1)
        bench.join(1)
        for _ in 0..<60 where bench.scheduler.batches(of: job).allSatisfy({ $0.state != .split }) {
            bench.on(.ready(1, credit: 8))
            for offer in bench.offers(to: 1) {
                bench.on(.fail(1, offer.token, Trouble(cause: "internal", detail: "it crashes"), retriable: true))
            }
            bench.cut()
            bench.pass(2_000)
        }
        let bands = try #require(bench.scheduler.coverage(of: job, size: 512))
        // The parts lie within the zooms of the planned batch, so there is one band.
        #expect(bands.map(\.zooms) == [try zooms(11, 14)])
        let band = try #require(bands.first)
        #expect(band.cellZoom == 12 && (band.width, band.height) == (2, 2))
        #expect(!band.cells.contains(0) && !band.cells.contains(8))
    }
}
