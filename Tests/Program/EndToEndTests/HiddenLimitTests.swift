import Foundation
import Synchronization
import TestSupport
import Testing

/// A tile server that refuses requests above an undocumented rate, or blocks all clients for an hour.
private final class SecretiveOrigin: Sendable {
    private struct Seen: Sendable {
        var answered: [ContinuousClock.Instant] = []
        var refused: [ContinuousClock.Instant] = []
        var level = 0.0
        var leakedAt = ContinuousClock.now
    }
    private let seen = Mutex(Seen())
    private let isClosed = Mutex(false)
    private let server = Mutex<ScriptedServer?>(nil)
    /// 0 until the system has chosen one.
    private let chosen = Mutex(0)
    var port: Int { chosen.withLock { $0 } }
    /// A vector tile with one empty layer.
    private static let tile: [UInt8] = [0x1A, 0x08, 0x0A, 0x01, 0x61, 0x28, 0x80, 0x20, 0x78, 0x02]

    /// - Parameters:
    ///   - perSecond: The hidden limit, with a burst of a fifth of a second.
    ///   - asksToWait: Whether the first answer is a Retry-After of an hour.
    init(perSecond: Double, asksToWait: Bool = false) throws {
        isClosed.withLock { $0 = asksToWait }
        let started = try ScriptedServer(port: 0) { [self] _ in
            if isClosed.withLock({ $0 }) { return .reply(429, headers: [("Retry-After", "3600")]) }
            let isRefused = seen.withLock { seen in
                let now = ContinuousClock.now
                seen.level = max(0, seen.level - (now - seen.leakedAt) / .seconds(1) * perSecond)
                seen.leakedAt = now
                guard seen.level + 1 <= perSecond / 5 else {
                    seen.refused.append(now)
                    return true
                }
                seen.level += 1
                seen.answered.append(now)
                return false
            }
            return isRefused
                ? .reply(429)
                : .reply(200, headers: [("Content-Type", "application/x-protobuf")], body: Self.tile)
        }
        chosen.withLock { $0 = started.port }
        server.withLock { $0 = started }
    }

    func open() { isClosed.withLock { $0 = false } }

    func stop() { server.withLock { $0?.stop() } }

    /// Answers and refusals of a span.
    func counts(from begin: ContinuousClock.Instant, to end: ContinuousClock.Instant) -> (answered: Int, refused: Int) {
        seen.withLock { seen in
            (seen.answered.count { $0 >= begin && $0 < end }, seen.refused.count { $0 >= begin && $0 < end })
        }
    }
}

/// Real processes with an origin whose limits are unknown, and operators who set limits.
@Suite(.serialized, .timeLimit(.programs))
struct HiddenLimitTests {
    private func tileset(_ origin: SecretiveOrigin, _ scratch: Scratch) throws -> String {
        let file = scratch.url("tiles.yaml")
        let text = """
            id: secretive
            url: http://127.0.0.1:\(origin.port)/{z}/{x}/{y}.pbf
            format: pbf
            zoom: 0-14
            politeness: {concurrency: 16}
            """
        try Data(text.utf8).write(to: file)
        return file.path
    }

    private func origin(_ cluster: Cluster) async throws -> [String: Any]? {
        let outcome = try await cluster.run(["origins", "--json"])
        try #require(outcome.status == 0, "\(outcome.errors)")
        return (try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]])?.first
    }

    @Test func aHiddenRateIsFoundAndKept() async throws {
        let scratch = try Scratch()
        let origin = try SecretiveOrigin(perSecond: 100)
        defer { origin.stop() }
        let cluster = try await Cluster(workers: 2, in: scratch)
        let begun = ContinuousClock.now
        let job = try await cluster.submit(
            [
                "bbox(0,40,25,55)", "--id", "box", "--tile-limit", "10000", "--zoom", "6-10", "--tileset",
                try tileset(origin, scratch),
            ])
        try await Task.sleep(for: .seconds(25))
        let end = ContinuousClock.now
        let found = try #require(try await self.origin(cluster))
        #expect((60...130).contains(found["accepts_per_second"] as? Double ?? 0), "\(found)")
        #expect(try await cluster.run(["cancel", job]).status == 0)
        let (answered, refused) = origin.counts(from: begun + .seconds(10), to: end)
        // A busy machine may be late; halving at each refusal comes to less than half of this.
        #expect(Double(answered) > 70 * ((end - begun) / .seconds(1) - 10), "\(answered), \(refused)")
        #expect(refused * 20 < answered, "\(answered), \(refused)")
        try await cluster.stop()
    }

    @Test func anOperatorOpensAnOriginThatAskedToWaitAnHour() async throws {
        let scratch = try Scratch()
        let origin = try SecretiveOrigin(perSecond: 10_000, asksToWait: true)
        defer { origin.stop() }
        let cluster = try await Cluster(workers: 2, in: scratch)
        let file = try tileset(origin, scratch)
        let area = ["bbox(0,40,25,55)", "--id", "box", "--zoom", "6-7", "--tileset", file]
        let first = try await cluster.submit(area)
        try await Eventually.holds("the origin is blocked") {
            try await self.origin(cluster)?["state"] as? String == "blocked"
        }
        #expect(try await cluster.run(["cancel", first]).status == 0)
        let job = try await cluster.submit(area)
        origin.open()
        let name = "127.0.0.1:\(origin.port)"
        let opened = try await cluster.run(["origins", "open", "HTTP://\(name)/6/1/2.pbf"])
        #expect(opened.status == 0 && opened.output.contains("\(name) was blocked and is open"), "\(opened)")
        try await Eventually.holds("the job ends") {
            try await cluster.status(job).state == "done"
        }
        let unknown = try await cluster.run(["origins", "open", "tiles.example.com"])
        #expect(unknown.status != 0 && unknown.errors.contains("tiles.example.com"), "\(unknown)")
        let limited = try await cluster.run(
            ["origins", "limit", "tiles.example.com", "--requests-per-second", "2.5", "--concurrency", "3"])
        #expect(limited.status == 0 && limited.output.contains("no unfinished job"), "\(limited)")
        let table = try await cluster.run(["origins"])
        #expect(table.output.contains("2.5/s, 3 connections"), "\(table.output)")
        #expect(try await cluster.run(["origins", "limit", "tiles.example.com", "--clear"]).status == 0)
        #expect(try await cluster.run(["origins", "limit", "tiles.example.com"]).status == 64)
        try await cluster.stop()
    }
}
