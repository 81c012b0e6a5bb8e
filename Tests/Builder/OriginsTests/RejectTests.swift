import Digests
import Errors
import Files
import Foundation
import GRDB
import TestSupport
import Testing
import TileBodies
import Tiles
import Tilesets

@testable import Origins

/// Bodies that stand for something else than a tile.
@Suite(.timeLimit(.minutes(15)))
struct RejectTests {
    /// One layer "a" of version 2 without features, and the same of another name.
    private static let layer: [UInt8] = [0x1A, 0x07, 0x0A, 0x01, 0x61, 0x78, 0x02, 0x28, 0x40]
    private static let other: [UInt8] = [0x1A, 0x07, 0x0A, 0x01, 0x62, 0x78, 0x02, 0x28, 0x40]

    private func tileset(_ url: String, _ more: String) throws -> Tileset {
        try TilesetFile(
            text: "url: \(url)/{z}/{x}/{y}.pbf\nzoom: 0-6\n\(more)", name: "t", folder: URL(fileURLWithPath: "/")
        ).resolved()
    }

    private func fetchOne(_ body: [UInt8], _ more: String) async throws -> (FetchedTile.Outcome, requests: Int) {
        let server = try ScriptedServer { _ in .reply(200, body: body) }
        defer { server.stop() }
        let basket = try await fetch(try tileset(server.url, more), [.root])
        return (try #require(basket["0/0/0"]).outcome, server.requests.count)
    }

    @Test func aBodyThatMeansNoTileIsEmpty() async throws {
        let stored = Digest(of: Gzip.compress(Self.layer)).hex
        for more in [
            "reject: [\"\(stored)\"]", "reject: \"\(stored.uppercased())\"",
            "reject: [{sha256: \"\(stored)\", means: empty}]",
        ] {
            let (outcome, requests) = try await fetchOne(Self.layer, more)
            #expect(outcome == .empty && requests == 1, "\(more): \(outcome)")
        }
        let (kept, _) = try await fetchOne(Self.other, "reject: [\"\(stored)\"]")
        #expect(kept == .stored(body: Gzip.compress(Self.other), etag: nil, lastModified: nil))
    }

    @Test func aBodyThatMeansARefusalFails() async throws {
        let stored = Digest(of: Gzip.compress(Self.layer)).hex
        let (outcome, requests) = try await fetchOne(Self.layer, "reject: [{sha256: \"\(stored)\", means: refused}]")
        guard case .failed(let cause, let detail) = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(cause == CauseCode(.rejectedBody) && detail.contains("reject") && requests == 3)
        #expect(FailureCause.rejectedBody.fault == .tile)
    }

    /// A picture in a set of vector tiles is no tile; its digest is that of the answer.
    @Test func aBodyOfAnotherFormatIsKnownByItsBytes() async throws {
        let gif = Array("GIF89a no map".utf8)
        let (outcome, _) = try await fetchOne(gif, "reject: [\"\(Digest(of: gif).hex)\"]")
        #expect(outcome == .empty)
    }

    @Test func filesKnowItToo() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "packhorse-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let stored = Digest(of: Gzip.compress(Self.layer)).hex
        let url = folder.appending(path: "a.mbtiles")
        let queue = try DatabaseQueue(path: url.path)
        try await queue.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE metadata (name TEXT, value TEXT); INSERT INTO metadata VALUES ('format', 'pbf');
                    CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB);
                    CREATE UNIQUE INDEX tile ON tiles (zoom_level, tile_column, tile_row);
                    """)
            try database.execute(
                sql: "INSERT INTO tiles VALUES (0, 0, 0, ?), (1, 0, 1, ?)",
                arguments: [Data(Gzip.compress(Self.layer)), Data(Gzip.compress(Self.other))])
        }
        try queue.close()
        let file = try TilesetFile(
            text: "url: mbtiles:\(url.path)\nreject: [\"\(stored)\"]", name: "t", folder: folder)
        let tileset = try await OriginMetadata.resolve(file, environment: [:])
        let basket = try await fetch(tileset, [.root, try #require(TileID("1/0/0"))])
        #expect(basket["0/0/0"]?.outcome == .empty)
        #expect(basket["1/0/0"]?.outcome == .stored(body: Gzip.compress(Self.other), etag: nil, lastModified: nil))
    }

    @Test(arguments: [
        ("reject: [abc]", "no SHA-256"), ("reject: [{sha256: a, means: maybe}]", "means: empty"),
        ("reject: [{sha: a}]", "unknown key 'reject.sha'"), ("reject: [12]", "in quotes"),
        ("reject: [\"\(String(repeating: "a", count: 64))\", \"\(String(repeating: "A", count: 64))\"]", "there twice"),
    ])
    func aWrongListIsNamed(more: String, hint: String) {
        let error = #expect(throws: TilesetsError.self) { try tileset("http://localhost", more) }
        #expect(error?.message.contains(hint) == true, "\(error?.message ?? "")")
    }

    /// Two of three tiles of the deepest zoom have one body.
    @Test func aSampleTellsTheMostFrequentBodies() async throws {
        let server = try ScriptedServer { request in
            let number = request.path.utf8.reduce(0) { $0 &* 31 &+ Int($1) }
            guard request.path.hasPrefix("/5/"), number % 3 != 0 else {
                let name = UInt8(0x61 + abs(number) % 26)
                return .reply(
                    200,
                    body: [0x1A, 0x08, 0x0A, 0x02, name, UInt8(0x61 + abs(number / 7) % 26), 0x78, 0x02, 0x28, 0x40])
            }
            return .reply(200, body: Self.layer)
        }
        defer { server.stop() }
        let sample = try await OriginSampler.sample(
            try tileset(server.url, ""), mask: TileMask(full: 5), zooms: try ZoomRange(parsing: "0-5"), count: 100,
            environment: [:])
        let first = try #require(sample.bodies.first)
        #expect(first.sha256 == Digest(of: Gzip.compress(Self.layer)).hex)
        #expect(first.bytes == Gzip.compress(Self.layer).count)
        #expect((0.3...0.7).contains(first.share), "\(first.share)")
        #expect(
            sample.bodies.count <= 5
                && zip(sample.bodies, sample.bodies.dropFirst()).allSatisfy { $0.share >= $1.share })
    }
}
