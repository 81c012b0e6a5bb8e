import Errors
import Scheduling
import Testing
import Tiles

@testable import Coordinator

/// What the loop counts from its writes and reports.
struct LoopCountersTests {
    @Test func schedulesAreCountedFromTheirRows() throws {
        let rule = try CalendarRule("daily 1:00")
        func row(_ fired: UInt64, _ skipped: UInt64, unchanged: UInt64 = 0) -> StoreWrite {
            .schedule(
                Schedule(
                    id: "a", rule: rule, label: "", next: 0, lastJob: 0, fired: fired, skipped: skipped,
                    unchanged: unchanged),
                payload: nil)
        }
        var counters = LoopCounters()
        counters.begin(
            [Schedule(id: "a", rule: rule, label: "", next: 0, lastJob: 0, fired: 10, skipped: 5)], lastEvent: 7)
        counters.record(row(11, 5))
        counters.record(row(11, 7))
        #expect(counters.fired == 1 && counters.skipped == 2 && counters.withoutBuild == 0)
        counters.record(row(11, 7, unchanged: 1))
        #expect(counters.fired == 1 && counters.withoutBuild == 1)
        // A schedule that is removed and made again begins at 0.
        counters.record(.dropSchedule("a"))
        counters.record(row(0, 0))
        counters.record(row(1, 0))
        #expect(counters.fired == 2 && counters.skipped == 2 && counters.lastEvent == 7 && counters.writes == 6)
    }

    @Test func failedTilesAreCountedByTheirCause() throws {
        let tile = try #require(TileID(zoom: 1, x: 0, y: 0))
        var counters = LoopCounters()
        let causes = ["http-503", "html-page", "html-page", "made-up"]
        counters.record(
            .failures(
                1, batch: BatchIndex(0),
                causes.map { FailedTile(tile: tile, trouble: Trouble(cause: $0, detail: "")) }))
        #expect(counters.namedTiles == [.serverError: 1, .htmlPage: 2, .unknown: 1])
    }

    @Test func theLongestWaitIsForgottenAfterTwoMinutes() {
        var waits = LongestWait()
        waits.add(.milliseconds(900), now: Tick(milliseconds: 1_000))
        waits.add(.milliseconds(10), now: Tick(milliseconds: 59_000))
        #expect(waits.longest == .milliseconds(900))
        waits.add(.milliseconds(20), now: Tick(milliseconds: 60_000))
        #expect(waits.longest == .milliseconds(900))
        waits.add(.milliseconds(5), now: Tick(milliseconds: 121_000))
        #expect(waits.longest == .milliseconds(20))
        waits.add(.milliseconds(5), now: Tick(milliseconds: 600_000))
        #expect(waits.longest == .milliseconds(5))
    }

    @Test func aJobIsIdleUntilItMoves() {
        var bench = Scheduler(epoch: 1, now: Tick(milliseconds: 0))
        func progress(_ now: Int64) -> [SchedulerTotals.Progress] {
            bench.totals(now: Tick(milliseconds: now), origins: []).progress
        }
        guard let cell = TileID(zoom: 11, x: 0, y: 0), let zooms = ZoomRange(min: 11, max: 14) else { return }
        let submission = JobSubmission(
            requestID: "", allowedMissing: 0, batches: [PlannedBatch(cell: cell, zooms: zooms, tiles: 85)],
            packages: [Package(id: "A", tiles: 85)])
        _ = bench.handle(.submit(submission), now: Tick(milliseconds: 0))
        var idle = IdleJobs()
        #expect(idle.update(progress(1_000), now: Tick(milliseconds: 1_000)) == 0)
        #expect(idle.update(progress(5_000), now: Tick(milliseconds: 5_000)) == 4_000)
        // A paused job is not idle, and its time starts at 0 when it is resumed.
        _ = bench.handle(.order(1, .pause), now: Tick(milliseconds: 6_000))
        #expect(idle.update(progress(6_000), now: Tick(milliseconds: 6_000)) == 0)
        _ = bench.handle(.order(1, .resume), now: Tick(milliseconds: 7_000))
        #expect(idle.update(progress(7_000), now: Tick(milliseconds: 7_000)) == 1_000)
        _ = bench.handle(.cancel(1), now: Tick(milliseconds: 8_000))
        #expect(idle.update(progress(9_000), now: Tick(milliseconds: 9_000)) == 0)
    }
}
