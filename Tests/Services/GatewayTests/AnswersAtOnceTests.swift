import Catalog
import Digests
import Files
import Foundation
import TestSupport
import Testing
import Tiles

@testable import Gateway

/// Answers that are made on the loop of a connection are those that are waited for.
@Suite(.timeLimit(.minutes(15))) struct AnswersAtOnceTests {
    private static let bytes = noise(300_000)
    private static var tag: String { "\"\(Digest(of: bytes).hex)\"" }

    private static func serving(
        isProxied: Bool = false, _ body: (GatewayFixture, SmallMap) async throws -> Void
    ) async throws {
        let map = try SmallMap(try #require(TileID(zoom: 4, x: 9, y: 4)), maxZoom: 7, name: "west")
        let gateway = try await GatewayFixture(
            options: { if isProxied { $0.trustedProxies = ["127.0.0.1"] } },
            fill: { catalog, folder in
                try catalog.publish("W", map, in: folder)
                try catalog.publish("EE", bytes, in: folder)
            })
        do { try await body(gateway, map) } catch {
            await gateway.end()
            throw error
        }
        await gateway.end()
    }

    /// Method, path and fields of a request.
    private typealias Asked = (String, String, [String: String])

    /// Requests on one connection.
    private static func ask(
        _ port: Int, _ requests: [Asked]
    ) async throws -> [HTTPProbe.Answer] {
        let text = requests.enumerated().map { number, request in
            let (method, path, fields) = request
            var lines = ["\(method) \(path) HTTP/1.1", "Host: 127.0.0.1:\(port)"]
            if number == requests.count - 1 { lines.append("Connection: close") }
            lines += fields.sorted { $0.key < $1.key }.map { "\($0): \($1)" }
            return lines.joined(separator: "\r\n") + "\r\n\r\n"
        }.joined()
        var rest = try await HTTPProbe.raw(port, Array(text.utf8))[...]
        var answers: [HTTPProbe.Answer] = []
        for (method, _, _) in requests {
            let end = try #require(rest.firstRange(of: Array("\r\n\r\n".utf8)))
            var answer = try #require(HTTPProbe.parse(Array(rest[..<end.upperBound])))
            rest = rest[end.upperBound...]
            let hasBody = method != "HEAD" && answer.status != 304 && answer.status != 204
            let length = hasBody ? try #require(answer.header("content-length").flatMap(Int.init)) : 0
            answer.body = Array(rest.prefix(length))
            rest = rest.dropFirst(length)
            answers.append(answer)
        }
        #expect(rest.isEmpty)
        return answers
    }

    /// What is the same in each answer to a request.
    private static func constant(_ answer: HTTPProbe.Answer) -> [String] {
        let own = ["date", "x-request-id", "connection"]
        let problem = answer.header("content-type") == "application/problem+json"
        let fields = answer.headers.filter { !own.contains($0.name) }.map { "\($0.name): \($0.value)" }
        return ["\(answer.status)", problem ? "" : Digest(of: answer.body).hex] + fields
    }

    @Test func theSecondAnswerIsTheFirst() async throws {
        try await Self.serving { gateway, map in
            let tile = try #require(map.bodies.keys.min())
            let empty = try #require(map.mask.tiles(in: map.zooms).first { map.bodies[$0] == nil })
            let (file, pack) = ("/packages/1/EE.mbtiles", "/tiles/W@1/\(tile).pbf")
            let body = try #require(map.bodies[tile])
            let cases: [(String, String, [String: String], Int)] = [
                ("GET", "/packages.json", [:], 200), ("GET", "/packages.json", ["Accept-Encoding": "gzip"], 200),
                ("HEAD", "/catalog.json", [:], 200), ("GET", "/catalog.json", ["If-Match": "\"x\""], 412),
                ("GET", "/catalog.json", ["If-None-Match": "*"], 304), ("GET", "/de/packages.json", [:], 404),
                ("GET", file, ["Range": "bytes=5-70000"], 206), ("GET", file, ["Range": "bytes=-1"], 206),
                ("GET", file, ["Range": "bytes=0-1,5-9"], 206), ("GET", file, [:], 200), ("HEAD", file, [:], 200),
                ("GET", file, ["Range": "bytes=300000-"], 416), ("GET", file, ["If-None-Match": Self.tag], 304),
                ("HEAD", file, ["Range": "bytes=5-9"], 200), ("GET", file, ["If-Match": "\"x\""], 412),
                ("GET", file, ["Range": "bytes=5-9", "If-Range": "\"x\""], 200), ("GET", file + "?download", [:], 200),
                ("GET", pack, ["Accept-Encoding": "gzip"], 200), ("GET", pack, [:], 200), ("HEAD", pack, [:], 200),
                ("GET", pack, ["If-None-Match": "\"\(Digest(of: body).hex.prefix(32))-plain\""], 304),
                ("GET", "/tiles/W@1/\(empty).pbf", [:], 204), ("GET", "/tiles/W@1/\(tile).png", [:], 404),
                ("GET", "/tiles/W@1/9/0/0.pbf", [:], 404), ("GET", pack + "?format=mbtiles", [:], 200),
                ("GET", "/world/0/0/0.pbf", [:], 200), ("GET", "/packages/1/none.mbtiles", [:], 404),
            ]
            for (method, path, fields, status) in cases {
                let origin = fields.merging(["Origin": "https://a.example"]) { $1 }
                let one = try await gateway.get(path, method: method, origin)
                let several = try await Self.ask(gateway.port, Array(repeating: (method, path, origin), count: 4))
                #expect(one.status == status, "\(method) \(path) \(fields)")
                for answer in several {
                    #expect(Self.constant(answer) == Self.constant(one), "\(method) \(path) \(fields)")
                }
                #expect(Set(several.map { $0.header("x-request-id") }).count == 4)
            }
            let all = try await Self.ask(gateway.port, cases.map { ($0.0, $0.1, $0.2) })
            #expect(all.map(\.status) == cases.map(\.3))
        }
    }

    @Test func aFileThatIsOpenIsGoneWhenItIsRemovedAndDamagedWhenItChanges() async throws {
        try await Self.serving { gateway, _ in
            let (path, range) = ("/packages/1/EE.mbtiles", ["Range": "bytes=10-19"])
            let place = gateway.folder.appendingPathComponent("catalog" + path)
            let twice = Array(repeating: ("GET", path, range), count: 2)
            #expect(try await Self.ask(gateway.port, twice).allSatisfy { $0.body == Array(Self.bytes[10..<20]) })
            try FileManager.default.removeItem(at: place)
            #expect(try await Self.ask(gateway.port, twice).map(\.status) == [404, 404])
            try Data(Self.bytes).write(to: place)
            #expect(try await Self.ask(gateway.port, twice).map(\.status) == [206, 206])
            try Data(Self.bytes + [0]).write(to: place)
            #expect(try await Self.ask(gateway.port, twice).map(\.status) == [500, 500])
            // A link to the right file is none.
            try FileManager.default.removeItem(at: place)
            try Data(Self.bytes).write(to: gateway.folder.appendingPathComponent("other"))
            try FileManager.default.createSymbolicLink(
                at: place, withDestinationURL: gateway.folder.appendingPathComponent("other"))
            #expect(try await Self.ask(gateway.port, twice).map(\.status) == [500, 500])
        }
    }

    @Test func eachRequestCountsOnce() async throws {
        try await Self.serving(isProxied: true) { gateway, map in
            let tile = try #require(map.bodies.keys.min())
            // As many as the rate of files allows at once.
            let fields = ["X-Forwarded-For": "10.0.0.1", "Range": "bytes=0-9"]
            let files = Array(repeating: ("GET", "/packages/1/EE.mbtiles", fields), count: 40)
            #expect(try await Self.ask(gateway.port, files).allSatisfy { $0.status == 206 })
            let tiles = ["pmtiles", "mbtiles"].flatMap { format in
                Array(repeating: ("GET", "/tiles/W@1/\(tile).pbf?format=\(format)", fields), count: 30)
            }
            #expect(try await Self.ask(gateway.port, tiles).allSatisfy { $0.status == 200 })
            let page = try await gateway.get("/metrics").text
            #expect(page.contains("packhorse_gateway_tiles_total{result=\"found\"} 60"))
            #expect(page.contains("packhorse_gateway_ranges_total{kind=\"one\"} 40"))
            for group in ["file", "tile"] {
                #expect(page.contains("packhorse_gateway_http_in_flight{group=\"\(group)\"} 0"))
            }
        }
    }
}
