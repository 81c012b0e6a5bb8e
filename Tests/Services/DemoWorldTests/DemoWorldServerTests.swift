import Errors
import Foundation
import Logging
import TestSupport
import Testing
import TileBodies
import Tiles
import WebServer

@testable import DemoWorld
@testable import WorldTiles

@Suite(.timeLimit(.minutes(15)))
struct DemoWorldServerTests {
    /// A GET that closes its connection.
    private static func get(_ port: Int, _ path: String, _ headers: [String] = []) async throws -> RawHTTPClient {
        let head = ["GET \(path) HTTP/1.1", "Host: tiles.example:8080", "Connection: close"] + headers
        return try await RawHTTPClient.send(head.joined(separator: "\r\n") + "\r\n\r\n", to: .port(port))
    }

    /// Runs a server on a free port for as long as the body takes.
    private func withServer(_ knobs: DemoKnobs = DemoKnobs(), _ body: (Int) async throws -> Void) async throws {
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let server = DemoWorldServer(cutter: try Fixture.cutter.get(), knobs: knobs, logger: logger)
        let task = Task {
            defer { continuation.finish() }
            try await server.run { continuation.yield($0) }
        }
        var iterator = ports.makeAsyncIterator()
        let port = try #require(await iterator.next(), "the server did not start")
        do {
            try await body(port)
        } catch {
            task.cancel()
            throw error
        }
        task.cancel()
        // Ends within the time limit of the test, by itself or with a cancellation.
        _ = await task.result
    }

    @Test func tilesComePackedPlainAndNotModified() async throws {
        let cutter = try Fixture.cutter.get()
        let made = try #require(TileID(zoom: 6, x: 33, y: 21).flatMap { WorldTile.make($0, from: cutter) })
        try await withServer { port in
            let packed = try await Self.get(port, "/tiles/6/33/21.pbf", ["Accept-Encoding: gzip"])
            #expect(packed.status == 200)
            #expect(packed.headers["content-encoding"] == "gzip")
            #expect(packed.headers["content-type"] == "application/vnd.mapbox-vector-tile")
            #expect(packed.headers["content-length"] == "\(packed.body.count)")
            #expect(packed.headers["vary"] == "Accept-Encoding")
            #expect(packed.body == made.gzip)
            let plain = try await Self.get(port, "/tiles/6/33/21.pbf")
            #expect(plain.headers["content-encoding"] == nil && plain.body == made.vector)
            #expect(plain.headers["etag"] != packed.headers["etag"])
            let tag = try #require(packed.headers["etag"])
            let again = try await Self.get(
                port, "/tiles/6/33/21.pbf", ["Accept-Encoding: gzip", "If-None-Match: \(tag)"])
            #expect(again.status == 304 && again.body.isEmpty && again.headers["etag"] == tag)
            #expect(try await Self.get(port, "/de/tiles/6/33/21.pbf").headers["etag"] != plain.headers["etag"])
        }
    }

    @Test func everyKindOfRequestHasItsAnswer() async throws {
        try await withServer { port in
            #expect(try await Self.get(port, "/tiles/10/113/630.pbf").status == 204)
            #expect(try await Self.get(port, "/tiles/10/1024/0.pbf").status == 404)
            #expect(try await Self.get(port, "/tiles/x/y/z.pbf").status == 400)
            #expect(try await Self.get(port, "/tiles.json?language=xx").status == 400)
            #expect(try await Self.get(port, "/nothing").status == 404)
            #expect(try await Self.get(port, "/healthz").body == Array("ok\n".utf8))
            #expect(try await Self.get(port, "/").status == 200)
            let page = try await Self.get(port, "/html/tiles/1/1/1.pbf")
            #expect(page.status == 200 && page.headers["content-type"]?.hasPrefix("text/html") == true)
            let end = "\r\nHost: a\r\nConnection: close\r\n\r\n"
            #expect(try await RawHTTPClient.send("POST /tiles/0/0/0.pbf HTTP/1.1" + end, to: .port(port)).status == 405)
            let head = try await RawHTTPClient.send("HEAD /tiles/0/0/0.pbf HTTP/1.1" + end, to: .port(port))
            #expect(head.status == 200 && head.body.isEmpty && Int(head.headers["content-length"] ?? "") ?? 0 > 1000)
            for path in ["/%00", "/tiles/%zz/1/1.pbf", "/\u{7f}", "/" + String(repeating: "a/", count: 2000)] {
                #expect((400...414).contains(try await Self.get(port, path).status), "\(path.prefix(20))")
            }
        }
    }

