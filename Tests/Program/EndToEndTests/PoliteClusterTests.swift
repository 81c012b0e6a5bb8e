import Foundation
import Synchronization
import TestSupport
import Testing

/// A tile server that keeps the time of each request and can throttle.
private final class WatchedOrigin: Sendable {
    struct Seen: Sendable {
        var times: [ContinuousClock.Instant] = []
        var inside = 0
        var maxInside = 0
        var throttled = 0
        /// Requests left until it throttles; `nil` = never.
        var untilThrottled: Int?
        var throttlesUntil: ContinuousClock.Instant?
    }
    private let seen = Mutex(Seen())
    private let server = Mutex<ScriptedServer?>(nil)
    /// 0 until the system has chosen one.
    private let chosen = Mutex(0)
    var port: Int { chosen.withLock { $0 } }
    /// A vector tile with one empty layer.
    private static let tile: [UInt8] = [0x1A, 0x08, 0x0A, 0x01, 0x61, 0x28, 0x80, 0x20, 0x78, 0x02]

    init(throttlesAfter count: Int? = nil) throws {
        seen.withLock { $0.untilThrottled = count }
        try start()
    }

    func start() throws {
        let started = try ScriptedServer(port: port) { [self] _ in
            let isThrottled = seen.withLock { seen in
                seen.times.append(.now)
                seen.inside += 1
                seen.maxInside = max(seen.maxInside, seen.inside)
                if seen.untilThrottled == seen.times.count { seen.throttlesUntil = .now + .seconds(3) }
                let isThrottled = seen.throttlesUntil.map { ContinuousClock.now < $0 } ?? false
                if isThrottled { seen.throttled += 1 }
                return isThrottled
            }
            usleep(30_000)
            seen.withLock { $0.inside -= 1 }
            return isThrottled
                ? .reply(429, headers: [("Retry-After", "3")])
                : .reply(200, headers: [("Content-Type", "application/x-protobuf")], body: Self.tile)
        }
        chosen.withLock { $0 = started.port }
        server.withLock { $0 = started }
    }

    func stop() {
        server.withLock { server in
            server?.stop()
            server = nil
        }
    }

    var all: Seen { seen.withLock { $0 } }
}

/// Politeness of a whole cluster of real processes.
@Suite(.serialized, .timeLimit(.programs))
struct PoliteClusterTests {
    private static let burst = 3.0
    private static let area = ["bbox(0,40,25,55)", "--id", "box", "--zoom", "6-7"]

    private func tileset(_ origin: WatchedOrigin, _ scratch: Scratch) throws -> String {
        let file = scratch.url("tiles.yaml")
        let text = """
            id: watched
            url: http://127.0.0.1:\(origin.port)/{z}/{x}/{y}.pbf
            format: pbf
            zoom: 0-14
            politeness: {concurrency: 4, requests_per_second: 20}
            """
        try Data(text.utf8).write(to: file)
        return file.path
    }

    private func origins(_ cluster: Cluster) async throws -> [[String: Any]] {
        let outcome = try await cluster.run(["origins", "--json"])
        try #require(outcome.status == 0, "\(outcome.errors)")
        return try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]])
    }

    private func end(of job: String, _ cluster: Cluster) async throws {
        try await Eventually.holds("job \(job) ends") {
            ["done", "failed", "cancelled"].contains(try await cluster.status(job).state)
        }
        let ended = try await cluster.status(job)
        #expect(ended.state == "done")
        #expect(ended.failed == 0)
        #expect(ended.stored == ended.tiles)
    }

    @Test func threeWorkersTogetherKeepTheRateAndTheConnections() async throws {
        let scratch = try Scratch()
        let origin = try WatchedOrigin()
        defer { origin.stop() }
        let cluster = try await Cluster(workers: 3, in: scratch)
        let begun = ContinuousClock.now
        // Long enough to be looked at on the busiest machine; it need not end.
        let job = try await cluster.submit(Self.area.dropLast() + ["6-9", "--tileset", try tileset(origin, scratch)])
        try await Eventually.holds("several workers share the origin") {
            let listed = try await origins(cluster).first
            #expect(listed?["per_second"] as? Double == 20 && listed?["concurrency"] as? Int == 4)
            return (listed?["workers"] as? Int ?? 0) >= 2
        }
        try await Eventually.holds("some seconds have passed") { origin.all.times.count >= 80 }
        #expect(try await cluster.run(["cancel", job]).status == 0)
        let seen = origin.all
        // No request arrives before it is sent, however late a busy machine is; so the bucket and its refill bound every instant.
        for (index, time) in seen.times.enumerated() {
            #expect(Double(index + 1) <= Self.burst + (time - begun) / .seconds(1) * 20)
        }
        #expect(seen.maxInside <= 4)
        #expect(seen.throttled == 0)
        try await cluster.stop()
    }

    @Test func oneTooManyRequestsPausesAllWorkers() async throws {
        let scratch = try Scratch()
        let origin = try WatchedOrigin(throttlesAfter: 30)
        defer { origin.stop() }
        let cluster = try await Cluster(workers: 3, in: scratch)
        let job = try await cluster.submit(Self.area + ["--tileset", try tileset(origin, scratch)])
        try await end(of: job, cluster)
        // Three seconds without a pause are 60 requests.
        #expect((1...25).contains(origin.all.throttled), "\(origin.all.throttled)")
        try await cluster.stop()
    }

    @Test func anOriginThatIsDownStopsTheClusterUntilItIsBack() async throws {
        let scratch = try Scratch()
        let origin = try WatchedOrigin()
        defer { origin.stop() }
        let cluster = try await Cluster(workers: 3, in: scratch)
        let job = try await cluster.submit(Self.area + ["--tileset", try tileset(origin, scratch)])
        try await Eventually.holds("some tiles came") { origin.all.times.count >= 20 }
        origin.stop()
        try await Eventually.holds("the breaker opens") {
            ["broken", "probing"].contains(try await origins(cluster).first?["state"] as? String)
        }
        try await Eventually.holds("the job says why it waits") {
            try await cluster.run(["status", job, "--json"]).output.contains("\"waiting\"")
        }
        try origin.start()
        try await end(of: job, cluster)
        try await cluster.stop()
    }
}
