import Errors
import Foundation
import TestSupport
import Testing
import TileBodies
import Tiles
import Tilesets

@testable import Origins

/// One layer "a" of version 2 without features.
private let layer: [UInt8] = [0x1A, 0x07, 0x0A, 0x01, 0x61, 0x78, 0x02, 0x28, 0x40]

/// Servers that refuse everything, and those that refuse single tiles.
@Suite(.timeLimit(.minutes(15)))
struct RefusingServerTests {
    private static func tileset(_ url: String, more: String = "") throws -> Tileset {
        let text = "url: \(url)/{z}/{x}/{y}.pbf\nzoom: 0-14\n\(more)"
        return try TilesetFile(text: text, name: "t.yaml", folder: URL(fileURLWithPath: "/")).resolved()
    }

    private static let all = Array(TileMask(full: 5).tiles(in: ZoomRange(min: 0, max: 5) ?? .all, under: .root))

    @Test(arguments: [
        (401, "text/html; charset=utf-8", "401 (text/html)"), (403, "application/xml", "403 (application/xml)"),
        (418, "", "418 (no media type)"), (420, "text/plain", "420 (text/plain)"),
        (200, "text/html", "200 (text/html)"),
        (400, "application/json", "400 (application/json)"), (200, "application/json", "200 (application/json)"),
    ])
    func aServerThatRefusesEverythingIsNotAskedAThousandTimes(status: Int, type: String, words: String) async throws {
        let headers = type.isEmpty ? [] : [("Content-Type", type)]
        let server = try ScriptedServer { _ in
            .reply(status, headers: headers, body: Array("<!DOCTYPE html><html>no</html>".utf8))
        }
        defer { server.stop() }
        let origin = try await OriginFactory.open(try Self.tileset(server.url), environment: [:])
        let error = await #expect(throws: OriginsError.self) { try await origin.fetch(Self.all) { _ in } }
        #expect(error?.code == .allRefused && error?.message.contains(words) == true, "\(error?.message ?? "")")
        #expect((error?.message.utf8.count ?? 999) <= 200, "the scheduler keeps 200 characters")
        #expect((20...50).contains(server.requests.count), "\(server.requests.count)")
        #expect(error?.message.contains("empty_statuses: [\(status)]") == [400, 403, 418, 420].contains(status))
        // Other batches of the process end at once.
        let before = server.requests.count
        await #expect(throws: OriginsError.self) { try await origin.fetch(Self.all) { _ in } }
        #expect(server.requests.count - before <= FirstAnswers.window)
    }

    /// The first tile that is there, or that the server says is not there, shows that address and key are right.
    @Test(arguments: ["200", "404", "before"])
    func singleRefusalsAreOfTheirTiles(_ good: String) async throws {
        let server = try ScriptedServer { request in
            guard request.path == "/0/0/0.pbf", good != "before" else { return .reply(403) }
            return good == "404" ? .reply(404) : .reply(200, body: layer)
        }
        defer { server.stop() }
        let origin = try await OriginFactory.open(try Self.tileset(server.url), environment: [:])
        if good == "before" { origin.trust() }
        let basket = Basket()
        try await origin.fetch(Self.all) { basket.add($0) }
        #expect(basket.count == Self.all.count && server.requests.count == Self.all.count)
        let failed = basket.all.count { if case .failed(CauseCode(.forbidden), _) = $0.outcome { true } else { false } }
        #expect(failed == Self.all.count - (good == "before" ? 0 : 1))
    }

    @Test func errorsThatMayPassAreNoRefusals() async throws {
        let server = try ScriptedServer { .reply($0.earlier == 0 ? 500 : 200, body: layer) }
        defer { server.stop() }
        let basket = try await fetch(try Self.tileset(server.url), Array(Self.all.prefix(100)))
        #expect(basket.all.allSatisfy { if case .stored = $0.outcome { true } else { false } })
    }

