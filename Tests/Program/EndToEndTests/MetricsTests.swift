import Foundation
import TestSupport
import Testing

/// The metrics of real processes during a real job, over TCP and over a Unix socket.
struct MetricsTests {
    private typealias Place = RawHTTPClient.Place

    /// A page of a running process, checked against the table of its program and against an earlier page.
    private func page(_ place: Place, of program: String, since earlier: MetricsPage? = nil) async throws -> MetricsPage
    {
        // The address is bound before the service has started, and says so.
        let answer = try await Eventually.get("\(program) has started") {
            let answer = try await RawHTTPClient.get("/metrics", from: place)
            return answer.status == 503 ? nil : answer
        }
        try #require(answer.status == 200, "\(answer.text)")
        let page = try MetricsPage(answer.text)
        #expect(page.problems(of: program) == [])
        if let earlier { #expect(page.fallen(since: earlier) == []) }
        return page
    }

    /// The first page for which `isReached` holds.
    private func page(
        _ place: Place, of program: String, _ what: String, since earlier: MetricsPage? = nil,
        _ isReached: @escaping (MetricsPage) -> Bool
    ) async throws -> MetricsPage {
        var last = earlier
        return try await Eventually.get(what) {
            let page = try await page(place, of: program, since: last)
            last = page
            return isReached(page) ? page : nil
        }
    }

    private func port() throws -> Int {
        try #require(try Ports.endpoint().split(separator: ":").last.flatMap { Int($0) })
    }

    @Test(.timeLimit(.programs))
    func metricsFollowAJobAndAgreeWithItsStatus() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(["--latency-ms", "20"], in: scratch)
        let tileset = scratch.url("tiles.yaml")
        try Data(
            """
            id: demo
            url: \(origin.url)/tiles/{z}/{x}/{y}.pbf
            format: mvt
            zoom: 0-14
            politeness: {requests_per_second: 200, concurrency: 8}
            """.utf8
        ).write(to: tileset)
        let (first, second) = (try port(), try port())
        // A path of a socket is short; a folder for temporary files may be deep.
        let folder = FileManager.default.temporaryDirectory.path
        let socket = "\(folder)/packhorse-metrics-\(UUID().uuidString.prefix(8))"
        let cluster = try await Cluster(
            workers: 0, coordinatorArguments: ["--metrics", "127.0.0.1:\(first)"], in: scratch)
        let coordinator = Place.port(first)
        let idle = try await page(coordinator, of: "coordinator", "the coordinator is ready") { _ in true }
        #expect(idle.sum("workers") == 0 && idle.sum("accepted_tiles_total") == 0)
        let job = try await cluster.submit(["LI", "EE", "--tileset", tileset.path, "--zoom", "0-12"])
        let waiting = try await page(coordinator, of: "coordinator", "the job waits", since: idle) {
            $0.value("jobs_waiting", ["reason": "worker"]) == 1
        }
        // Slow until the looks at the running job are done, however busy this machine is.
        let slow = try await cluster.run(["origins", "limit", origin.url, "--requests-per-second", "10"])
        #expect(slow.status == 0, "\(slow.errors)")
        try cluster.startWorker(["--metrics", "127.0.0.1:\(second)"])
        try cluster.startWorker(["--metrics", "unix:\(socket)"])
        let places = [Place.port(second), Place.path(socket)]
        try await Eventually.holds("both workers serve metrics") {
            for place in places {
                // Until the worker has started, nothing listens or the answer is 503.
                do {
                    guard try await RawHTTPClient.get("/metrics", from: place).status == 200 else { return false }
                } catch is RawHTTPClient.Failure { return false }
            }
            return true
        }
        let running = try await page(coordinator, of: "coordinator", "results come", since: waiting) {
            $0.sum("accepted_tiles_total") > 0 && $0.sum("workers") == 2
        }
        let early = [
            try await page(places[0], of: "worker"), try await page(places[1], of: "worker"),
        ]

        // While a job is paused, its numbers stand still and can be compared.
        let paused = try await cluster.run(["pause", job])
        #expect(paused.status == 0, "\(paused.errors)")
        let status = try await cluster.status(job)
        #expect(status.state == "fetching")
        let still = try await page(coordinator, of: "coordinator", "the job is paused", since: running) {
            $0.value("jobs_waiting", ["reason": "order"]) == 1
        }
        #expect(still.value("job_tiles", ["state": "stored"]) == Double(status.stored))
        #expect(still.value("job_tiles", ["state": "empty"]) == Double(status.empty))
        #expect(still.sum("job_tiles") == Double(status.tiles))
        #expect(still.value("job_batches", ["state": "done"]) == Double(status.batchesDone))
        #expect(still.sum("job_batches") == Double(status.batches))
        _ = try await cluster.run(["origins", "limit", origin.url, "--clear"])
        _ = try await cluster.run(["resume", job])
        let watched = try await cluster.run(["watch", job, "--progress", "none"])
        #expect(watched.status == 0, "\(watched.errors)")

        let done = try await cluster.status(job)
        let end = try await page(coordinator, of: "coordinator", "the job is done", since: running) {
            $0.value("jobs", ["state": "done"]) == 1
        }
        #expect(end.value("accepted_tiles_total", ["result": "stored"]) == Double(done.stored))
        #expect(end.value("accepted_tiles_total", ["result": "empty"]) == Double(done.empty))
        #expect(end.value("publications_total", ["result": "published"]) == 2)
        #expect(end.missing(of: "coordinator") == [])
        let name = String(origin.url.dropFirst("http://".count))
        // Workers report every few seconds, the last time after the job has ended.
        _ = try await page(coordinator, of: "coordinator", "all requests are reported", since: end) {
            $0.value("origin_requests_total", ["origin": name]).map { $0 >= Double(done.tiles) } == true
        }
        let last = [
            try await page(places[0], of: "worker", since: early[0]),
            try await page(places[1], of: "worker", since: early[1]),
        ]
        func both(_ name: String) -> Double { last.reduce(0) { $0 + $1.sum(name) } }
        // What was taken back when the job was paused was fetched twice.
        #expect(both("worker_tiles_total") >= Double(done.stored + done.empty))
        #expect(both("worker_received_bytes_total") >= Double(done.received))
        #expect(both("worker_shard_bytes_total") > 0 && both("worker_uploads_total") > 2)
        #expect(both("worker_request_duration_seconds_count") >= both("worker_tiles_total"))
        #expect(both("worker_connected") == 2 && both("worker_tiles_failed_total") == 0)
        #expect(last.allSatisfy { $0.missing(of: "worker") == [] })
        try await cluster.stop()
        #expect(!FileManager.default.fileExists(atPath: socket))
    }

    @Test(.timeLimit(.programs))
    func anAddressInUseIsNamedBeforeAnythingIsMade() async throws {
        let scratch = try Scratch()
        let port = try port()
        let cluster = try await Cluster(
            workers: 0, coordinatorArguments: ["--metrics", "127.0.0.1:\(port)"], in: scratch)
        let data = scratch.url("other")
        let arguments = [
            ["coordinator", "--data", data.path, "--control", try Ports.endpoint(), "--work", try Ports.endpoint()],
            ["worker", "--connect", cluster.work, "--blobs", cluster.data.appending(path: "blobs").path],
        ]
        for command in arguments {
            let outcome = try await Program.run(command + ["--metrics", "127.0.0.1:\(port)"], in: scratch)
            #expect(outcome.status == 75, "\(outcome.errors)")
            #expect(outcome.errors.contains("127.0.0.1:\(port)") && outcome.errors.contains("--metrics"))
            let wrong = try await Program.run(command + ["--metrics", "\(port)"], in: scratch)
            #expect(wrong.status == 64 && wrong.errors.contains("--metrics"), "\(wrong.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: data.path))
        try await cluster.stop()
    }
}