    @Test func documentsNameTheHostOfTheRequest() async throws {
        try await withServer { port in
            let answer = try await Self.get(port, "/de/tiles.json")
            let object = try JSONSerialization.jsonObject(with: Data(answer.body))
            let tileJSON = try #require(object as? [String: Any])
            #expect(tileJSON["tilejson"] as? String == "3.0.0")
            #expect(tileJSON["tiles"] as? [String] == ["http://tiles.example:8080/de/tiles/{z}/{x}/{y}.pbf"])
            #expect(tileJSON["maxzoom"] as? Int == 14)
            #expect((tileJSON["attribution"] as? String)?.contains("Natural Earth") == true)
            let layers = try #require(tileJSON["vector_layers"] as? [[String: Any]])
            #expect(layers.compactMap { $0["id"] as? String } == ["countries", "regions", "labels", "grid"])
            let style = try JSONSerialization.jsonObject(with: Data(try await Self.get(port, "/style.json").body))
            let sources = (style as? [String: Any])?["sources"] as? [String: [String: Any]]
            #expect(sources?["world"]?["url"] as? String == "http://tiles.example:8080/tiles.json")
            let hostile = "GET /tiles.json HTTP/1.1\r\nHost: a\"><b\r\nConnection: close\r\n\r\n"
            let echoed = try await RawHTTPClient.send(hostile, to: .port(port)).text
            #expect(!echoed.contains("\"><b"))
        }
    }

    /// What the style refers to is served, whole, and not sent twice.
    @Test func spritesAndGlyphsAreServed() async throws {
        let checker = BodyChecker()
        try await withServer { port in
            let text = try await Self.get(port, "/style.json").text
            #expect(text.contains("http://tiles.example:8080/sprite\""))
            #expect(text.contains("http://tiles.example:8080/fonts/{fontstack}/{range}.pbf"))
            for (suffix, side) in [("", 16), ("@2x", 32)] {
                let image = try await Self.get(port, "/sprite\(suffix).png")
                #expect(image.status == 200 && image.headers["content-type"] == "image/png")
                #expect(try checker.check(image.body, coding: .identity, declared: .png) == image.body)
                let table =
                    try JSONSerialization.jsonObject(
                        with: Data(try await Self.get(port, "/sprite\(suffix).json").body))
                    as? [String: [String: Int]]
                #expect(
                    table?["region"] == ["x": 2 * side, "y": 0, "width": side, "height": side, "pixelRatio": side / 16])
                let tag = try #require(image.headers["etag"])
                #expect(
                    try await Self.get(port, "/sprite\(suffix).png", ["If-None-Match: \(tag)"]).status == 304)
            }
            let latin = try await Self.get(port, "/fonts/Demo%20Regular/0-255.pbf")
            #expect(try GlyphScanner.scan(latin.body) == 95)
            let greek = try await Self.get(port, "/fonts/Demo%20Regular/768-1023.pbf")
            #expect(try GlyphScanner.scan(greek.body) == 0)
            #expect(try await Self.get(port, "/fonts/Other/0-255.pbf").status == 404)
            for range in ["1-256", "0-254", "65536-65791", "0", "-255", "0-255-1", "a-b"] {
                #expect(try await Self.get(port, "/fonts/Demo%20Regular/\(range).pbf").status == 400, "\(range)")
            }
        }
    }

    /// Every layer and field that a tile has is promised by the TileJSON.
    @Test func tileJSONPromisesWhatTilesHold() throws {
        let cutter = try Fixture.cutter.get()
        let object = try JSONSerialization.jsonObject(
            with: Data(try WorldDocuments.tileJSON(base: "http://a", language: nil, maxZoom: 14)))
        let layers = (object as? [String: Any])?["vector_layers"] as? [[String: Any]] ?? []
        let checker = BodyChecker()
        for zoom in [0, 4, 9] {
            let bytes = try #require(Fixture.tile(10, 51, zoom: zoom).flatMap { cutter.cut($0) })
            for layer in try checker.summary(of: bytes).layers {
                let promised = layers.first { $0["id"] as? String == layer.name }?["fields"] as? [String: String] ?? [:]
                for (field, type) in layer.fields {
                    #expect(promised[field] == type.rawValue, "\(layer.name).\(field)")
                }
            }
        }
    }

    @Test func knobsMakeItAWorseServer() async throws {
        try await withServer(DemoKnobs(latency: .milliseconds(1), failEvery: 3)) { port in
            var codes: [Int] = []
            for _ in 0..<6 { codes.append(try await Self.get(port, "/tiles/2/1/1.pbf").status) }
            #expect(codes == [200, 200, 503, 200, 200, 503])
            #expect(try await Self.get(port, "/healthz").status == 200)
        }
    }

    @Test func aTakenPortIsNamed() async throws {
        let cutter = try Fixture.cutter.get()
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let (taken, continuation) = AsyncStream.makeStream(of: Int.self)
        let first = DemoWorldServer(cutter: cutter, logger: logger)
        let task = Task { try await first.run { continuation.yield($0) } }
        var iterator = taken.makeAsyncIterator()
        let port = try #require(await iterator.next())
        let second = DemoWorldServer(port: port, cutter: cutter, logger: logger)
        let error = await #expect(throws: WebServerError.self) { try await second.run { _ in } }
        #expect(error?.code == .cannotListen && error?.message.contains("127.0.0.1:\(port)") == true)
        task.cancel()
        _ = await task.result
    }

    @Test(arguments: ["192.0.2.1", String(repeating: "x", count: 70)])
    func aHostThatIsNotThisMachineIsNamed(host: String) async throws {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let server = DemoWorldServer(host: host, cutter: try Fixture.cutter.get(), logger: logger)
        let error = await #expect(throws: WebServerError.self) { try await server.run { _ in } }
        #expect(error?.code == .badHost && error?.hint?.contains("address of this machine") == true)
    }
}