    /// A bucket without the right to list answers 403 for a key that it does not have.
    @Test(arguments: [400, 403])
    func aStatusOfEmptyStatusesIsATileThatIsNotThere(_ status: Int) async throws {
        let server = try ScriptedServer { $0.path.hasPrefix("/5/3/") ? .reply(200, body: layer) : .reply(status) }
        defer { server.stop() }
        let tileset = try Self.tileset(server.url, more: "empty_statuses: \(status)")
        let basket = try await fetch(try Tileset(canonicalJSON: tileset.canonicalJSON), Self.all)
        #expect(basket.count == Self.all.count && server.requests.count == Self.all.count)
        #expect(basket.all.count { $0.outcome == .empty } == Self.all.count - 32)
        #expect(basket.all.count { if case .stored = $0.outcome { true } else { false } } == 32)
    }

    @Test(arguments: [
        ("gzip, identity", true), ("identity", false), ("utf-8", false), ("UTF-8, gzip", true), (" x-gzip ", true),
        ("binary", false), ("identity, identity", false), ("", false), ("none", false),
    ])
    func codingsThatChangeNothingAreNoCodings(_ header: String, isPacked: Bool) async throws {
        let body = isPacked ? Gzip.compress(layer) : layer
        let server = try ScriptedServer { _ in .reply(200, headers: [("Content-Encoding", header)], body: body) }
        defer { server.stop() }
        let basket = try await fetch(try Self.tileset(server.url), [.root])
        #expect(basket["0/0/0"]?.outcome == .stored(body: Gzip.compress(layer), etag: nil, lastModified: nil))
    }

    @Test(arguments: ["br", "gzip, br", "gzip, gzip", "compress"])
    func otherCodingsAreNamed(_ header: String) async throws {
        let server = try ScriptedServer { _ in .reply(200, headers: [("Content-Encoding", header)], body: layer) }
        defer { server.stop() }
        let basket = try await fetch(try Self.tileset(server.url), [.root])
        guard case .failed(let cause, let detail)? = basket["0/0/0"]?.outcome else { throw Unexpected() }
        #expect(cause == CauseCode(.unsupportedCoding) && detail.contains("'\(header)'"), "\(detail)")
    }

    /// RFC 3986, 5.1.3: the base is the address from which the document was retrieved.
    @Test func addressesInARedirectedTileJSONStartAtTheFinalAddress() async throws {
        let json = #"{"tiles":["{z}/{x}/{y}.pbf","/abs/{z}/{x}/{y}.pbf","?t={z}-{x}-{y}.pbf"],"maxzoom":9}"#
        let server = try ScriptedServer { request in
            switch request.path {
            case "/a/tiles.json": .reply(301, headers: [("Location", "/b/step.json")])
            case "/b/step.json": .reply(307, headers: [("Location", "v2/final.json?x=1")])
            case "/b/v2/final.json?x=1": .reply(200, body: Array(json.utf8))
            default: .reply(404)
            }
        }
        defer { server.stop() }
        let file = try TilesetFile(source: "\(server.url)/a/tiles.json", folder: URL(fileURLWithPath: "/"))
        let tileset = try await OriginMetadata.resolve(file, environment: [:])
        #expect(
            tileset.source.addresses == [
                "\(server.url)/b/v2/{z}/{x}/{y}.pbf", "\(server.url)/abs/{z}/{x}/{y}.pbf",
                "\(server.url)/b/v2/final.json?t={z}-{x}-{y}.pbf",
            ])
    }

    @Test(arguments: OriginsErrorCode.allCases)
    func everyCodeOfAnOriginIsAKnownCause(_ code: OriginsErrorCode) {
        let cause = FailureCause(code)
        #expect(cause != .unknown && CauseCode(code: cause.rawValue) == CauseCode(cause))
        #expect(cause.rawValue == "origin-\(code)" || cause == .badTileset || cause == .allRefused)
    }
}
