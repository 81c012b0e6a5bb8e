import Digests
import Errors
import Files
import Foundation
import TestSupport
import Testing
import Tiles
import Wire
import ZeroMQ

@testable import Worker

/// What a worker counts while it does real work.
@Suite(.timeLimit(.minutes(15)))
struct WorkerMetricsTests {
    private func page(_ metrics: WorkerMetrics, _ budgets: WorkerBudgets = WorkerBudgets()) throws -> MetricsPage {
        let page = try MetricsPage(metrics.page(budgets.total))
        #expect(page.problems(of: "worker") == [])
        #expect(page.missing(of: "worker") == [])
        return page
    }

    @Test func aBatchIsCountedByItsTilesRequestsAndBytes() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let origin = try ScriptedServer { request in
            switch request.path {
            case "/2/3/3.png": .reply(404)
            case "/2/0/0.png": .reply(200, headers: [("Content-Type", "text/html")], body: Array("<html>x</html>".utf8))
            default: .reply(200, headers: [("Content-Type", "image/png")], body: Stable.png)
            }
        }
        defer { origin.stop() }
        let metrics = WorkerMetrics()
        #expect(try page(metrics).sum("worker_tiles_total") == 0)
        let runner = LeaseRunner(store: stable.store, environment: [:], metrics: metrics)
        guard case .done(let commit) = await runner.run(try stable.offer(1, origin.url), WorkMeter()) else {
            throw Stable.Unexpected()
        }
        let done = try page(metrics)
        #expect(done.value("worker_tiles_total", ["result": "found"]) == 19)
        #expect(done.value("worker_tiles_total", ["result": "empty"]) == 1)
        #expect(done.value("worker_tiles_total", ["result": "failed"]) == 1)
        #expect(done.value("worker_tiles_failed_total", ["cause": "html-page"]) == 1)
        #expect(done.value("worker_rejects_total", ["what": "body"]) == 1)
        #expect(done.value("worker_received_bytes_total") == Double(commit.fetch.received))
        #expect(done.value("worker_shard_bytes_total") == Double(commit.fetch.shardBytes))
        #expect(done.value("worker_uploads_total") == 1)
        #expect(done.value("worker_uploaded_bytes_total") == Double(commit.fetch.shardBytes))
        // The body that was no tile was requested three times.
        #expect(done.value("worker_request_duration_seconds_count", ["kind": "tiles"]) == 23)
        #expect(done.value("worker_request_duration_seconds_count", ["kind": "archive"]) == 0)
    }

    @Test func theDiskOfWorkInHandIsShown() throws {
        let stable = try Stable()
        defer { stable.remove() }
        let service = stable.service("tcp://127.0.0.1:9") {
            $0.scratch = stable.folder.appending(path: "not/there/yet")
        }
        let page = try MetricsPage(service.metricsPage())
        let (free, size) = (page.value("worker_disk_free_bytes"), page.value("worker_disk_size_bytes"))
        #expect(try #require(free) > 0 && #require(size) >= #require(free))
    }

    @Test func unchangedTilesAndUnusableSourcesAreCounted() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let origin = try ScriptedServer { request in
            request.headers["if-none-match"] == "\"a\""
                ? .reply(304, headers: [("ETag", "\"a\"")])
                : .reply(200, headers: [("Content-Type", "image/png"), ("ETag", "\"a\"")], body: Stable.png)
        }
        defer { origin.stop() }
        let metrics = WorkerMetrics()
        let runner = LeaseRunner(store: stable.store, environment: [:], metrics: metrics)
        var offer = try stable.offer(1, origin.url)
        guard case .done(let first) = await runner.run(offer, WorkMeter()) else { throw Stable.Unexpected() }
        offer.fetch.base = [Rig.digest, first.fetch.shard]
        guard case .done = await runner.run(offer, WorkMeter()) else { throw Stable.Unexpected() }
        let done = try page(metrics)
        #expect(done.value("worker_tiles_total", ["result": "found"]) == 21)
        #expect(done.value("worker_tiles_total", ["result": "not-modified"]) == 21)
        #expect(done.value("worker_rejects_total", ["what": "source"]) == 1)
    }

    @Test func leasesAreCountedByTheirEnd() throws {
        let metrics = WorkerMetrics()
        func failure(_ cause: FailureCause, lost: [Digest] = []) -> WorkOutcome {
            .failed(WorkFailure(cause: cause, detail: "", retriable: true, lostShards: lost))
        }
        metrics.add(.done(PBCommit()), of: .fetch)
        metrics.add(.cancelled, of: .merge)
        metrics.add(failure(.badBatch), of: .fetch)
        metrics.add(failure(.shardCorrupt, lost: [Digest(of: [1]), Digest(of: [2])]), of: .merge)
        metrics.addReturned(3)
        metrics.addRefused()
        metrics.recordLink(.connected)
        metrics.recordLink(.disconnected)
        metrics.recordLink(.connected)
        let page = try page(metrics)
        #expect(page.value("worker_leases_total", ["work": "fetch", "result": "done"]) == 1)
        #expect(page.value("worker_leases_total", ["work": "merge", "result": "cancelled"]) == 1)
        #expect(page.value("worker_leases_total", ["work": "merge", "result": "failed"]) == 1)
        #expect(page.value("worker_failures_total", ["cause": "bad-batch"]) == 1)
        #expect(page.value("worker_rejects_total", ["what": "batch"]) == 1)
        #expect(page.value("worker_rejects_total", ["what": "shard"]) == 2)
        #expect(page.value("worker_leases_returned_total") == 3)
        #expect(page.value("worker_results_refused_total") == 1)
        #expect(page.value("worker_reconnects_total") == 1 && page.value("worker_connected") == 1)
        metrics.recordLink(.disconnected)
        #expect(try self.page(metrics).value("worker_connected") == 0)
    }
}

extension Stable {
    /// Work ended in another way than the test needs.
    struct Unexpected: Error {}
}
