import Blobs
import Errors
import Files
import Foundation
import Scheduling
import TestSupport
import Testing
import Wire

@testable import Coordinator

/// The page of a real coordinator with workers that speak the wire.
@Suite(.timeLimit(.minutes(15)))
struct MetricsPageTests {
    /// The next page for which `isReached` holds.
    ///
    /// Every page on the way is of the table, and no counter falls.
    private func page(
        _ service: CoordinatorService, _ what: String, since earlier: MetricsPage? = nil,
        _ isReached: (MetricsPage) -> Bool
    ) async throws -> MetricsPage {
        var last = earlier
        return try await Eventually.get(what) {
            guard let text = service.metricsPage() else { return nil }
            let page = try MetricsPage(text)
            #expect(page.problems(of: "coordinator") == [])
            if let last { #expect(page.fallen(since: last) == []) }
            last = page
            return isReached(page) ? page : nil
        }
    }

    @Test func aJobIsCountedFromItsSubmissionToItsPublication() async throws {
        let fixture = try Fixture { $0.exposesMetrics = true }
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            let start = try await page(service, "a page") { _ in true }
            #expect(start.missing(of: "coordinator").allSatisfy { $0.hasPrefix("packhorse_blob_store_") })
            #expect(start.value("coordinator_epoch") == 1 && start.value("jobs", ["state": "fetching"]) == 0)
            _ = try await talker.submit(try Fixture.submission(side: 2))
            let waiting = try await page(service, "the job waits for a worker", since: start) {
                $0.value("jobs_waiting", ["reason": "worker"]) == 1
            }
            #expect(waiting.value("jobs", ["state": "fetching"]) == 1)
            #expect(waiting.sum("job_tiles") == 84 && waiting.value("job_tiles", ["state": "waiting"]) == 84)
            #expect(try #require(waiting.value("open_job_oldest_seconds")) > 0)
            #expect(waiting.value("workers", ["state": "ready"]) == 0)
            let worker = try FakeWorker(service.workEndpoint, blobs: try fixture.blobs())
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await worker.work() }
                defer { group.cancelAll() }
                let status = try await talker.watch(1) { $0.state == "done" }
                let done = try await page(service, "the job is done", since: waiting) {
                    $0.value("jobs", ["state": "done"]) == 1
                }
                #expect(done.value("accepted_tiles_total", ["result": "stored"]) == Double(status.stored))
                #expect(done.value("accepted_batches_total") == Double(status.batches))
                #expect(done.value("accepted_body_bytes_total") == Double(status.bytes))
                #expect(done.value("publications_total", ["result": "published"]) == 1)
                #expect(done.sum("job_tiles") == 0 && done.sum("jobs_waiting") == 0)
                #expect(done.value("workers", ["state": "ready"]) == 1)
                guard case .events(let events) = try await talker.ask(.getEvents(.make { $0.limit = 1_000 })) else {
                    throw Talker.Silence()
                }
                _ = try await page(service, "the log's end is known", since: done) {
                    $0.value("coordinator_event_sequence") == Double(events.last)
                }
            }
        }
        // The counts of the next process begin at 0; the number of the last event does not.
        try await fixture.withCoordinator { service in
            let again = try await page(service, "a page after a restart") { _ in true }
            #expect(again.value("coordinator_epoch") == 2 && again.value("jobs", ["state": "done"]) == 1)
            #expect(try #require(again.value("coordinator_event_sequence")) > 5)
            #expect(again.sum("accepted_tiles_total") == 0)
        }
    }

    @Test func whatFailsIsCountedByItsCause() async throws {
        let fixture = try Fixture { $0.exposesMetrics = true }
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            _ = try await talker.submit(try Fixture.submission())
            let worker = try FakeWorker(service.workEndpoint, blobs: try fixture.blobs())
            try await worker.talker.say(worker.hello())
            _ = try await worker.next { if case .welcome = $0 { true } else { nil } }
            try await worker.talker.say(.ready(.make { $0.credit = 1 }))
            let offer = try await worker.nextOffer()
            let busy = try await page(service, "the worker has a lease") { $0.value("worker_leases") == 1 }
            #expect(busy.value("workers", ["state": "busy"]) == 1)
            try await worker.talker.say(
                .fail(
                    .make {
                        $0.token = offer.token
                        $0.cause = "bad-tileset"
                        $0.detail = "a test"
                    }))
            let failed = try await page(service, "the batch is given up", since: busy) {
                $0.value("failed_batches_total", ["cause": "bad-tileset"]) == 1
            }
            #expect(failed.sum("failed_batches_total") == 1)
            #expect(
                failed.value("job_batches", ["state": "failed"]) == 1 || failed.value("jobs", ["state": "failed"]) == 1)
        }
    }

    @Test func disksAndBlobsAreShown() async throws {
        let fixture = try Fixture {
            $0.exposesMetrics = true
            $0.diskSpace = { DiskSpace(free: $0.path.hasSuffix("blobs") ? 50 : 70, total: 1_000) }
        }
        try await fixture.withCoordinator { service in
            let blobs = try fixture.blobs()
            let temporary = try blobs.temporaryURL()
            try Data("a blob".utf8).write(to: temporary)
            let page = try await page(service, "disks and blobs") {
                $0.families["packhorse_blob_store_bytes"] != nil && $0.sum("disk_size_bytes") == 3_000
            }
            #expect(page.value("disk_free_bytes", ["folder": "blobs"]) == 50)
            #expect(page.value("disk_free_bytes", ["folder": "state"]) == 70)
            #expect(page.value("disk_free_bytes", ["folder": "catalog"]) == 70)
            // A temporary file is no blob.
            #expect(page.value("blob_store_blobs") == 0 && page.value("blob_store_bytes") == 0)
            #expect(page.missing(of: "coordinator") == [])
        }
    }

    @Test func backupsAreShownByTheirAge() async throws {
        let fixture = try Fixture { $0.exposesMetrics = true }
        try await fixture.withCoordinator { service in
            let before = try await page(service, "a page") { _ in true }
            #expect(before.value("backup_age_seconds") == nil, "a backup that never was has no age")
            guard case .backedUp(let backup) = try await Talker(service.controlEndpoint).ask(.backup(PBBackup())) else {
                throw Talker.Silence()
            }
            // Ten hours older than it is.
            let old = Date(timeIntervalSinceNow: -36_000)
            try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: backup.path)
            let after = try await page(service, "its age") { ($0.value("backup_age_seconds") ?? 0) >= 36_000 }
            #expect(after.value("backup_age_seconds").map { $0 < 36_200 } == true)
            #expect(after.value("schedules_failing") == 0 && after.value("notifications_waiting_seconds") == 0)
        }
    }

    @Test func withoutTheOptionThereIsNoPage() async throws {
        let fixture = try Fixture()
        try await fixture.withCoordinator { service in
            _ = try await Talker(service.controlEndpoint).ask(.ping(PBPing()))
            #expect(service.metricsPage() == nil)
        }
    }

    private static let isMeasured = ProcessInfo.processInfo.environment["PACKHORSE_MEASURE_LOOP"] != nil

    /// Prints how long the loop makes snapshots of a thousand jobs, a planet of batches and a thousand workers, and how long pages
    /// take.
    ///
    /// A machine that does nothing else is needed. Run it with PACKHORSE_MEASURE_LOOP=1.
    @Test(.enabled(if: isMeasured))
    func aSnapshotTakesLessThanAMillisecond() async throws {
        let fixture = try Fixture {
            $0.exposesMetrics = true
            $0.leaseSeconds = 600
        }
        try await fixture.withCoordinator { service in
            let talker = try Talker(service.controlEndpoint)
            _ = try await talker.submit(try Fixture.planet())
            for number in 1..<1_000 {
                _ = try await talker.submit(try Fixture.submission(request: "r\(number)", id: "P\(number)"))
            }
            let workers = try (0..<1_000).map { number in
                try FakeWorker(service.workEndpoint, blobs: try fixture.blobs(), name: "w\(number)")
            }
            for worker in workers {
                try await worker.talker.say(worker.hello())
                try await worker.talker.say(.ready(.make { $0.credit = 4 }))
            }
            let full = try await page(service, "all workers have leases") {
                print(
                    "METRICS", $0.sum("workers"), "workers,", $0.sum("worker_leases"), "leases,", $0.sum("jobs"),
                    "jobs,",
                    $0.sum("job_batches"), "batches")
                return $0.sum("workers") == 1_000 && $0.sum("worker_leases") >= 500
            }
            let before = try #require(full.value("coordinator_snapshot_seconds_count"))
            let start = ContinuousClock.now
            var (pages, longest) = (0, Duration.zero)
            while ContinuousClock.now - start < .seconds(20) {
                let began = ContinuousClock.now
                _ = service.metricsPage()
                longest = max(longest, ContinuousClock.now - began)
                pages += 1
                try await Task.sleep(for: .milliseconds(10))
            }
            let last = try await page(service, "a page", since: full) { _ in true }
            let count = try #require(last.value("coordinator_snapshot_seconds_count")) - before
            let slow =
                count
                - (last.value("coordinator_snapshot_seconds_bucket", ["le": "0.001"]) ?? 0)
                + (full.value("coordinator_snapshot_seconds_bucket", ["le": "0.001"]) ?? 0)
            let sum = try #require(last.value("coordinator_snapshot_seconds_sum"))
            print(
                "METRICS", pages, "pages, longest", longest, "|", count, "snapshots,", slow, "above 1 ms, mean of all",
                sum / (count + before), "s, longest wait", last.value("coordinator_longest_wait_seconds") ?? -1)
            #expect(slow <= count / 20)
        }
    }
}
