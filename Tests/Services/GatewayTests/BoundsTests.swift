import Foundation
import TestSupport
import Testing
import WebRequests

@testable import Gateway

/// Bounds of connections and requests, over raw sockets.
@Suite(.timeLimit(.minutes(15))) struct BoundsTests {
    private static let bytes = noise(8 << 20)

    private static func serving(
        options: (inout GatewayOptions) -> Void = { _ in }, body: (GatewayFixture) async throws -> Void
    ) async throws {
        let gateway = try await GatewayFixture(options: options, fill: { try $0.publish("EE", bytes, in: $1) })
        do { try await body(gateway) } catch {
            await gateway.end()
            throw error
        }
        await gateway.end()
    }

    private static func status(_ gateway: GatewayFixture, _ text: String) async throws -> Int? {
        HTTPProbe.parse(try await HTTPProbe.raw(gateway.port, Array(text.utf8)))?.status
    }

    @Test func headsHaveBounds() async throws {
        try await Self.serving { gateway in
            func head(_ target: String, _ fields: [String]) -> String {
                (["GET \(target) HTTP/1.1", "Host: a", "Connection: close"] + fields).joined(separator: "\r\n")
                    + "\r\n\r\n"
            }
            func expect(_ status: Int, _ text: String) async throws {
                let found = try await Self.status(gateway, text)
                #expect(found == status, "\(text.prefix(60))")
            }
            let slashless = String(repeating: "a", count: RequestPath.maxBytes - 1)
            try await expect(404, head("/\(slashless)", []))
            try await expect(414, head("/\(slashless)a", []))
            let few = (0..<60).map { "X-\($0): y" }
            try await expect(200, head("/healthz", few))
            let many = (0..<80).map { "X-\($0): y" }
            try await expect(431, head("/healthz", many))
            let large = ["X: " + String(repeating: "y", count: 15_000)]
            try await expect(200, head("/healthz", large))
            let larger = ["X: " + String(repeating: "y", count: 17_000)]
            try await expect(431, head("/healthz", larger))
            // A target without end is cut while it comes.
            let endless = "GET /" + String(repeating: "a", count: 1 << 20)
            #expect(try await HTTPProbe.raw(gateway.port, Array(endless.utf8)).count < 1_000)
        }
    }

    @Test(arguments: [
        "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n",
        "POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc",
        "GET /healthz HTTP/1.1\r\nHost: a\r\nX\u{0}: b\r\n\r\n", "GET  HTTP/1.1\r\n\r\n", "nonsense\r\n\r\n",
        "POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
    ]) func malformedRequestsAreRefused(_ text: String) async throws {
        try await Self.serving { gateway in
            let status = try await Self.status(gateway, text)
            #expect(status == 400 || status == nil, "\(String(describing: status))")
            #expect(try await gateway.get("/healthz").status == 200)
        }
    }

    /// RFC 9112: 6.1 (a coding that the server does not know), 6.3 (a length that is not certain), 7.1 (chunks).
    @Test(arguments: [
        ("Transfer-Encoding: gzip\r\n\r\nabc", 501), ("Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
        ("Transfer-Encoding: identity\r\n\r\n", 501),
        ("transfer-encoding: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501),
        ("Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", 400), ("Transfer-Encoding:\r\n\r\n", 400),
        ("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400),
        ("Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n", 400), ("Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n", 400),
        ("Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n", 400),
        ("Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\nabc", 400),
        ("Transfer-Encoding: Chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nX: y\r\n\r\n", 405),
    ]) func aBodyThatCannotBeReadGetsAnAnswer(_ fields: String, _ status: Int) async throws {
        try await Self.serving { gateway in
            let text = "POST /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\(fields)"
            for _ in 0..<5 {
                let found = try await Self.status(gateway, text)
                #expect(found == status)
            }
        }
    }

    @Test func aClientThatAsksFirstMaySendItsBody() async throws {
        try await Self.serving { gateway in
            let fields = "Host: a\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 3"
            let text = "POST /healthz HTTP/1.1\r\n\(fields)\r\n\r\nabc"
            let both = String(decoding: try await HTTPProbe.raw(gateway.port, Array(text.utf8)), as: UTF8.self)
            #expect(both.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 405"), "\(both)")
        }
    }

    @Test func aDamagedBodyGetsNoSecondAnswer() async throws {
        try await Self.serving { gateway in
            let handle = try RawHTTPClient.connect(.port(gateway.port))
            defer { close(handle) }
            RawHTTPClient.write(
                Array("POST /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".utf8), to: handle)
            // The answer comes before the body.
            _ = try await gateway.wait("/metrics") { $0.text.contains("code=\"405\"") }
            RawHTTPClient.write(Array("zz\r\n".utf8), to: handle)
            let text = await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(returning: String(decoding: RawHTTPClient.readAll(handle), as: UTF8.self))
                }
            }
            #expect(text.components(separatedBy: "HTTP/1.1 ").count == 2, "\(text)")
        }
    }

    @Test func aBodyHasABound() async throws {
        try await Self.serving { gateway in
            let claimed = "POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n"
            #expect(try await Self.status(gateway, claimed) == 413)
            let chunk = "FFFF\r\n" + String(repeating: "a", count: 0xFFFF) + "\r\n"
            let endless =
                "POST /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                + String(repeating: chunk, count: 100)
            _ = try await HTTPProbe.raw(gateway.port, Array(endless.utf8))
            #expect(try await gateway.get("/healthz").status == 200)
        }
    }

    @Test func aRequestMayComeByteByByteAndInARow() async throws {
        try await Self.serving { gateway in
            let text = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            let answer = try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(
                        with: Result {
                            let handle = try RawHTTPClient.connect(.port(gateway.port))
                            defer { close(handle) }
                            for byte in text.utf8 { RawHTTPClient.write([byte], to: handle) }
                            return RawHTTPClient.readAll(handle)
                        })
                }
            }
            #expect(HTTPProbe.parse(answer)?.status == 200)
            let row =
                "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nGET /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            let both = String(decoding: try await HTTPProbe.raw(gateway.port, Array(row.utf8)), as: UTF8.self)
            #expect(both.contains("200 OK") && both.contains("404 Not Found"))
            let old = try await HTTPProbe.raw(gateway.port, Array("GET /healthz HTTP/1.0\r\n\r\n".utf8))
            #expect(HTTPProbe.parse(old)?.status == 200)
        }
    }

    @Test func aRequestForAnotherProtocolEndsItsConnection() async throws {
        try await Self.serving { gateway in
            // Without the end this would wait until the connection is idle for too long.
            for fields in ["Connection: Upgrade\r\nUpgrade: h2c", "Connection: close"] {
                let text = "GET /healthz HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n"
                let answer = HTTPProbe.parse(try await HTTPProbe.raw(gateway.port, Array(text.utf8)))
                #expect(answer?.status == 200 && answer?.header("connection") == "close", "\(fields)")
            }
            #expect(try await Self.status(gateway, "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n") == 400)
        }
    }

    @Test func aSlowHeadIsCut() async throws {
        try await Self.serving(
            options: { $0.headSeconds = 0.3 },
            body: { gateway in
                // The server ends the connection; without its deadline this would wait for ever.
                let answer = try await HTTPProbe.raw(gateway.port, Array("GET /healthz HTTP/1.1\r\nHost:".utf8))
                #expect(answer.isEmpty)
                #expect(try await Self.metric(gateway, "gateway_connections_cut_total{reason=\"slow-head\"}") == 1)
            })
    }

    @Test func aReaderThatTakesNothingIsCut() async throws {
        try await Self.serving(
            options: { $0.readerSeconds = 0.5 },
            body: { gateway in
                let handle = try RawHTTPClient.connect(.port(gateway.port))
                defer { close(handle) }
                RawHTTPClient.write(Array("GET /packages/1/EE.mbtiles HTTP/1.1\r\nHost: a\r\n\r\n".utf8), to: handle)
                _ = try await gateway.wait("/metrics") {
                    $0.text.contains("gateway_connections_cut_total{reason=\"slow-reader\"} 1")
                }
                // What the client finds then is not the whole file.
                let found = await withCheckedContinuation { continuation in
                    Thread.detachNewThread { continuation.resume(returning: RawHTTPClient.readAll(handle)) }
                }
                #expect(found.count < Self.bytes.count)
            })
    }

    @Test func connectionsAreBounded() async throws {
        try await Self.serving(
            options: { $0.maxConnectionsEach = 4 },
            body: { gateway in
                var held: [Int32] = []
                for _ in 0..<4 { held.append(try await HTTPProbe.hold(gateway.port)) }
                // The fifth gets no answer until one of the others ends.
                #expect(
                    try await HTTPProbe.raw(gateway.port, Array("GET /healthz HTTP/1.0\r\n\r\n".utf8)).isEmpty)
                for handle in held { close(handle) }
                while try await HTTPProbe.raw(gateway.port, Array("GET /healthz HTTP/1.0\r\n\r\n".utf8)).isEmpty {
                    try await Task.sleep(for: .milliseconds(10))
                }
            })
    }

    private static func metric(_ gateway: GatewayFixture, _ name: String) async throws -> Double? {
        let text = try await gateway.get("/metrics").text
        let line = text.split(separator: "\n").first { $0.hasPrefix("packhorse_\(name) ") }
        return line?.split(separator: " ").last.flatMap { Double($0) }
    }
}

