import Catalog
import CatalogFormat
import Coordinator
import Files
import Foundation
import Logging
import TestSupport
import Testing
import TextFormats
import Tiles
import Tilesets
import ZeroMQ

@testable import Gateway

/// The API and CARTO's protocol over a real coordinator.
@Suite(.timeLimit(.minutes(15))) struct ClusterServingTests {
    static let viewer = ["Authorization": "Bearer viewer"]
    static let op = ["Authorization": "Bearer operator"]
    private static let client = ["Authorization": "Bearer client"]
    static let submission = #"{"tileset":"streets","area":{"bbox":[24.5,59.3,24.6,59.4]},"zooms":"0-10"}"#

    /// A coordinator without workers, and a gateway.
    ///
    /// - Parameters:
    ///   - sharesCatalog: Whether the gateway serves the catalog of the coordinator, else one of its own.
    ///   - otherCatalogs: Further catalogs of the coordinator.
    ///   - newest: The tileset file of the tileset `newest`, whose source changes its address; `nil` = there is no such tileset.
    ///   - fill: Publishes before the gateway starts.
    static func serving(
        heartbeat: Double = 15, sharesCatalog: Bool = false,
        otherCatalogs: [String: CoordinatorOptions.OtherCatalog] = [:], newest: String? = nil,
        fill: @Sendable (Catalog, URL) throws -> Void = { _, _ in },
        _ body: @escaping @Sendable (GatewayFixture) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("packhorse-api-\(UUID().uuidString)")
        let tokens = folder.appendingPathComponent("tokens")
        try FileManager.default.createDirectory(at: tokens, withIntermediateDirectories: true)
        // A folder that stays takes space only.
        defer { try? FileManager.default.removeItem(at: folder) }
        for role in ["viewer", "operator", "client"] {
            try Data("sha256:\(DigestText.of(role))\nroles: \(role)\n".utf8)
                .write(to: tokens.appendingPathComponent("\(role).token"))
        }
        var options = CoordinatorOptions(
            data: folder.appendingPathComponent("data"), blobs: folder.appendingPathComponent("blobs"),
            catalog: folder.appendingPathComponent(sharesCatalog ? "gateway/catalog" : "other"))
        options.controlBind = "tcp://127.0.0.1:*"
        options.workBind = "tcp://127.0.0.1:*"
        options.otherCatalogs = otherCatalogs
        let service = try CoordinatorService(options, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let text = """
            id: streets
            url: http://127.0.0.1:9/{z}/{x}/{y}.pbf
            format: pbf
            zoom: 0-14
            attribution: test
            politeness: {concurrency: 1, requests_per_second: 1, contact: test@example.com}
            """
        let tileset = try TilesetFile(text: text, name: "streets.yaml", folder: folder).resolved()
        var tilesets = [TilesetSource { tileset }]
        if let newest {
            var built = tileset
            built.id = "newest"
            built.build = try SourceBuild(name: "20261123", address: "http://127.0.0.1:9/20261123")
            tilesets.append(.ofAnyKind { [built] in TilesetSource.Found(built, following: newest) })
        }
        let offered = tilesets
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await service.run() }
            defer { group.cancelAll() }
            let home = sharesCatalog ? folder.appendingPathComponent("gateway") : nil
            let gateway = try await GatewayFixture(
                folder: home,
                options: { options in
                    options.tokens = tokens
                    options.tilesets = offered
                    var access = ClusterAccess(
                        endpoints: [service.controlEndpoint], security: .plain, allowPlain: false)
                    access.patience = .seconds(60)
                    options.coordinator = access
                    options.extractRules.heartbeat = heartbeat
                    // More than the coordinator's limit of a box.
                    options.extractTiles = 8_000
                }, fill: fill)
            do { try await body(gateway) } catch {
                await gateway.end()
                throw error
            }
            await gateway.end()
        }
    }

    static func members(_ answer: HTTPProbe.Answer) -> [String: JSONValue] {
        if case .object(let members)? = JSONValue(json: answer.body) { members } else { [:] }
    }

    @Test func jobsAreSubmittedOnceAndOrdered() async throws {
        try await Self.serving { gateway in
            let estimate = try await gateway.post("/v1/estimates", Self.submission, Self.viewer)
            #expect(estimate.status == 200 && Self.members(estimate)["job"] == nil)
            let tiles = try #require(Self.members(estimate)["tiles"])
            let refused = try await gateway.post("/v1/jobs", Self.submission, Self.viewer)
            #expect(refused.status == 403)
            let key = Self.op.merging(["Idempotency-Key": "\"one\""]) { $1 }
            let made = try await gateway.post("/v1/jobs", Self.submission, key)
            #expect(made.status == 201 && Self.members(made)["tiles"] == tiles, "\(made.text)")
            let place = try #require(made.header("location"))
            let again = try await gateway.post("/v1/jobs", Self.submission, key)
            #expect(again.status == 200 && again.header("location") == place)
            let other = try await gateway.post(
                "/v1/jobs", Self.submission.replacing("0-10", with: "0-9"), key)
            #expect(other.status == 422, "\(other.text)")
            let job = try await gateway.get(place, Self.viewer)
            #expect(
                Self.members(job)["tileset"] == .string("streets") && Self.members(job)["state"] == .string("fetching"))
            #expect(!job.text.contains("\"path\""))
            let paused = try await gateway.post("\(place)/orders", #"{"order":"pause"}"#, Self.op)
            #expect(paused.status == 200, "\(paused.text)")
            let list = try await gateway.wait("/v1/jobs?state=paused", Self.viewer) { $0.text.contains("streets") }
            #expect(list.status == 200)
            let cancelled = try await gateway.post("/v1/jobs/orders", #"{"order":"cancel","jobs":[1,99]}"#, Self.op)
            #expect(cancelled.status == 200 && cancelled.text.contains("unknown-thing"), "\(cancelled.text)")
            _ = try await gateway.wait(place, Self.viewer) { $0.text.contains("\"state\":\"cancelled\"") }
        }
    }

    /// Path, body (POST when there is one), status.
    private static let refusals: [(String, String?, Int)] = [
        ("/v1/jobs/77", nil, 404), ("/v1/jobs/x", nil, 400), ("/v1/jobs?colour=red", nil, 400),
        ("/v1/jobs?limit=0", nil, 400), ("/v1/jobs?state=happy", nil, 400), ("/v1/jobs", "{", 400),
        ("/v1/jobs", #"{"tileset":"streets"}"#, 400), ("/v1/jobs", #"{"tileset":"x","area":{"regions":["EE"]}}"#, 422),
        ("/v1/jobs", #"{"tileset":"streets","area":{"regions":["Nowhere"]}}"#, 422),
        ("/v1/jobs", #"{"tileset":"streets","area":{}}"#, 422), ("/v1/jobs", String(repeating: "[", count: 200), 400),
        ("/v1/jobs", #"{"tileset":"streets","area":{"regions":["EE"]},"max_zoom":5}"#, 400),
        ("/v1/jobs", #"{"tileset":"streets","area":{"regions":["EE"],"box":[1]}}"#, 400),
        ("/v1/jobs", #"{"tileset":"streets","area":{"regions":["EE"]},"priority":99999999999}"#, 400),
        ("/v1/jobs", #"{"tileset":"streets","area":{"regions":["EE"]},"weight":0}"#, 422), ("/v1/jobs", "[]", 400),
        ("/v1/jobs/1/orders", #"{"order":"dance"}"#, 422), ("/v1/jobs/77/orders", #"{"order":"pause"}"#, 404),
        ("/v1/workers/none/orders", #"{"order":"drain"}"#, 404), ("/v1/status", "{}", 405),
        ("/v1/regions/XX", nil, 404), ("/v1/packages/XX", nil, 404), ("/v1/packages?at=1", nil, 400),
    ]

    @Test func wrongRequestsAreRefused() async throws {
        try await Self.serving { gateway in
            for (path, body, status) in Self.refusals {
                let answer =
                    if let body { try await gateway.post(path, body, Self.op) } else {
                        try await gateway.get(path, Self.op)
                    }
                #expect(answer.status == status, "\(path) \(body ?? ""): \(answer.text)")
                #expect(answer.header("content-type") == "application/problem+json")
            }
            let area = #""area":{"regions":["EE"]"#
            for (body, name) in [
                ("\(area)},\"max_zoom\":5", "'max_zoom'"), ("\(area),\"box\":1}", "'area.box'"),
                ("\(area)},\"weight\":-5", "a number is negative"),
            ] {
                let answer = try await gateway.post("/v1/jobs", "{\"tileset\":\"streets\",\(body)}", Self.op)
                #expect(answer.text.contains(name), "\(answer.text)")
            }
            let typed = try await HTTPProbe.get(
                gateway.port, "/v1/jobs", method: "POST", Self.op.merging(["Content-Type": "text/xml"]) { $1 },
                body: [0x3C])
            #expect(typed.status == 415)
        }
    }

    @Test func readingsOfTheCluster() async throws {
        try await Self.serving { gateway in
            for path in [
                "status", "session", "jobs", "schedules", "workers", "origins", "tilesets", "failed", "events",
                "packages", "catalogs",
            ] {
                let answer = try await gateway.get("/v1/\(path)", Self.viewer)
                #expect(answer.status == 200 && JSONValue(json: answer.body) != nil, "\(path): \(answer.text)")
                #expect(AnswerSchema.problems(answer, "/v1/\(path)") == [], "\(path)")
                let isOpen = path == "packages" || path == "session"
                #expect(try await gateway.get("/v1/\(path)").status == (isOpen ? 200 : 401), "\(path)")
            }
            let region = try await gateway.get("/v1/regions?q=eesti&lang=de")
            #expect(region.text.contains("\"id\":\"EE\"") && region.text.contains("Estland"), "\(region.text)")
            let metrics = try await gateway.get("/metrics")
            #expect(metrics.text.contains("packhorse_gateway_coordinator_questions_total{result=\"answered\"}"))
        }
    }

    @Test func aRegionSaysHowManyTilesItHas() async throws {
        try await Self.serving { gateway in
            let answer = try await gateway.get("/v1/regions/EE/tiles?zoom=9", Self.client)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(AnswerSchema.problems(answer, "/v1/regions/EE/tiles") == [])
            let members = Self.members(answer)
            guard case .array(let counts)? = members["counts"], case .string(let text)? = members["mask"] else {
                Issue.record("\(answer.text)")
                return
            }
            let mask = try TileMask(cartoText: text)
            #expect(counts.count == 10)
            for (zoom, count) in counts.enumerated() {
                #expect(count == .number(Double(mask.count(atZoom: zoom))), "zoom \(zoom)")
            }
            let wide = try await gateway.get("/v1/regions/EE/tiles?zoom=9&margin=50km", Self.client)
            guard case .array(let more)? = Self.members(wide)["counts"], case .number(let deepest)? = counts.last,
                case .number(let widest)? = more.last
            else {
                Issue.record("\(wide.text)")
                return
            }
            #expect(widest > deepest)
            #expect(try await gateway.get("/v1/regions/EE/tiles?zoom=15", Self.client).status == 400)
            #expect(try await gateway.get("/v1/regions/EE/tiles?margin=far", Self.client).status == 400)
            #expect(try await gateway.get("/v1/regions/XX/tiles", Self.client).status == 404)
            #expect(try await gateway.get("/v1/regions/EE/tiles").status == 401)
        }
    }

    @Test func aStreamOfEventsIsResumed() async throws {
        try await Self.serving { gateway in
            _ = try await gateway.post("/v1/jobs", Self.submission, Self.op)
            let first = try await Self.events(gateway, after: nil) { $0.contains("id: 1\n") }
            #expect(first.contains("event: job-inserted") || first.contains("event: "), "\(first)")
            let last = try #require(Self.numbers(first).last)
            _ = try await gateway.post("/v1/jobs/1/orders", #"{"order":"pause"}"#, Self.op)
            let more = try await Self.events(gateway, after: last) { !Self.numbers($0).isEmpty }
            #expect(Self.numbers(more).first == last + 1)
            #expect(Self.numbers(more) == Self.numbers(more).sorted())
        }
    }

    /// Two gateways may submit an extract at the same time, and a person may press a button twice.
    @Test func equalSubmissionsWithoutAKeyAreOneJob() async throws {
        try await Self.serving { gateway in
            let first = try await gateway.post("/v1/jobs", Self.submission, Self.op)
            let second = try await gateway.post("/v1/jobs", Self.submission, Self.op)
            #expect(first.status == 201 && second.status == 200, "\(second.text)")
            let keyed = try await gateway.post(
                "/v1/jobs", Self.submission, Self.op.merging(["Idempotency-Key": "\"a\""]) { $1 })
            #expect(keyed.status == 201, "a key names a submission of its own")
            #expect(!(try await gateway.get("/v1/jobs", Self.viewer)).text.contains("\"job\":3"))
        }
    }

    @Test func aSubmissionCanLimitItsFiles() async throws {
        try await Self.serving { gateway in
            func submission(_ limit: String) -> String {
                "{\"max_file\":\(limit)," + Self.submission.dropFirst()
            }
            let first = try await gateway.post("/v1/jobs", submission("4000000000"), Self.op)
            #expect(first.status == 201, "\(first.text)")
            #expect(try await gateway.post("/v1/jobs", submission("4000000000"), Self.op).status == 200)
            #expect(try await gateway.post("/v1/jobs", Self.submission, Self.op).status == 201, "another job")
            let small = try await gateway.post("/v1/jobs", submission("100"), Self.op)
            #expect(small.status >= 400 && small.text.contains("too small for a package"), "\(small.text)")
        }
    }

    /// The streams that were cut do not count: a client that resumes often is not refused.
    @Test func aStreamThatWasCutDoesNotCount() async throws {
        try await Self.serving { gateway in
            _ = try await gateway.post("/v1/jobs", Self.submission, Self.op)
            for _ in 0..<2 * EventResponder.maxEach {
                let text = try await Self.events(gateway, after: 0) { $0.contains("id: 1\n") }
                #expect(text.hasPrefix("HTTP/1.1 200"), "\(text.prefix(300))")
                _ = try await gateway.wait("/metrics", Self.viewer) {
                    $0.text.contains("packhorse_gateway_event_streams 0")
                }
            }
            let unknown = try await gateway.get("/v1/extracts/no-such-extract", Self.client)
            #expect(unknown.status == 404 && unknown.header("content-type") == "application/problem+json")
        }
    }

    @Test(arguments: ["18446744073709551615", "9223372036854775808", "-1", "x"])
    func aWrongLastEventIDIsRefused(_ number: String) async throws {
        try await Self.serving { gateway in
            let headers = ["Accept": "text/event-stream", "Last-Event-ID": number]
            let answer = try await gateway.get("/v1/events", Self.viewer.merging(headers) { $1 })
            #expect(answer.status == 400, "\(answer.text)")
            #expect(try await gateway.get("/v1/status", Self.viewer).status == 200)
        }
    }

    private static func numbers(_ text: String) -> [Int] {
        text.split(whereSeparator: \.isNewline).compactMap { $0.hasPrefix("id: ") ? Int($0.dropFirst(4)) : nil }
    }

    /// Reads a stream until its text fulfils a condition, and cuts it.
    private static func events(
        _ gateway: GatewayFixture, after: Int?, until condition: @escaping @Sendable (String) -> Bool
    ) async throws -> String {
        let port = gateway.port
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let handle = try RawHTTPClient.connect(.port(port))
                        defer { close(handle) }
                        let resume = after.map { "Last-Event-ID: \($0)\r\n" } ?? ""
                        let head =
                            "GET /v1/events HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\nAuthorization: Bearer viewer\r\n"
                        RawHTTPClient.write(Array((head + resume + "\r\n").utf8), to: handle)
                        var text = ""
                        var buffer = [UInt8](repeating: 0, count: 65_536)
                        while !condition(text) {
                            let got = read(handle, &buffer, buffer.count)
                            guard got > 0 else { break }
                            text += String(decoding: buffer[..<got], as: UTF8.self)
                        }
                        return text
                    })
            }
        }
    }

    // MARK: - CARTO

    private static func extract() throws -> (map: SmallMap, mask: String, id: String) {
        let map = try SmallMap(try #require(TileID(zoom: 12, x: 2_327, y: 1_203)), maxZoom: 14, name: "extract")
        return (map, map.mask.cartoURLText, ExtractName.id(of: map.mask, tileset: "streets"))
    }

    @Test func anUnknownMaskIsHeldUntilItsPackageIsThere() async throws {
        try await Self.serving(heartbeat: 0.1) { gateway in
            let (map, mask, id) = try Self.extract()
            let path = "/carto/streets/\(mask).mbtiles?appToken=client&deviceId=x&update=0"
            async let held = gateway.get(path)
            // The job exists as soon as the coordinator has taken it.
            _ = try await gateway.wait("/v1/jobs", Self.viewer) { $0.text.contains("extract \(id)") }
            let file = gateway.folder.appendingPathComponent("extract.mbtiles")
            try map.write(file)
            let bytes = [UInt8](try Data(contentsOf: file))
            try await Task.sleep(for: .milliseconds(500))
            try gateway.catalog.publish(
                id, bytes, in: gateway.folder, mask: map.mask.cartoWire, zooms: map.zooms, tileset: "streets",
                edition: try CatalogEdition(group: "extracts"))
            let answer = try await held
            #expect(answer.status == 200 && answer.body == bytes, "\(answer.status) \(answer.body.count)")
            #expect(answer.header("transfer-encoding") == "chunked" && answer.header("x-accel-buffering") == "no")
            let second = try await gateway.get(path, ["Range": "bytes=100-"])
            #expect(second.status == 206 && second.body == Array(bytes[100...]))
            let jobs = try await gateway.get("/v1/jobs", Self.viewer)
            #expect(jobs.text.components(separatedBy: "extract \(id)").count == 2)
            let state = try await gateway.get("/v1/extracts/\(id)", Self.client)
            #expect(state.status == 200 && state.text.contains("\"state\":\"published\""))
        }
    }

    @Test func aBuildThatFailsIsACutAndThenAStatus() async throws {
        try await Self.serving(heartbeat: 0.1) { gateway in
            let (_, mask, id) = try Self.extract()
            let path = "/maparea/v2/streets/1/\(mask).mbtiles"
            async let held = gateway.get(path)
            _ = try await gateway.wait("/v1/jobs", Self.viewer) { $0.text.contains("extract \(id)") }
            try await Task.sleep(for: .milliseconds(400))
            _ = try await gateway.post("/v1/jobs/1/orders", #"{"order":"cancel"}"#, Self.op)
            let answer = try await held
            // Without its last chunk the body is no package for any client.
            #expect(answer.status == 200 && answer.body.isEmpty)
        }
    }

    @Test func cartoKnowsTheStatuses() async throws {
        try await Self.serving { gateway in
            let large = TileMask(full: 7)
            for (path, status) in [
                ("/carto/streets/\(large.cartoURLText):7.mbtiles", 406), ("/carto/streets/!.mbtiles", 400),
                ("/carto/none/QAAA.mbtiles", 404),
                ("/carto/streets/\(String(repeating: "A", count: 600)).mbtiles", 400),
                ("/carto/streets/QAAA.mbtiles?appToken=nobody", 403),
            ] {
                let answer = try await gateway.get(path)
                #expect(answer.status == status && answer.body.count <= 200, "\(path): \(answer.text)")
            }
            try gateway.catalog.publish("EE", noise(5_000), in: gateway.folder, tileset: "streets")
            try gateway.catalog.publish("XX", noise(6_000), in: gateway.folder, tileset: "other")
            let list = try await gateway.wait("/carto/streets/packages.json?appToken=&deviceId=1") {
                $0.text.contains("EE")
            }
            #expect(list.text.contains("http://127.0.0.1:\(gateway.port)/packages/1/EE.mbtiles"))
            #expect(!list.text.contains("XX"))
            for path in [
                "/carto/streets/%7Btilemask%7D.mbtiles", "/carto/streets/{tilemask}.mbtiles",
                "/mappackages/v2/streets/2/packages.json",
            ] { #expect(try await gateway.get(path).body == list.body, "\(path)") }
        }
    }

    @Test func extractsForPlainClients() async throws {
        try await Self.serving { gateway in
            let body = #"{"tileset":"streets","area":{"bbox":[24.50,59.30,24.51,59.31]}}"#
            #expect(try await gateway.post("/v1/extracts", body, Self.viewer).status == 403)
            let made = try await gateway.post("/v1/extracts", body, Self.client)
            #expect(made.status == 202 && made.header("retry-after") == "2", "\(made.text)")
            let place = try #require(made.header("location"))
            let state = try await gateway.get(place, Self.client)
            #expect(state.status == 202 && state.text.contains("\"state\":\"building\""), "\(state.text)")
            let begun = try await gateway.wait(place, Self.client) { $0.text.contains("\"settled\":0") }
            #expect(begun.text.contains("\"tiles\":"), "\(begun.text)")
            let again = try await gateway.post("/v1/extracts", body, Self.client)
            #expect(again.header("location") == place)
            let waiting = Self.client.merging(["Prefer": "respond-async, wait=60"]) { $1 }
            async let held = gateway.post("/v1/extracts", body, waiting)
            let id = place.split(separator: "/").last.map(String.init) ?? ""
            try gateway.catalog.publish(
                id, noise(5_000), in: gateway.folder, tileset: "streets",
                edition: try CatalogEdition(group: "extracts"))
            let published = try await held
            #expect(published.status == 200 && published.text.contains("\"state\":\"published\""))
            #expect(published.text.contains("\"files\":[{\"format\":\"mbtiles\""), "\(published.text)")
            let named =
                #"{"tileset":"streets","area":{"regions":["LI"]},"max_zoom":8,"name":"My <trip>","formats":["pmtiles"]}"#
            let second = try await gateway.post("/v1/extracts", named, Self.client)
            #expect(second.status == 202 && second.header("location") != place, "\(second.text)")
            _ = try await gateway.wait("/v1/jobs", Self.viewer) { $0.text.contains("extract My <trip>") }
            for wrong in [
                #"{"tileset":"streets","area":{"regions":["LI"]},"formats":["zip"]}"#,
                #"{"tileset":"streets","area":{"regions":["LI"]},"name":""}"#,
                #"{"tileset":"streets","area":{"regions":["Tartu, EE"]}}"#,
            ] {
                let refused = try await gateway.post("/v1/extracts", wrong, Self.client)
                #expect(refused.status == 422, "\(refused.text)")
            }
            let many = #"{"tileset":"streets","area":{"bbox":[0.1,0.1,1.63,1.63]},"name":"many tiles"}"#
            #expect(try await gateway.post("/v1/extracts", many, Self.client).status == 202)
            _ = try await gateway.wait("/v1/jobs", Self.viewer) { $0.text.contains("extract many tiles") }
            let large = #"{"tileset":"streets","area":{"bbox":[20,50,30,60]}}"#
            #expect(try await gateway.post("/v1/extracts", large, Self.client).status == 406)
        }
    }
}

/// A gateway without a coordinator, and one whose coordinator is away.
@Suite(.timeLimit(.minutes(15))) struct EdgeTests {
    @Test func aGatewayAloneServesTheCatalogAndItsDocument() async throws {
        let gateway = try await GatewayFixture(fill: { try $0.publish("EE", noise(1_000), in: $1) })
        let document = try await gateway.get("/openapi.json")
        #expect(document.status == 200 && document.text.contains("\"openapi\":\"3.1.0\""))
        #expect(try await gateway.get("/v1/packages").status == 200)
        #expect(try await gateway.get("/carto/streets/QAAA.mbtiles").status == 404)
        #expect(try await gateway.get("/problems/not-found").text.contains("404 not-found"))
        await gateway.end()
    }

    @Test func aSilentCoordinatorIsA503AndFilesAreServed() async throws {
        let tokens = FileManager.default.temporaryDirectory.appendingPathComponent(
            "packhorse-edge-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: tokens, withIntermediateDirectories: true)
        // A folder that stays takes space only.
        defer { try? FileManager.default.removeItem(at: tokens) }
        try Data("sha256:\(DigestText.of("v"))\nroles: viewer\n".utf8).write(
            to: tokens.appendingPathComponent("v.token"))
        let gateway = try await GatewayFixture(
            options: { options in
                options.tokens = tokens
                // A port on which nothing listens: it was free a moment ago.
                options.coordinator = ClusterAccess(
                    endpoints: ["tcp://127.0.0.1:9"], security: .plain, allowPlain: false)
            }, fill: { try $0.publish("EE", noise(1_000), in: $1) })
        let answer = try await gateway.get("/v1/jobs", ["Authorization": "Bearer v"])
        #expect(answer.status == 503 && answer.header("retry-after") == "2", "\(answer.text)")
        #expect(answer.text.contains("coordinator-away"))
        #expect(try await gateway.get("/packages/1/EE.mbtiles").status == 200)
        #expect(try await gateway.get("/readyz").status == 200)
        await gateway.end()
    }
}
