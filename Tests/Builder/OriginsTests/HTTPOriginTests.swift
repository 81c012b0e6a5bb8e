import Errors
import Foundation
import Origins
import Synchronization
import TestSupport
import Testing
import TileBodies
import Tiles
import Tilesets

/// One layer "a" of version 2 without features.
private let layer: [UInt8] = [0x1A, 0x07, 0x0A, 0x01, 0x61, 0x78, 0x02, 0x28, 0x40]

/// Collects what an origin delivers.
final class Basket: Sendable {
    private let tiles = Mutex<[TileID: FetchedTile]>([:])
    private let doubles = Atomic<Int>(0)

    @Sendable func add(_ group: [FetchedTile]) {
        tiles.withLock { tiles in
            for tile in group where tiles.updateValue(tile, forKey: tile.tile) != nil {
                doubles.add(1, ordering: .relaxed)
            }
        }
    }

    subscript(text: String) -> FetchedTile? { TileID(text).flatMap { tile in tiles.withLock { $0[tile] } } }
    var count: Int { tiles.withLock { $0.count } }
    var repeats: Int { doubles.load(ordering: .relaxed) }
    var all: [FetchedTile] { tiles.withLock { Array($0.values) } }
}

func fetch(_ tileset: Tileset, _ tiles: [TileID], environment: [String: String] = [:]) async throws -> Basket {
    let basket = Basket()
    let origin = try await OriginFactory.open(tileset, environment: environment)
    try await origin.fetch(tiles) { basket.add($0) }
    return basket
}

private func tileset(_ url: String, more: String = "") throws -> Tileset {
    try TilesetFile(text: "url: \(url)\nzoom: 0-14\n\(more)", name: "t.yaml", folder: URL(fileURLWithPath: "/"))
        .resolved()
}

@Suite(.timeLimit(.minutes(15)))
struct HTTPOriginTests {
    private typealias Script = @Sendable (ScriptedServer.Request) -> ScriptedServer.Answer

    private func serving(
        _ script: @escaping Script,
        _ body: (ScriptedServer) async throws -> Void
    ) async throws {
        let server = try ScriptedServer(script)
        defer { server.stop() }
        try await body(server)
    }

    private func fetchOne(
        _ script: @escaping @Sendable (ScriptedServer.Request) -> ScriptedServer.Answer
    ) async throws -> (FetchedTile, requests: Int) {
        let server = try ScriptedServer(script)
        defer { server.stop() }
        let basket = try await fetch(try tileset("\(server.url)/{z}/{x}/{y}.pbf"), [.root])
        return (try #require(basket["0/0/0"]), server.requests.count)
    }

    @Test func aGzipTileStaysByteForByte() async throws {
        // A level that we never write: the bytes cannot come from packing again.
        let body: [UInt8] =
            [0x1F, 0x8B, 8, 0, 1, 2, 3, 4, 0, 7, 1, 9, 0, 0xF6, 0xFF] + layer + checksum(layer) + [9, 0, 0, 0]
        let headers = [("Content-Encoding", "gzip"), ("ETag", "\"v1\"")]
        let (tile, _) = try await fetchOne { _ in .reply(200, headers: headers, body: body) }
        #expect(tile.outcome == .stored(body: body, etag: "\"v1\"", lastModified: nil))
        #expect(tile.received == body.count)
    }

    @Test func aRawTileIsPacked() async throws {
        let (tile, _) = try await fetchOne { _ in .reply(200, body: layer) }
        #expect(tile.outcome == .stored(body: Gzip.compress(layer), etag: nil, lastModified: nil))
    }

    @Test(arguments: [204, 404, 410])
    func nothingThereIsEmptyAndAskedOnce(status: Int) async throws {
        let (tile, requests) = try await fetchOne { _ in .reply(status) }
        #expect(tile.outcome == .empty && requests == 1)
    }

    @Test func anEmptyBodyIsEmpty() async throws {
        let (tile, _) = try await fetchOne { _ in .reply(200) }
        #expect(tile.outcome == .empty)
    }

    @Test(arguments: [(401, "forbidden"), (403, "forbidden"), (400, "http-400"), (206, "http-206")])
    func refusalsFailAtOnce(status: Int, cause: String) async throws {
        let (tile, requests) = try await fetchOne { _ in .reply(status, body: Array("no".utf8)) }
        guard case .failed(let found, _) = tile.outcome else { throw Unexpected() }
        #expect("\(found)" == cause && requests == 1)
    }

    @Test func anHTMLPageIsFetchedAgainThenNamed() async throws {
        let page = Array("<!DOCTYPE html><html><body>busy</body></html>".utf8)
        let (tile, requests) = try await fetchOne { _ in
            .reply(200, headers: [("Content-Type", "text/html")], body: page)
        }
        guard case .failed(let cause, _) = tile.outcome else { throw Unexpected() }
        #expect(cause == CauseCode(.htmlPage) && requests == 3 && tile.received == 3 * page.count)
    }

    @Test func anHTMLPageOnceDoesNoHarm() async throws {
        let page = Array("<html>busy</html>".utf8)
        let (tile, requests) = try await fetchOne { .reply(200, body: $0.earlier == 0 ? page : layer) }
        #expect(tile.outcome == .stored(body: Gzip.compress(layer), etag: nil, lastModified: nil) && requests == 2)
    }

    @Test(arguments: [("br", "unsupported-coding"), ("gzip", "bad-coding")])
    func aBodyThatCannotBeUnpackedFails(coding: String, cause: String) async throws {
        let body: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3]
        let (tile, _) = try await fetchOne { _ in .reply(200, headers: [("Content-Encoding", coding)], body: body) }
        guard case .failed(let found, _) = tile.outcome else { throw Unexpected() }
        #expect("\(found)" == cause)
    }

