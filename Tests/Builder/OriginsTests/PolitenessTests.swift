import Errors
import Foundation
import Origins
import Synchronization
import TestSupport
import Testing
import TileBodies
import Tiles
import Tilesets

private func tileset(_ url: String, more: String) throws -> Tileset {
    try TilesetFile(text: "url: \(url)\nzoom: 0-14\n\(more)", name: "t.yaml", folder: URL(fileURLWithPath: "/"))
        .resolved()
}

@Suite(.timeLimit(.minutes(15)))
struct PolitenessTests {
    /// A worker's slots share one origin for a tileset; the server measures whether they share its rate.
    @Test func theRateHoldsOverAllFetchesOnAnOrigin() async throws {
        let times = Mutex<[ContinuousClock.Instant]>([])
        let server = try ScriptedServer { _ in
            times.withLock { $0.append(.now) }
            return .reply(204)
        }
        defer { server.stop() }
        let more = "politeness: {concurrency: 4, requests_per_second: 40}"
        let origin = try await OriginFactory.open(
            try tileset("\(server.url)/{z}/{x}/{y}.pbf", more: more), environment: [:])
        let tiles = (0..<120).compactMap { TileID(zoom: 10, x: $0, y: 7) }
        let begun = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for slot in 0..<4 {
                group.addTask { try await origin.fetch(tiles.filter { $0.x % 4 == slot }) { _ in } }
            }
            try await group.waitForAll()
        }
        let seen = times.withLock { $0 }.sorted()
        #expect(seen.count == 120 && server.connections <= 4)
        // A request never arrives before it is sent, however late a busy machine is: by any instant the bucket (2) and its refill so far.
        for (index, time) in seen.enumerated() { #expect(Double(index + 1) <= 2 + (time - begun) / .seconds(1) * 40) }
        // Without a shared limit 120 tiles at 4 × 40 a second take 0.7 s.
        #expect((seen.last ?? .now) - (seen.first ?? .now) >= .seconds(2))
    }

    @Test func everyPlaceholderReachesTheServerAsItShould() async throws {
        let server = try ScriptedServer { _ in .reply(404) }
        defer { server.stop() }
        let url = "http://{s}.localhost:\(server.port)/{s}/{language}/{q}/{z}/{x}/{y}/{-y}.pbf?k={key}&m=a{z}b"
        let more = "subdomains: [one, two]\nlanguage: et\nkey: ${KEY}"
        let key = "a/b&c=d\r\nX-Evil: 1 \u{E4}\u{1F511}#?%"
        let tiles = ["3/5/1", "3/4/1"].compactMap { TileID($0) }
        let basket = try await fetch(try tileset(url, more: more), tiles, environment: ["KEY": key])
        #expect(basket.all.allSatisfy { $0.outcome == .empty } && basket.count == 2)
        let escaped = "a%2Fb%26c%3Dd%0D%0AX-Evil%3A%201%20%C3%A4%F0%9F%94%91%23%3F%25"
        #expect(
            Set(server.requests.map(\.path)) == [
                "/one/et/103/3/5/1/6.pbf?k=\(escaped)&m=a3b", "/two/et/102/3/4/1/6.pbf?k=\(escaped)&m=a3b",
            ])
        #expect(
            Set(server.requests.compactMap { $0.headers["host"] }) == [
                "one.localhost:\(server.port)", "two.localhost:\(server.port)",
            ])
        #expect(server.requests.allSatisfy { $0.headers["x-evil"] == nil })
    }

    @Test func aPathThatIsNotASCIIIsSentAsAServerExpectsIt() async throws {
        let server = try ScriptedServer { _ in .reply(404) }
        defer { server.stop() }
        _ = try await fetch(try tileset("\(server.url)/käse teller/{z}/{x}/{y}.pbf", more: ""), [.root])
        #expect(server.requests.map(\.path) == ["/k%C3%A4se%20teller/0/0/0.pbf"])
    }

    @Test func aGzipBombFailsByName() async throws {
        // 65 MiB of zeros in gzip members of 1 MiB: 66 KB.
        let member = try gzipOfZeros()
        let bomb = Array(repeatElement(member, count: 65).joined())
        #expect(bomb.count < 100_000)
        let server = try ScriptedServer { _ in .reply(200, headers: [("Content-Encoding", "gzip")], body: bomb) }
        defer { server.stop() }
        let basket = try await fetch(try tileset("\(server.url)/{z}/{x}/{y}.pbf", more: ""), [.root])
        guard case .failed(let cause, _)? = basket["0/0/0"]?.outcome else { throw Unexpected() }
        #expect(cause == CauseCode(.tooLarge))
    }

    @Test(.enabled(if: NginxTLS.absence == nil, "nginx or openssl is absent"))
    func theCertificateFileOfTheEnvironmentIsTrustedOverHTTP2() async throws {
        let server = try NginxTLS()
        defer { server.stop() }
        let set = try tileset("\(server.url)/empty/{z}/{x}/{y}.pbf", more: "http2: true\ntimeouts: {connect: 5}")
        var trusted = try await fetch(set, [.root], environment: ["SSL_CERT_FILE": server.certificate])
        // nginx may need longer than the retries of one fetch before it listens.
        for _ in 0..<5 where trusted["0/0/0"]?.outcome != .empty {
            trusted = try await fetch(set, [.root], environment: ["SSL_CERT_FILE": server.certificate])
        }
        #expect(trusted["0/0/0"]?.outcome == .empty)
        let stranger = try await fetch(set, [.root])
        guard case .failed(let cause, _)? = stranger["0/0/0"]?.outcome else { throw Unexpected() }
        #expect(cause == CauseCode(.tlsFailed))
    }
}

/// One gzip member of 1 MiB of zeros.
private func gzipOfZeros() throws -> [UInt8] {
    let packed = Gzip.compress([UInt8](repeating: 0, count: 1 << 20))
    try #require(packed.count < 1_500)
    return packed
}
