import ClusterClient
import CommandSupport
import Foundation
import Testing
import Wire

@testable import Commands

struct ProgressTests {
    private func job(_ tiles: UInt64, stored: UInt64, inFlight: UInt64) -> PBJobStatus {
        PBJobStatus.make {
            $0.job = 7
            $0.label = "Estonia"
            $0.state = "fetching"
            $0.tiles = tiles
            $0.stored = stored
            $0.inFlightDone = inFlight
        }
    }

    @Test func progressNeverExceedsTheWhole() {
        let view = job(100, stored: 90, inFlight: 60)
        #expect(view.settled == 100)
        #expect(view.fraction == 1)
        #expect(job(0, stored: 0, inFlight: 0).fraction == 1)
    }

    @Test func percentsRoundDown() {
        #expect(ProgressLine.plain(job(1000, stored: 999, inFlight: 0), RateMeter()).contains("99 %"))
    }

    @Test func theBarIsAsWideWhateverTheShare() {
        for done: UInt64 in [0, 1, 50, 100] {
            let bar = ProgressLine.bar(job(100, stored: done, inFlight: 0), RateMeter()).line(
                columns: 43, isUnicode: true)
            #expect(bar.prefix(10).allSatisfy { $0 == "█" || $0 == "░" })
            #expect(bar.prefix(10).count { $0 == "█" } == done / 10)
            #expect(bar.contains("\(done) %"))
        }
    }

    @Test(arguments: [20, 40, 80, 120])
    func theReasonOfAWaitComesFirst(columns: Int) {
        var waiting = job(100, stored: 0, inFlight: 0)
        waiting.waiting = "tiles.example.com does not answer: next attempt in 8 s"
        let line = ProgressLine.bar(waiting, RateMeter()).line(columns: columns, isUnicode: true)
        let reason = waiting.waiting.prefix(min(waiting.waiting.count, columns - 5))
        #expect(line.contains(reason), "\(line)")
        #expect(line.count <= columns - 3)
    }

    @Test func aJobThatWaitsHasNoEnd() {
        var meter = RateMeter()
        meter.add(done: 0, at: 0)
        meter.add(done: 50, at: 10)
        var view = job(100, stored: 50, inFlight: 0)
        #expect(ProgressLine.plain(view, meter).contains("ETA 10 s"), "\(ProgressLine.plain(view, meter))")
        view.waiting = "worker local-1 is paused after disk-full: no space"
        #expect(!ProgressLine.plain(view, meter).contains("ETA"))
        #expect(!ProgressLine.bar(view, meter).line(columns: 200, isUnicode: true).contains("ETA"))
    }

    /// A worker that tries again takes no lease meanwhile, and names no cause.
    @Test func aFullDiskStaysTheReasonBetweenAttempts() throws {
        let disk = FileManager.default.temporaryDirectory
        let full = "worker local-1 is paused after disk-full: Only 12 bytes are free for blobs in '\(disk.path)/blobs'"
        var stall = StallNotice()
        var view = job(100, stored: 5, inFlight: 0)
        #expect(stall.waiting(view, at: 0).isEmpty)
        view.waiting = full
        #expect(stall.waiting(view, at: 1) == full)
        view.waiting = ""
        #expect(stall.waiting(view, at: 8) == full)
        #expect(stall.stands(view, at: 9) == 9, "a reason is no progress")
        view.stored = 6
        #expect(stall.waiting(view, at: 10).isEmpty, "there is progress")
        view.waiting = "tiles.example.com does not answer: next attempt in 8 s"
        #expect(stall.waiting(view, at: 11) == view.waiting)
        view.waiting = ""
        #expect(stall.waiting(view, at: 12).isEmpty, "other reasons end when the coordinator says so")
        let hint = StallNotice.remedy([full], disk: disk)
        #expect(hint.hasPrefix("free space on the disk of '\(disk.path)' (") && hint.hasSuffix(" are free)"), "\(hint)")
        #expect(StallNotice.remedy([full]) == "free space on the disk that is named above")
        #expect(StallNotice.remedy(["worker a: disk-full"], disk: disk) == "free space on the disk that is named above")
        #expect(StallNotice.remedy(["worker a: throttled"], disk: disk) == "check the tile server")
    }

    @Test func theScreenTellsPausedJobsAndSilentWorkers() {
        let paused = PBJobStatus.make {
            $0.job = 3
            $0.state = "fetching"
            $0.waiting = "paused"
        }
        let workers = ["busy", "suspect"].map { state in PBWorkerStatus.make { $0.state = state } }
        let screen = TopScreen(health: PBHealth(), jobs: [paused], meters: [:], workers: workers)
        let lines = screen.lines(height: 40)
        #expect(lines[0].hasSuffix("2 workers, 1 busy, 1 silent"))
        #expect(lines.contains { $0.contains("fetching (paused)") })
    }

    @Test func theRateIsOfTheLastHalfMinute() throws {
        var meter = RateMeter()
        #expect(meter.rate == nil)
        meter.add(done: 0, at: 0)
        meter.add(done: 1000, at: 10)
        #expect(meter.rate == 100)
        #expect(meter.remaining(to: 2000) == 10)
        meter.add(done: 1000, at: 35)
        meter.add(done: 1000, at: 60)
        #expect(meter.rate == 0)
        #expect(meter.remaining(to: 2000) == nil)
    }

    @Test func lostWorkStartsTheMeasureAnew() {
        var meter = RateMeter()
        meter.add(done: 500, at: 0)
        meter.add(done: 100, at: 1)
        #expect(meter.rate == nil)
        meter.add(done: 200, at: 2)
        #expect(meter.rate == 100)
    }
}
