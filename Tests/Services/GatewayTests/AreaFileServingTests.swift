import Foundation
import TestSupport
import Testing
import TextFormats
import Tiles

@testable import Gateway

/// Files with areas and names of towns, over HTTP.
@Suite(.timeLimit(.minutes(15))) struct AreaFileServingTests {
    private typealias Cluster = ClusterServingTests

    private static let gpx = """
        <gpx><wpt lat="59.58" lon="26.11"/><rte><rtept lat="59.5" lon="25.5"/><rtept lat="59.6" lon="25.7"/></rte></gpx>
        """

    private static func upload(
        _ gateway: GatewayFixture, _ query: String, _ body: [UInt8], type: String = "application/octet-stream",
        _ headers: [String: String] = Cluster.viewer
    ) async throws -> HTTPProbe.Answer {
        try await HTTPProbe.get(
            gateway.port, "/v1/areas" + query, method: "POST", headers.merging(["Content-Type": type]) { $1 },
            body: body)
    }

    @Test func aFileBecomesAMaskThatJobsTake() async throws {
        try await Cluster.serving { gateway in
            let bare = try await Self.upload(gateway, "?zoom=12", Array(Self.gpx.utf8))
            #expect(bare.status == 200, "\(bare.text)")
            #expect(AnswerSchema.problems(bare, "/v1/areas", method: "POST") == [])
            let wide = try await Self.upload(gateway, "?zoom=12&margin=2km", Array(Self.gpx.utf8))
            let all = try await Self.upload(gateway, "?zoom=12&margin=2km&waypoints=1", Array(Self.gpx.utf8))
            let counts = try [bare, wide, all].map { answer -> Double in
                guard case .number(let count)? = Cluster.members(answer)["tiles"] else { throw Missing() }
                return count
            }
            #expect(counts[0] < counts[1] && counts[1] < counts[2])
            #expect(Cluster.members(bare)["format"] == .string("gpx"))
            guard case .string(let text)? = Cluster.members(wide)["mask"] else { throw Missing() }
            let mask = try TileMask(cartoText: text)
            #expect(Double(mask.count(in: try #require(ZoomRange(min: 0, max: 12)))) == counts[1])
            let job = try await gateway.post(
                "/v1/jobs",
                "{\"tileset\":\"streets\",\"area\":{\"mask\":\"\(text)\",\"name\":\"trip\"},\"zooms\":\"0-12\"}",
                Cluster.op)
            #expect(job.status == 201, "\(job.text)")
            let number = try #require(job.header("location"))
            let packages = try await gateway.get(number + "/packages", Cluster.viewer)
            #expect(packages.text.contains("\"trip\""), "\(packages.text)")
        }
    }

    private struct Missing: Error {}

    @Test func theLinesAndPlacesOfAFileAreGivenWhereTheyAreAskedFor() async throws {
        try await Cluster.serving { gateway in
            let bare = try await Self.upload(gateway, "?zoom=8", Array(Self.gpx.utf8))
            #expect(!bare.text.contains("outline"), "\(bare.text)")
            for (waypoints, points) in [(0, "[]"), (1, "[[26.11,59.58]]")] {
                let query = "?zoom=8&margin=5km&outline=1&waypoints=\(waypoints)"
                let answer = try await Self.upload(gateway, query, Array(Self.gpx.utf8))
                #expect(AnswerSchema.problems(answer, "/v1/areas", method: "POST") == [])
                let wanted = "\"outline\":{\"lines\":[[[25.5,59.5],[25.7,59.6]]],\"points\":\(points)}"
                #expect(answer.text.contains(wanted), "\(answer.text)")
            }
            // The border of a polygon is closed; a table has its places, not the circles around them.
            let square = try await Self.upload(
                gateway, "?zoom=5&outline=1", Array("POLYGON((24 59,25 59,25 60,24 59))".utf8))
            #expect(square.text.contains("[[[24,59],[25,59],[25,60],[24,59]]]"), "\(square.text)")
            let table = try await Self.upload(
                gateway, "?zoom=5&outline=1&radius=3km", Array("lon,lat\n24.5,59.25\n".utf8))
            #expect(table.text.contains("\"points\":[[24.5,59.25]]"), "\(table.text)")
        }
    }

    @Test func wrongFilesAndParametersAreRefused() async throws {
        try await Cluster.serving { gateway in
            for (query, body, status, words) in [
                ("", "", 422, "empty"), ("", "hello", 422, "no known format"), ("", "<gpx", 422, "line 1"),
                ("", #"{"type":"Point","coordinates":[1,86]}"#, 422, "outside the map"),
                ("", "fgb\u{3}fgb\u{1}....", 422, "ogr2ogr"),
                ("", Self.gpx.replacing("rte", with: "x"), 422, "--waypoints"),
                ("?zoom=15", Self.gpx, 400, "zoom"), ("?margin=far", Self.gpx, 400, "margin"),
                ("?route=yes", Self.gpx, 400, "route"),
                ("?colour=red", Self.gpx, 400, "colour"), ("?radius=-1", Self.gpx, 400, "radius"),
                ("?radius=20km", #"{"type":"Point","coordinates":[26.7,58.4]}"#, 400, "table of points"),
                ("?margin=2km,14:5km", Self.gpx, 400, "fall"),
            ] {
                let answer = try await Self.upload(gateway, query, Array(body.utf8))
                #expect(
                    answer.status == status && answer.text.contains(words),
                    "\(query) \(body.prefix(20)): \(answer.text)")
            }
            let form = try await Self.upload(gateway, "", Array(Self.gpx.utf8), type: "multipart/form-data; boundary=x")
            #expect(form.status == 415)
            #expect(try await Self.upload(gateway, "", Array(Self.gpx.utf8), [:]).status == 401)
        }
    }

    @Test func aFileOfMoreThanTwentyMebibytesIsRefused() async throws {
        try await Cluster.serving { gateway in
            let spaces = String(repeating: " ", count: AreaUploads.mostBytes - Self.gpx.utf8.count)
            let most = try await Self.upload(gateway, "?zoom=8", Array((Self.gpx + spaces).utf8))
            #expect(most.status == 200, "\(most.text)")
            let more = try await Self.upload(gateway, "?zoom=8", Array((Self.gpx + spaces + " ").utf8))
            #expect(more.status == 413 && more.text.contains("20 MiB"), "\(more.text)")
        }
    }

    /// The answer has no reader; the page of metrics has its status.
    @Test func aClientThatGoesAwayHasSentNothingTooLarge() async throws {
        try await Cluster.serving { gateway in
            for (path, type) in [("/v1/areas", "application/octet-stream"), ("/v1/jobs", "application/json")] {
                let head = [
                    "POST \(path) HTTP/1.1", "Host: a", "Content-Type: \(type)", "Content-Length: 100000",
                    "Authorization: \(try #require(Cluster.op["Authorization"]))",
                ]
                let handle = try RawHTTPClient.connect(.port(gateway.port))
                RawHTTPClient.write(Array((head.joined(separator: "\r\n") + "\r\n\r\n<gpx>").utf8), to: handle)
                close(handle)
            }
            for name in ["area", "submit"] {
                let labels = ["route": name, "method": "POST", "code": "400"]
                var page = try MetricsPage(await gateway.get("/metrics").text)
                while page.value("gateway_http_requests_total", labels) == nil {
                    #expect(page.value("gateway_http_requests_total", labels.merging(["code": "413"]) { $1 }) == nil)
                    try await Task.sleep(for: .milliseconds(20))
                    page = try MetricsPage(await gateway.get("/metrics").text)
                }
            }
        }
    }

    /// Edges back and forth over the whole world would have more tiles than the machine has memory.
    @Test func anAreaOfTooMuchWorkIsRefusedAtOnce() async throws {
        try await Cluster.serving { gateway in
            let line = (0..<60_000).map { "\($0 % 2 == 0 ? -179 : 179) \(Double($0 % 1_000) / 10 - 50)" }.joined(
                separator: ",")
            let deep = try await Self.upload(gateway, "", Array("LINESTRING(\(line))".utf8))
            #expect(deep.status == 406 && deep.text.contains("lower zoom"), "\(deep.text)")
            let shallow = try await Self.upload(gateway, "?zoom=5", Array("LINESTRING(\(line))".utf8))
            #expect(shallow.status == 200)
        }
    }

    @Test func townsAreFoundAndTakenWithAMargin() async throws {
        try await Cluster.serving { gateway in
            let found = try await gateway.get("/v1/regions?q=Dorpat&lang=de")
            #expect(AnswerSchema.problems(found, "/v1/regions") == [])
            #expect(found.text.contains("\"name\":\"Tartu\"") && found.text.contains("Estland/Tartu"), "\(found.text)")
            // The name of a region is no reason to list towns that sound like it.
            let region = try await gateway.get("/v1/regions?q=Estonia")
            #expect(region.text.contains("\"id\":\"EE\"") && region.text.contains("\"towns\":[]"), "\(region.text)")
            for (area, status, words) in [
                (#"{"regions":["Tartu"]}"#, 422, "margin"),
                (#"{"regions":["Springfield"],"margin":"5km"}"#, 422, "US-IL"),
                (#"{"regions":["Tartu, EE"],"margin":"20km"}"#, 201, "tiles"),
                (#"{"regions":["Tartu"],"margin":"far"}"#, 422, "margin"),
                (#"{"bbox":[1,2,3,4],"name":"x"}"#, 422, "name"),
                (#"{"mask":"gA==","margin":"5km"}"#, 422, "margin"),
            ] {
                let answer = try await gateway.post(
                    "/v1/jobs", "{\"tileset\":\"streets\",\"area\":\(area),\"zooms\":\"0-9\"}", Cluster.op)
                #expect(answer.status == status && answer.text.contains(words), "\(area): \(answer.text)")
            }
        }
    }
}