    @Test func thousandsOfTilesComeOnceEachThroughFewConnections() async throws {
        let script: Script = { .reply($0.path.hasSuffix("3.pbf") ? 404 : 200, body: layer) }
        try await serving(script) { server in
            let mask = TileMask(full: 6)
            let zooms = try #require(ZoomRange(min: 0, max: 6))
            let basket = Basket()
            let tileset = try tileset("\(server.url)/{z}/{x}/{y}.pbf")
            let origin = try await OriginFactory.open(tileset, environment: [:])
            try await origin.fetch(mask.tiles(in: zooms)) { basket.add($0) }
            #expect(basket.count == 5_461 && basket.repeats == 0)
            #expect(basket["6/1/3"]?.outcome == .empty)
            #expect(server.connections <= 8)
        }
    }

    @Test func secretsAndKeysAreSentAndTheAgentNamesUs() async throws {
        let script: Script = { _ in .reply(404) }
        try await serving(script) { server in
            let more = "headers: {Authorization: 'Bearer ${TOKEN}'}\nkey: ${KEY}\npoliteness: {contact: me@example.org}"
            let tileset = try tileset("\(server.url)/{z}/{x}/{y}.pbf?k={key}", more: more)
            _ = try await fetch(tileset, [.root], environment: ["TOKEN": "abc", "KEY": "d/e"])
            let request = try #require(server.requests.first)
            #expect(request.headers["authorization"] == "Bearer abc")
            #expect(request.path == "/0/0/0.pbf?k=d%2Fe")
            #expect(request.headers["user-agent"] == "Packhorse/0.1 (+me@example.org)")
            await #expect(throws: OriginsError.self) { try await OriginFactory.open(tileset, environment: [:]) }
        }
    }

    @Test func aRedirectToARefusedHostFails() async throws {
        let target = "https://tile.openstreetmap.org/0/0/0.png"
        let (tile, _) = try await fetchOne { _ in .reply(302, headers: [("Location", target)]) }
        guard case .failed(let cause, let detail) = tile.outcome else { throw Unexpected() }
        #expect(cause == CauseCode(.redirectRefused) && detail.contains("operations.osmfoundation.org"))
    }

    @Test func anErrorOfTheCallerEndsTheFetch() async throws {
        let script: Script = { _ in .reply(404) }
        try await serving(script) { server in
            let origin = try await OriginFactory.open(try tileset("\(server.url)/{z}/{x}/{y}.pbf"), environment: [:])
            await #expect(throws: Unexpected.self) { try await origin.fetch([TileID.root]) { _ in throw Unexpected() } }
        }
    }

