import Foundation
import TestSupport
import Testing
import TileBodies
import Tiles
import Transfer

/// `packhorse device serve` and `export`, read by a real HTTP client and by SQLite.
@Suite(.timeLimit(.minutes(15)))
struct DeviceServeTests {
    private let client: TransferClient

    init() throws {
        var options = TransferOptions()
        options.retry.maxAttempts = 1
        client = try TransferClient(options)
    }

    private func get(_ address: String, _ headers: [HeaderField] = []) async throws -> TransferResponse {
        try await client.get(address, headers: headers)
    }

    private func json(_ answer: TransferResponse) throws -> [String: Any] {
        let coding: BodyCoding = answer.headers.contentEncoding == "gzip" ? .gzip : .identity
        let plain = coding == .identity ? answer.body : try coding.unpack(answer.body, limit: 1 << 20)
        return try #require(try JSONSerialization.jsonObject(with: Data(plain)) as? [String: Any])
    }

    @Test func tilesAreServedAsTheyAreStored() async throws {
        let shop = try Shop()
        let device = DeviceProgram(shop)
        try shop.publish("EE", 1)
        #expect(try await device.run("install", "EE", "--catalog", try shop.address()).status == 0)
        let before = shop.asked().count
        let base = try await device.start("serve", "--port", "0")
        #expect(base.hasPrefix("http://127.0.0.1:"))
        let document = try json(try await get(base + "/tilesets/EE.json"))
        #expect(document["maxzoom"] as? Int == 6 && document["attribution"] as? String == "© Demo")
        // Version 3.0.0 requires the layers of vector tiles.
        let layers = document["vector_layers"] as? [[String: Any]]
        #expect(document["tilejson"] as? String == "3.0.0" && layers?.map { $0["id"] as? String } == ["land"])
        #expect(layers?.first?["fields"] as? [String: String] == ["name": "String"])
        let template = try #require((document["tiles"] as? [String])?.first)
        func address(_ zoom: Int, _ column: Int, _ row: Int) -> String {
            template.replacing("{z}", with: "\(zoom)").replacing("{x}", with: "\(column)")
                .replacing("{y}", with: "\(row)")
        }
        let tile = try await get(address(6, 31, 21))
        #expect(tile.status == 200 && tile.headers.contentEncoding == "gzip")
        #expect(
            tile.headers.contentType?.contains("vector-tile") == true
                || tile.headers.contentType?.contains("protobuf") == true)
        #expect(try BodyCoding.gzip.unpack(tile.body, limit: 1 << 20).count > 400)
        let etag = try #require(tile.headers.etag)
        #expect(try await get(address(6, 31, 21), [HeaderField("If-None-Match", etag)]).status == 304)
        let plain = try await get(address(6, 31, 21), [HeaderField("Accept-Encoding", "identity")])
        #expect(plain.status == 200)
        // Not in the area, no such tileset, no such zoom, and other words.
        for missing in [address(6, 0, 0), base + "/tiles/no/0/0/0", address(7, 0, 0), base + "/favicon.ico"] {
            #expect(try await get(missing).status == 404, "\(missing)")
        }
        #expect(try await get(address(6, 31, 21), [HeaderField("Host", "evil.example")]).status == 421)
        #expect(shop.asked().count == before, "nothing is asked from the network")

        // An update is visible at once.
        try shop.publish("EE", 2, changed: 1)
        #expect(try await device.run("update").status == 0)
        try await Eventually.holds("the new version is served") {
            try await get(address(6, 31, 21)).headers.etag != etag
        }
        #expect(try await get(address(6, 31, 21)).status == 200)
    }

    @Test func anExportHasTheTilesOfTheStore() async throws {
        let shop = try Shop()
        let device = DeviceProgram(shop)
        try shop.publish("EE", 1)
        #expect(try await device.run("install", "EE", "--catalog", try shop.address()).status == 0)
        let target = shop.file("out.mbtiles")
        let export = try await device.run("export", "-o", target.path, "--json")
        let view = try #require(try export.json() as? [String: Any], "\(export.errors)")
        let wanted = Int(Shop.mask.count(in: try ZoomRange(parsing: "0-6")))
        #expect(view["tiles"] as? Int == wanted)
        #expect(try await device.run("export", "-o", target.path).status == 73, "a file is not replaced")
        let files = shop.file("tiles")
        let single = try await device.run("export", "--files", files.path, "--zoom", "6", "--box", "-5,45,-1,48")
        #expect(single.status == 0, "\(single.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: files.path)
        #expect(
            !names.isEmpty && names.count < 16 && names.allSatisfy { $0.hasPrefix("Tile-6-") && $0.hasSuffix(".pbf") })
        // The file can be taken by another program: here, by the store of another device.
        let none = try await device.run("export", "--files", files.path, "--zoom", "6", "--box", "100,10,101,11")
        #expect(none.status == 66, "\(none.errors)")
    }
}