/// Tokens, rates, quotas and origins, over sockets.
@Suite(.timeLimit(.minutes(15))) struct AccessServingTests {
    private static func serving(
        options change: (inout GatewayOptions) -> Void = { _ in },
        body: (GatewayFixture, URL) async throws -> Void
    ) async throws {
        let tokens = FileManager.default.temporaryDirectory.appendingPathComponent(
            "packhorse-tokens-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: tokens, withIntermediateDirectories: true)
        // A folder that stays takes space only.
        defer { try? FileManager.default.removeItem(at: tokens) }
        try token("reader", roles: "viewer", in: tokens)
        try token("phone", roles: "client", "bytes_per_day: 150000", in: tokens)
        try token("worker", roles: "worker", in: tokens)
        let gateway = try await GatewayFixture(
            options: { options in
                options.tokens = tokens
                options.metrics = .viewer
                change(&options)
            }, fill: { try $0.publish("EE", noise(100_000), in: $1) })
        do { try await body(gateway, tokens) } catch {
            await gateway.end()
            throw error
        }
        await gateway.end()
    }

    /// Writes the file of a token whose text is its name.
    private static func token(_ name: String, roles: String, _ more: String = "", in folder: URL) throws {
        let digest = DigestText.of(name)
        try Data("sha256:\(digest)\nroles: \(roles)\n\(more)\n".utf8)
            .write(to: folder.appendingPathComponent("\(name).token"), options: .atomic)
    }

    private func bearer(_ token: String) -> [String: String] { ["Authorization": "Bearer \(token)"] }

    @Test func rolesDecide() async throws {
        try await Self.serving { gateway, _ in
            #expect(try await gateway.get("/metrics", bearer("reader")).status == 200)
            let without = try await gateway.get("/metrics")
            #expect(without.status == 401 && without.header("www-authenticate") == "Bearer")
            #expect(try await gateway.get("/metrics", bearer("nobody")).status == 401)
            #expect(try await gateway.get("/metrics", bearer("phone")).status == 403)
            #expect(try await gateway.get("/metrics", bearer("worker")).status == 403)
            #expect(try await gateway.get("/catalog.json").status == 200)
            #expect(try await gateway.get("/catalog.json", bearer("nobody")).status == 401)
            #expect(try await gateway.get("/v1/session", bearer("reader")).text.contains(#""roles":["viewer"]}"#))
            #expect(try await gateway.get("/v1/session", bearer("phone")).text.contains(#""roles":["client"]}"#))
            #expect(try await gateway.get("/v1/session").text.contains(#"{"is_private":false,"roles":[]}"#))
            #expect(try await gateway.get("/v1/session", bearer("nobody")).status == 401)
        }
    }

    @Test func aTokenThatIsRemovedEnds() async throws {
        try await Self.serving { gateway, tokens in
            try FileManager.default.removeItem(at: tokens.appendingPathComponent("reader.token"))
            _ = try await gateway.wait("/metrics", bearer("reader")) { $0.status == 401 }
            try Self.token("reader", roles: "client", in: tokens)
            _ = try await gateway.wait("/metrics", bearer("reader")) { $0.status == 403 }
        }
    }

    @Test func aPrivateGatewayAsksForATokenAndCountsBytes() async throws {
        try await Self.serving(
            options: { $0.isPrivate = true },
            body: { gateway, _ in
                for path in ["/catalog.json", "/packages/1/EE.mbtiles", "/tiles/EE.json"] {
                    #expect(try await gateway.get(path).status == 401, "\(path)")
                }
                #expect(try await gateway.get("/healthz").status == 200)
                for _ in 0..<2 {
                    #expect(try await gateway.get("/packages/1/EE.mbtiles", bearer("phone")).status == 200)
                }
                let spent = try await gateway.get("/packages/1/EE.mbtiles", bearer("phone"))
                #expect(spent.status == 402 && spent.header("retry-after") != nil)
                #expect(try await gateway.get("/catalog.json", bearer("phone")).status == 200)
                #expect(try await gateway.get("/packages/1/EE.mbtiles", bearer("worker")).status == 403)
                // Who may read jobs may read what they made: the page shows it.
                for path in ["/catalog.json", "/packages/1/EE.mbtiles", "/catalog.html"] {
                    #expect(try await gateway.get(path, bearer("reader")).status == 200, "\(path)")
                }
            })
    }

    @Test func aRateEnds() async throws {
        try await Self.serving(
            options: { $0.exemptsLoopback = false },
            body: { gateway, _ in
                var statuses: [Int] = []
                while statuses.last != 429, statuses.count < 500 {
                    let answer = try await gateway.get("/packages/1/EE.mbtiles", method: "HEAD")
                    statuses.append(answer.status)
                    if answer.status == 429 { #expect(answer.header("retry-after") == "1") }
                }
                #expect(statuses.last == 429 && statuses.count > 40)
                // A token has a bucket of its own.
                #expect(try await gateway.get("/packages/1/EE.mbtiles", method: "HEAD", bearer("phone")).status == 200)
            })
    }

    @Test func theAddressBehindATrustedProxyCounts() async throws {
        try await Self.serving(
            options: { $0.trustedProxies = ["127.0.0.0/8"] },
            body: { gateway, _ in
                func ask(_ chain: String) async throws -> Int {
                    try await gateway.get("/packages/1/EE.mbtiles", method: "HEAD", ["X-Forwarded-For": chain]).status
                }
                var count = 0
                while try await ask("9.9.9.9, 127.0.0.1") != 429, count < 500 { count += 1 }
                #expect(count >= 40 && count < 500)
                #expect(try await ask("8.8.8.8") == 200)
                // The nearest address counts. Its bucket may have gained a few requests by now; a full one has 40.
                var statuses: [Int] = []
                while statuses.last != 429, statuses.count < 30 { statuses.append(try await ask("8.8.8.8, 9.9.9.9")) }
                #expect(statuses.last == 429)
                let json = try await gateway.get(
                    "/world/style.json", ["X-Forwarded-Proto": "https", "X-Forwarded-Host": "maps.example.com"])
                #expect(json.text.contains("https://maps.example.com/world/tiles.json"))
            })
        try await Self.serving { gateway, _ in
            let json = try await gateway.get(
                "/world/style.json", ["X-Forwarded-Proto": "https", "X-Forwarded-Host": "maps.example.com"])
            #expect(json.text.contains("http://127.0.0.1:\(gateway.port)/world/tiles.json"))
        }
    }

    @Test func pagesOfOtherOriginsMayReadWhatIsPublic() async throws {
        try await Self.serving(
            options: { $0.corsOrigins = ["https://page.example.com"] },
            body: { gateway, _ in
                let answer = try await gateway.get("/catalog.json", ["Origin": "https://x.example.com"])
                #expect(answer.header("access-control-allow-origin") == "*")
                #expect(answer.header("access-control-expose-headers")?.contains("Repr-Digest") == true)
                #expect(answer.header("access-control-allow-credentials") == nil)
                #expect(answer.header("x-content-type-options") == "nosniff")
                #expect(answer.header("referrer-policy") == "no-referrer")
                for (origin, expected) in [
                    ("https://page.example.com", "https://page.example.com"), ("https://x.example.com", nil),
                ] {
                    let asked = try await gateway.get(
                        "/v1/jobs", method: "OPTIONS",
                        ["Origin": origin, "Access-Control-Request-Method": "POST"])
                    #expect(asked.status == 204 && asked.header("access-control-allow-origin") == expected)
                }
            })
    }
}