    @Test func cancellingThrowsInsteadOfReturning() async throws {
        let script: Script = { _ in .silence }
        try await serving(script) { server in
            let origin = try await OriginFactory.open(try tileset("\(server.url)/{z}/{x}/{y}.pbf"), environment: [:])
            let task = Task { try await origin.fetch([TileID.root]) { _ in } }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test func aTileJSONAddressIsAFullDescription() async throws {
        let json = #"{"tilejson":"2.2.0","tiles":["v1/{z}/{x}/{y}.pbf"],"minzoom":2,"maxzoom":9,"attribution":"x"}"#
        let script: Script = { $0.path == "/a/tiles.json" ? .reply(200, body: Array(json.utf8)) : .reply(404) }
        try await serving(script) { server in
            let folder = URL(fileURLWithPath: "/")
            let file = try TilesetFile(source: "\(server.url)/a/tiles.json", folder: folder)
            let tileset = try await OriginMetadata.resolve(file, environment: [:])
            #expect(tileset.source == TileSource(.templates, "\(server.url)/a/v1/{z}/{x}/{y}.pbf"))
            #expect(tileset.zooms.description == "2-9" && tileset.format == .mvt && tileset.attribution == "x")
            let wrong = try TilesetFile(source: "\(server.url)/b.json", folder: folder)
            let error = await #expect(throws: OriginsError.self) {
                try await OriginMetadata.resolve(wrong, environment: [:])
            }
            #expect(error?.code == .refused && error?.message.contains("404") == true)
        }
    }

    @Test func aDocumentThatIsWrongIsNamedWithoutItsKey() async throws {
        let script: Script = { $0.path.hasPrefix("/page") ? .reply(200, body: Array("hello".utf8)) : .reply(404) }
        func refusal(_ source: String) async throws -> OriginsError? {
            let file = try TilesetFile(source: source, folder: URL(fileURLWithPath: "/"))
            return await #expect(throws: OriginsError.self) {
                try await OriginMetadata.resolve(file, environment: [:])
            }
        }
        try await serving(script) { server in
            let page = try #require(try await refusal("\(server.url)/page?key=secret"))
            #expect(page.code == .tileset)
            let text = "'\(server.url)/page': the TileJSON document is not a JSON object; check the tileset's url"
            #expect(page.message == text)
            let none = try #require(try await refusal("\(server.url)/none?key=secret"))
            #expect(none.code == .refused && none.message.contains("Check the address '\(server.url)/none'."))
            #expect(!none.message.contains("secret"))
        }
        // Nothing listens there.
        let gone = try #require(try await refusal("http://127.0.0.1:9/page?key=secret"))
        #expect(gone.code == .unreachable && gone.message.contains("'http://127.0.0.1:9/page' cannot be fetched: "))
        #expect(gone.hint == "does the server run, and is the address right?" && !gone.message.contains("secret"))
    }

    @Test func aSampleTellsMeanAndMargin() async throws {
        let script: Script = { $0.path.hasPrefix("/3/1") ? .reply(204) : .reply(200, body: layer) }
        try await serving(script) { server in
            let zooms = try #require(ZoomRange(min: 0, max: 5))
            let sample = try await OriginSampler.sample(
                try tileset("\(server.url)/{z}/{x}/{y}.pbf"), mask: TileMask(full: 5), zooms: zooms, count: 16,
                environment: [:])
            // What the first zooms leave of 6 times 16 goes to the others by their tiles.
            #expect(sample.zooms.map(\.asked) == [1, 4, 16, 17, 21, 37])
            #expect(sample.zooms.map(\.tiles) == [1, 4, 16, 64, 256, 1_024])
            let size = Gzip.compress(layer).count
            let deep = sample.zooms[5].answers
            #expect(deep.allSatisfy { $0.bytes == size && $0.received == layer.count && $0.body == deep[0].body })
            #expect(sample.zooms[2].stored == 16 && sample.zooms[3].failed == 0, "all of them are there")
            #expect(sample.tilesPerSecond > 0 && server.requests.count == 96 && sample.detail == nil)
            let again = try await OriginSampler.sample(
                try tileset("\(server.url)/{z}/{x}/{y}.pbf"), mask: TileMask(full: 5), zooms: zooms, count: 16,
                environment: [:])
            #expect(again.zooms == sample.zooms, "the same tiles")
            // One tile of each of 37 equal parts along the curve.
            let ranks = Array(TileMask(full: 5).tiles(atZoom: 5, under: .root))
            for (part, answer) in deep.enumerated() {
                let rank = try #require(ranks.firstIndex(of: answer.tile))
                #expect((part * 1_024 / 37..<(part + 1) * 1_024 / 37).contains(rank))
            }
        }
    }
}

/// Thrown where a test found another outcome.
struct Unexpected: Error {}

/// CRC-32 as gzip wants it, least significant byte first.
private func checksum(_ bytes: [UInt8]) -> [UInt8] {
    var crc = UInt32.max
    for byte in bytes {
        crc ^= UInt32(byte)
        for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
    }
    return (0..<4).map { UInt8(truncatingIfNeeded: ~crc >> (8 * $0)) }
}
