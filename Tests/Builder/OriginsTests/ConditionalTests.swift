import Errors
import Foundation
import Origins
import TestSupport
import Testing
import TileBodies
import Tiles
import Tilesets

/// One layer "a" of version 2 without features.
private let layer: [UInt8] = [0x1A, 0x07, 0x0A, 0x01, 0x61, 0x78, 0x02, 0x28, 0x40]

/// Tiles that are known from before are asked for conditionally.
@Suite(.timeLimit(.minutes(15)))
struct ConditionalTests {
    /// Asks for the root tile, knowing what `known` says.
    private func ask(
        _ known: TileValidators?, _ script: @escaping @Sendable (ScriptedServer.Request) -> ScriptedServer.Answer
    ) async throws -> (tile: FetchedTile, requests: [ScriptedServer.Request]) {
        let server = try ScriptedServer(script)
        defer { server.stop() }
        let tileset = try TilesetFile(
            text: "url: \(server.url)/{z}/{x}/{y}.pbf\nzoom: 0-14\n", name: "t.yaml", folder: URL(fileURLWithPath: "/")
        ).resolved()
        let basket = Basket()
        let origin = try await OriginFactory.open(tileset, environment: [:])
        try await origin.fetch([.root], known: known.map { [.root: $0] } ?? [:]) { basket.add($0) }
        #expect(basket.count == 1 && basket.repeats == 0)
        return (try #require(basket["0/0/0"]), server.requests)
    }

    @Test func bothValidatorsAreSentAndAnUnchangedTileHasNoBody() async throws {
        let date = "Mon, 02 Nov 2026 03:00:00 GMT"
        let known = try #require(TileValidators(etag: "\"v1\"", lastModified: date))
        let (tile, requests) = try await ask(known) { request in
            request.headers["if-none-match"] == "\"v1\"" && request.headers["if-modified-since"] == date
                ? .reply(304, headers: [("ETag", "W/\"v1\"")]) : .reply(200, body: layer)
        }
        #expect(tile.outcome == .unchanged)
        #expect(tile.received == 0 && requests.count == 1)
    }

    @Test func aChangedTileComesWithItsNewValidator() async throws {
        let known = try #require(TileValidators(etag: "\"v1\"", lastModified: nil))
        let (tile, requests) = try await ask(known) { _ in .reply(200, headers: [("ETag", "\"v2\"")], body: layer) }
        #expect(tile.outcome == .stored(body: Gzip.compress(layer), etag: "\"v2\"", lastModified: nil))
        #expect(requests.map { $0.headers["if-modified-since"] } == [nil])
    }

    @Test func aTileThatIsGoneIsEmpty() async throws {
        let known = try #require(TileValidators(etag: "\"v1\"", lastModified: nil))
        let (tile, _) = try await ask(known) { _ in .reply(404) }
        #expect(tile.outcome == .empty)
    }

    @Test func anAnswerThatContradictsItselfIsAskedForUnconditionally() async throws {
        let known = try #require(TileValidators(etag: "\"v1\"", lastModified: nil))
        let (tile, requests) = try await ask(known) { request in
            request.headers["if-none-match"] == nil
                ? .reply(200, body: layer) : .reply(304, headers: [("ETag", "\"v2\"")])
        }
        #expect(tile.outcome == .stored(body: Gzip.compress(layer), etag: nil, lastModified: nil))
        #expect(requests.count == 2)
    }

    @Test func whoAsksForNothingIsToldThatNothingChanged() async throws {
        let known = try #require(TileValidators(etag: "\"v1\"", lastModified: nil))
        for asked in [nil, known] {
            let (tile, _) = try await ask(asked) { _ in .reply(304, headers: [("ETag", "\"other\"")]) }
            guard case .failed(let cause, _) = tile.outcome else {
                Issue.record("\(tile.outcome)")
                continue
            }
            #expect(cause == CauseCode(status: 304))
        }
    }

    @Test func aBrokenAnswerIsAskedForAgainWithTheSameCondition() async throws {
        let known = try #require(TileValidators(etag: "\"v1\"", lastModified: nil))
        let (tile, requests) = try await ask(known) { request in
            request.earlier == 0 ? .reply(200, body: Array("<html>".utf8)) : .reply(304)
        }
        #expect(tile.outcome == .unchanged)
        #expect(requests.map { $0.headers["if-none-match"] } == ["\"v1\"", "\"v1\""])
    }

    @Test func whatCannotBeSentIsNoValidator() {
        #expect(TileValidators(etag: nil, lastModified: nil) == nil)
        #expect(TileValidators(etag: "\"a\r\nX: y\"", lastModified: "") == nil)
        #expect(TileValidators(etag: "\"é\"", lastModified: nil) == nil)
        #expect(TileValidators(etag: String(repeating: "a", count: 513), lastModified: nil) == nil)
        let half = TileValidators(etag: "\"\u{7F}\"", lastModified: "Mon")
        #expect(half?.etag == nil && half?.lastModified == "Mon")
    }
}
