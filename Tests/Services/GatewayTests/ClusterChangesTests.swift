import CatalogFormat
import Files
import Foundation
import Testing
import TextFormats
import Tiles

@testable import Gateway

/// Coverage, schedules and withdrawals over a real coordinator.
@Suite(.timeLimit(.minutes(15))) struct ClusterChangesTests {
    private typealias Cluster = ClusterServingTests

    /// A band of a coverage document.
    private struct Band {
        let zooms: ClosedRange<Int>
        let cellZoom: Int
        let x: Int
        let y: Int
        let width: Int
        let height: Int
        let cells: [UInt8]
    }

    private static func bands(_ bytes: [UInt8]) throws -> [Band] {
        func number(_ place: Int, _ count: Int) -> Int {
            (0..<count).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
        }
        try #require(bytes.count >= 13 && Array(bytes[..<4]) == Array("PHC1".utf8))
        var place = 13
        var bands: [Band] = []
        for _ in 0..<bytes[4] {
            let (width, height) = (number(place + 12, 2), number(place + 14, 2))
            #expect(bytes[place + 3] == 0)
            let cells = Array(bytes[place + 16..<place + 16 + width * height])
            bands.append(
                Band(
                    zooms: Int(bytes[place])...Int(bytes[place + 1]), cellZoom: Int(bytes[place + 2]),
                    x: number(place + 4, 4), y: number(place + 8, 4), width: width, height: height, cells: cells))
            place += 16 + width * height
        }
        #expect(place == bytes.count)
        return bands
    }

    /// A client may name MBTiles, which is made anyway, and PMTiles alone comes with it.
    @Test func everyListOfFormatsIsTaken() async throws {
        try await Cluster.serving { gateway in
            for (formats, told) in [
                (#"["mbtiles"]"#, #"["mbtiles"]"#), (#"["pmtiles"]"#, #"["mbtiles","pmtiles"]"#),
                (#"["pmtiles","mbtiles","pmtiles"]"#, #"["mbtiles","pmtiles"]"#),
            ] {
                let body = Cluster.submission.dropLast() + ",\"formats\":\(formats)}"
                let made = try await gateway.post("/v1/jobs", String(body), Cluster.op)
                guard case .number(let job)? = Cluster.members(made)["job"] else {
                    Issue.record("\(body): \(made.text)")
                    continue
                }
                let status = try await gateway.get("/v1/jobs/\(Int(job))", Cluster.viewer)
                #expect(status.text.contains("\"formats\":\(told)"), "\(status.text)")
            }
        }
    }

    @Test func theCellsOfAJobAreItsBatches() async throws {
        try await Cluster.serving { gateway in
            let made = try await gateway.post("/v1/jobs", Cluster.submission, Cluster.op)
            guard case .number(let batches)? = Cluster.members(made)["batches"] else {
                Issue.record("\(made.text)")
                return
            }
            let answer = try await gateway.get("/v1/jobs/1/coverage", Cluster.viewer)
            #expect(answer.status == 200 && answer.header("content-type") == "application/vnd.packhorse.coverage")
            let bands = try Self.bands(answer.body)
            #expect(bands.map(\.zooms) == [6...10, 0...5])
            // Without a worker every batch waits, and each has one cell.
            #expect(bands.flatMap(\.cells).allSatisfy { $0 == 0 || $0 == 1 })
            #expect(bands.flatMap(\.cells).count { $0 == 1 } == Int(batches))
            let deep = try #require(bands.first)
            let place = try #require(TileID(zoom: 10, x: 581, y: 300))
            #expect(deep.x <= place.x >> (10 - deep.cellZoom) && place.x >> (10 - deep.cellZoom) < deep.x + deep.width)
            #expect(deep.y <= place.y >> (10 - deep.cellZoom) && place.y >> (10 - deep.cellZoom) < deep.y + deep.height)
            let tag = try #require(answer.header("etag"))
            let same = try await gateway.get(
                "/v1/jobs/1/coverage", Cluster.viewer.merging(["If-None-Match": tag]) { $1 })
            #expect(same.status == 304)
            #expect(try await gateway.get("/v1/jobs/9/coverage", Cluster.viewer).status == 404)
            #expect(try await gateway.get("/v1/jobs/1/coverage?size=0", Cluster.viewer).status == 400)
            _ = try await gateway.post("/v1/jobs/1/orders", #"{"order":"cancel"}"#, Cluster.op)
            let ended = try await gateway.wait("/v1/jobs/1/coverage", Cluster.viewer) { $0.body.count == 13 }
            #expect(try Self.bands(ended.body).isEmpty)
        }
    }

    @Test func schedulesAreAddedReplacedAndRemoved() async throws {
        try await Cluster.serving { gateway in
            func put(_ id: String, _ every: String, _ headers: [String: String]) async throws -> HTTPProbe.Answer {
                try await gateway.post(
                    "/v1/schedules/\(id)", #"{"every":"\#(every)","submission":\#(Cluster.submission)}"#, headers,
                    method: "PUT")
            }
            #expect(try await put("monthly", "monthly 3 02:30", Cluster.viewer).status == 403)
            let added = try await put("monthly", "monthly 3 02:30", Cluster.op)
            #expect(added.status == 200 && added.text.contains("added"), "\(added.text)")
            let replaced = try await put("monthly", "daily 01:00", Cluster.op)
            #expect(replaced.status == 200 && replaced.text.contains("replaced"))
            let list = try await gateway.wait("/v1/schedules", Cluster.viewer) { $0.text.contains("daily 01:00") }
            #expect(!list.text.contains("monthly 3"))
            let firings = try await gateway.get("/v1/schedules/monthly/firings", Cluster.viewer)
            #expect(firings.status == 200 && firings.text.hasPrefix(#"{"firings":[]}"#), "\(firings.text)")
            #expect(try await gateway.get("/v1/schedules/other/firings", Cluster.viewer).status == 404)
            #expect(try await put("monthly", "sometimes", Cluster.op).status == 422)
            let removed = try await gateway.get("/v1/schedules/monthly", method: "DELETE", Cluster.op)
            #expect(removed.status == 200, "\(removed.text)")
            #expect(try await gateway.get("/v1/schedules/monthly", method: "DELETE", Cluster.op).status == 404)
            #expect(try await gateway.get("/v1/schedules/monthly", method: "DELETE", Cluster.viewer).status == 403)
        }
    }

    /// The coordinator gets the tileset file, and not the build that the gateway found at its start.
    @Test func aScheduleFollowsTheNewestBuild() async throws {
        let file =
            #"{"id":"newest","latest":{"index":"http://127.0.0.1:9/builds.json","url":"http://127.0.0.1:9/{build}"}}"#
        try await Cluster.serving(newest: file) { gateway in
            let submission = Cluster.submission.replacingOccurrences(of: "streets", with: "newest")
            let added = try await gateway.post(
                "/v1/schedules/planet", #"{"every":"monthly 3 02:30","retry":"2,1h","submission":\#(submission)}"#,
                Cluster.op, method: "PUT")
            #expect(added.status == 200 && added.text.contains("added"), "\(added.text)")
            let list = try await gateway.wait("/v1/schedules", Cluster.viewer) { $0.text.contains("planet") }
            #expect(list.text.contains(#""retry":"2,60m""#), "\(list.text)")
            #expect(AnswerSchema.problems(list, "/v1/schedules") == [])
        }
    }

    @Test func aPackageIsWithdrawn() async throws {
        try await Cluster.serving(sharesCatalog: true) { gateway in
            try gateway.catalog.publish("EE", noise(5_000), in: gateway.folder, tileset: "streets")
            try gateway.catalog.publish("LV", noise(6_000), in: gateway.folder, tileset: "streets")
            _ = try await gateway.wait("/packages/1/LV.mbtiles") { $0.status == 200 }
            #expect(try await gateway.get("/v1/packages/EE", method: "DELETE", Cluster.viewer).status == 403)
            let gone = try await gateway.get("/v1/packages/EE", method: "DELETE", Cluster.op)
            #expect(gone.status == 200, "\(gone.text)")
            #expect(try await gateway.get("/packages/1/EE.mbtiles").status == 404)
            #expect(try await gateway.get("/packages/1/LV.mbtiles").status == 200)
            let file = gateway.folder.appendingPathComponent("catalog/packages/1/EE.mbtiles")
            #expect(!FileManager.default.fileExists(atPath: file.path))
            #expect(try await gateway.get("/v1/packages/EE", method: "DELETE", Cluster.op).status == 404)
        }
    }

    @Test func theOutlineOfARegionIsGeoJSON() async throws {
        try await Cluster.serving { gateway in
            let coarse = try await gateway.get("/v1/regions/EE/outline?zoom=3")
            let fine = try await gateway.get("/v1/regions/EE/outline?zoom=10")
            #expect(coarse.status == 200 && coarse.header("content-type") == "application/geo+json")
            #expect(coarse.body.count < fine.body.count)
            guard case .object(let geometry)? = Cluster.members(fine)["geometry"],
                case .array(let polygons)? = geometry["coordinates"]
            else {
                Issue.record("no geometry")
                return
            }
            var areas: [Double] = []
            for case .array(let rings) in polygons {
                for case .array(let points) in rings {
                    let ring = points.compactMap { point -> (Double, Double)? in
                        guard case .array(let pair) = point, pair.count == 2, case .number(let east) = pair[0],
                            case .number(let north) = pair[1]
                        else { return nil }
                        return (east, north)
                    }
                    #expect(ring.count == points.count && ring.count >= 4)
                    #expect(try #require(ring.first) == #require(ring.last))
                    #expect(ring.allSatisfy { 21...29 ~= $0.0 && 57...60 ~= $0.1 })
                    areas.append(zip(ring, ring.dropFirst()).reduce(0) { $0 + $1.0.0 * $1.1.1 - $1.1.0 * $1.0.1 } / 2)
                }
            }
            // Estonia has 45,300 km², about 7.1 square degrees; shells turn against the clock.
            #expect(6...8 ~= areas.reduce(0, +))
            #expect(try await gateway.get("/v1/regions/XX/outline").status == 404)
            #expect(try await gateway.get("/v1/regions/EE/outline?zoom=15").status == 400)
        }
    }
}
