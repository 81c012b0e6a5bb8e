import Foundation
import Testing

/// Packages of the built-in world through real processes.
@Suite(.serialized)
struct BuildTests {
    @Test(.timeLimit(.programs))
    func fourWorkersAndOneMakeTheSameBytes() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        var digests: [[String]] = []
        for count in [4, 1] {
            let cluster = try await Cluster(workers: count, in: scratch)
            let job = try await cluster.build(["EE", "LV", "--tileset", origin.tileset, "--zoom", "0-11"])
            #expect(job.failed == 0)
            #expect(job.stored + job.empty == job.tiles)
            #expect(job.batches >= 16, "one batch would not need four workers")
            digests.append(try job.packages.map { try #require($0.sha256) })
            let verified = try await Program.run(["verify", cluster.catalog.path], in: scratch)
            #expect(verified.status == 0, "\(verified.errors)")
            try await cluster.stop()
        }
        #expect(digests[0].count == 2)
        #expect(digests[0] == digests[1])
    }

    @Test(.timeLimit(.programs))
    func theCatalogListsWhatCartoClientsNeed() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 1, in: scratch)
        let job = try await cluster.build(["LI", "--tileset", origin.tileset, "--zoom", "0-12"])
        let package = try #require(job.packages.first)
        let bytes = try Data(contentsOf: cluster.catalog.appending(path: "packages.json"))
        let list = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
        let entry = try #require((list["packages"] as? [[String: Any]])?.first)
        let file = URL(filePath: try #require(package.path))
        #expect(entry["id"] as? String == "LI")
        #expect(entry["version"] as? Int == 1)
        #expect(entry["size"] as? Int == (try Data(contentsOf: file)).count)
        #expect(entry["sha256"] as? String == package.sha256)
        #expect((entry["url"] as? String)?.hasSuffix("/1/LI.mbtiles") == true)
        #expect((entry["tile_mask"] as? String)?.hasSuffix(":12") == true)
        let names = try #require(entry["metainfo"] as? [String: Any])
        #expect(names["name_en"] as? String == "Europe/Western Europe/Liechtenstein")
        #expect(names["name_ru"] as? String == "Европа/Западная Европа/Лихтенштейн")

        let again = try await cluster.build(["LI", "--tileset", origin.tileset, "--zoom", "0-12"])
        #expect(again.packages.first?.version == 1, "the same bytes are not a new version")
        try await cluster.stop()
    }

    @Test(.timeLimit(.programs))
    func boxesShapesAndPointsBecomePackages() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 2, in: scratch)
        let shape = scratch.url("park.geojson")
        let points = scratch.url("huts.csv")
        try Data(#"{"type":"Polygon","coordinates":[[[24.5,59.3],[25,59.3],[25,59.5],[24.5,59.3]]]}"#.utf8).write(
            to: shape)
        try Data("name,lat,lon\nA,59.43,24.75\nB,58.38,26.72\n".utf8).write(to: points)
        let areas = [
            ["bbox(24.5,59.3,25.0,59.5)", "--id", "tallinn"], ["--geojson", shape.path],
            ["--points", points.path, "--radius", "2km"],
        ]
        var ids: [String] = []
        for area in areas {
            let job = try await cluster.build(area + ["--tileset", origin.tileset, "--zoom", "0-12"])
            ids += job.packages.map(\.id)
            #expect(job.tiles > 13)
            #expect(job.stored + job.empty == job.tiles)
        }
        #expect(ids == ["tallinn", "park", "huts"])
        try await cluster.stop()
    }
}
