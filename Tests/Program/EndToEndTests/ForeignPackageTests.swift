import Foundation
import Testing

/// CARTO's packages, styles with keys, archives of styles and schedules in several languages, through real processes.
@Suite(.serialized, .timeLimit(.programs))
struct ForeignPackageTests {
    private struct Report: Decodable {
        let tiles: Int
        let hash: String

        private enum CodingKeys: String, CodingKey {
            case tiles
            case hash = "tiles_hash"
        }
    }

    private func report(_ file: URL, _ scratch: Scratch) async throws -> Report {
        let shown = try await Program.run(["inspect", file.path, "--json"], in: scratch)
        try #require(shown.status == 0, "\(shown.errors)")
        return try JSONDecoder().decode(Report.self, from: Data(shown.output.utf8))
    }

    /// A package of CARTO's dialect becomes a tileset, another format and a version with a node in the tree.
    @Test func aPackageOfCARTOIsImported() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 1, in: scratch)
        let job = try await cluster.build(
            ["LI", "--tileset", origin.tileset, "--zoom", "0-9", "--format", "carto", "--id", "first"])
        let package = try #require(job.packages.first?.path)
        let carto = cluster.catalog.appending(path: "packages/1/first.carto.mbtiles")
        let truth = try await report(URL(filePath: package), scratch)
        #expect(truth.tiles == job.stored)

        // As a version: a region's id gives it a node and names.
        let imported = try await Program.run(
            ["catalog", "import", cluster.catalog.path, carto.path, "--id", "LI", "--data-date", "2026-10-01"],
            in: scratch)
        #expect(imported.status == 0, "\(imported.errors)")
        let version = cluster.catalog.appending(path: "packages/1/LI.mbtiles")
        let held = try await report(version, scratch)
        #expect(held.hash == truth.hash && held.tiles == truth.tiles)
        let index = try #require(
            try JSONSerialization.jsonObject(with: Data(contentsOf: cluster.catalog.appending(path: "catalog.json")))
                as? [String: Any])
        let tree = try #require(index["tree"] as? [[String: Any]]).compactMap { $0["id"] as? String }
        #expect(tree == ["001", "150", "155", "LI"])
        let listed = try #require((index["packages"] as? [[String: Any]])?.first { $0["id"] as? String == "LI" })
        #expect(listed["region"] as? String == "LI")
        #expect((listed["names"] as? [String: String])?["de"]?.hasSuffix("Liechtenstein") == true)
        #expect(try await Program.run(["catalog", "verify", cluster.catalog.path], in: scratch).status == 0)

        // In another format, and as what a job takes its tiles from.
        let pmtiles = scratch.url("LI.pmtiles")
        let converted = try await Program.run(
            ["convert", carto.path, "--format", "pmtiles", "-o", pmtiles.path], in: scratch)
        #expect(converted.status == 0, "\(converted.errors)")
        #expect(try await report(pmtiles, scratch).tiles == truth.tiles)
        let rebuilt = try await cluster.build(
            ["LI", "--tileset", "mbtiles:\(carto.path)", "--zoom", "0-9", "--group", "carto"])
        #expect(rebuilt.stored == job.stored && rebuilt.failed == 0)
        let again = try await report(URL(filePath: try #require(rebuilt.packages.first?.path)), scratch)
        #expect(again.hash == truth.hash)
        try await cluster.stop()
    }

    /// Regions that were imported have their place in the catalog's tree.
    @Test func aRegionOfOnesOwnHasANode() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 1, in: scratch)
        let shape = scratch.url("county.geojson")
        try Data(
            """
            {"type":"Feature","properties":{"iso_3166_2":"EE-X1","name":"Own County"},"geometry":{"type":"Polygon",
             "coordinates":[[[26,58],[27,58],[27,58.5],[26,58.5],[26,58]]]}}
            """.utf8
        ).write(to: shape)
        let folder = ["--regions-folder", scratch.url("regions").path]
        let imported = try await Program.run(
            ["regions", "import", shape.path, "--level", "region"] + folder, in: scratch)
        #expect(
            imported.status == 0 && imported.output.contains("added EE-X1"), "\(imported.output) \(imported.errors)")
        _ = try await cluster.build(["EE-X1", "--tileset", origin.tileset, "--zoom", "0-7"] + folder)
        let index = try #require(
            try JSONSerialization.jsonObject(with: Data(contentsOf: cluster.catalog.appending(path: "catalog.json")))
                as? [String: Any])
        let tree = try #require(index["tree"] as? [[String: Any]])
        #expect(tree.compactMap { $0["id"] as? String } == ["001", "150", "154", "EE", "EE-X1"])
        #expect(
            tree.last?["parent"] as? String == "EE" && (tree.last?["names"] as? [String: String])?["en"] == "Own County"
        )
        #expect((index["packages"] as? [[String: Any]])?.first?["region"] as? String == "EE-X1")
        try await cluster.stop()
    }

    /// The key of a style comes from the workers' environment, and is given only to apps.
    @Test func aStyleWithAKeyIsBuiltWithTheWorkersSecret() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 1, environment: ["MAP_KEY": "open-sesame"], in: scratch)
        let job = ["LI", "--tileset", origin.tileset, "--zoom", "0-6", "--format", "maplibre", "--style"]
        let keyless = try await cluster.run(["submit"] + job + ["\(origin.url)/style.json?key={key}"])
        #expect(keyless.status == 64 && keyless.errors.contains("${NAME}"), "\(keyless.errors)")
        let built = try await cluster.build(job + ["\(origin.url)/style.json?key=${MAP_KEY}"])
        #expect(built.state == "done")
        let database = cluster.catalog.appending(path: "packages/1/LI.maplibre.db")
        let verified = try await Program.run(["verify", database.path], in: scratch)
        #expect(verified.status == 0, "\(verified.errors)")
        let bytes = try Data(contentsOf: database)
        #expect(bytes.range(of: Data("style.json?key=open-sesame".utf8)) != nil, "apps ask for whole addresses")
        let shown = try await cluster.run(["status", "\(built.job)", "--json"])
        #expect(!shown.output.contains("open-sesame"))
        for name in ["state.sqlite", "state.sqlite-wal"] {
            let state = try? Data(contentsOf: cluster.data.appending(path: name))
            #expect(state?.range(of: Data("open-sesame".utf8)) == nil, "\(name)")
        }
        // A tileset's own key serves its style too.
        let tileset = scratch.url("keyed.yaml")
        try Data("id: keyed\nurl: \(origin.url)/tiles/{z}/{x}/{y}.pbf?k={key}\nzoom: 0-6\nkey: ${MAP_KEY}\n".utf8)
            .write(
                to: tileset)
        let keyed = try await cluster.build([
            "AD", "--tileset", tileset.path, "--zoom", "0-6", "--format", "maplibre", "--style",
            "\(origin.url)/style.json?key={key}",
        ])
        #expect(keyed.state == "done")
        // A variable that no worker has ends the job with its name.
        let failed = try await cluster.run(
            ["submit"] + job + ["\(origin.url)/style.json?key=${NO_SUCH_KEY}", "--wait", "--progress", "none"])
        #expect(failed.status != 0 && (failed.errors + failed.output).contains("NO_SUCH_KEY"), "\(failed.errors)")
        try await cluster.stop()
    }

    /// A style's archive is as good as its folder, in every command and in a catalog.
    @Test func anArchiveOfAStyleIsReadBack() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 1, in: scratch)
        let job = try await cluster.build(["LI", "--tileset", origin.tileset, "--zoom", "0-6"])
        let package = try #require(job.packages.first?.path)
        try await cluster.stop()
        func packhorse(_ arguments: [String], status: Int32 = 0) async throws -> Program.Outcome {
            let outcome = try await Program.run(arguments, in: scratch)
            #expect(outcome.status == status, "\(arguments): \(outcome.errors)")
            return outcome
        }
        let (archive, folder) = (scratch.url("style.zip"), scratch.url("style"))
        for target in [archive, folder] {
            _ = try await packhorse(["style-pack", "\(origin.url)/style.json", "-o", target.path, "--quiet"])
        }
        #expect(try await packhorse(["verify", archive.path]).output.contains("137 resources"))
        let inspected = try await packhorse(["inspect", archive.path]).output
        #expect(inspected.contains("\(origin.url)/style.json") && inspected.contains("glyphs"))
        #expect(try await packhorse(["inspect", folder.path]).output == inspected)
        var databases: [Data] = []
        for (name, style) in [("a", archive), ("b", folder)] {
            let target = scratch.url("\(name).maplibre.db")
            _ = try await packhorse([
                "convert", package, "--format", "maplibre", "--style-pack", style.path, "-o", target.path,
            ])
            databases.append(try Data(contentsOf: target))
        }
        #expect(databases[0] == databases[1])

        // In a catalog: the same archive whichever was given, proven with the rest, and installed.
        let catalog = cluster.catalog.path
        let listed = try await packhorse(["catalog", "style", catalog, folder.path, "--id", "demo"])
        #expect(listed.output == "styles/1/demo.zip\n")
        _ = try await packhorse(["catalog", "style", catalog, archive.path, "--id", "demo"])
        #expect(
            try Data(contentsOf: cluster.catalog.appending(path: "styles/1/demo.zip")) == Data(contentsOf: archive))
        #expect(try await packhorse(["catalog", "verify", catalog]).output.contains("2 files"))
        let device = scratch.url("device")
        _ = try await packhorse([
            "device", "install", "LI", "--style", "demo", "--catalog", catalog, "--store", device.path,
        ])
        _ = try await packhorse(["verify", try await Device.file("demo", in: device, scratch).path])
        #expect(try await packhorse(["device", "list", "--catalog", catalog]).output.contains("style demo  version 1"))

        var bytes = try Data(contentsOf: archive)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: archive)
        #expect(try await packhorse(["verify", archive.path], status: 65).errors.contains("checksum"))
        try bytes.write(to: cluster.catalog.appending(path: "styles/1/demo.zip"))
        #expect(try await packhorse(["catalog", "verify", catalog], status: 65).errors.contains("styles/1/demo.zip"))
        try Data(bytes.prefix(5_000)).write(to: archive)
        _ = try await packhorse(["inspect", archive.path], status: 65)
    }

    @Test func aScheduleOfSeveralLanguagesIsOneForEach() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 1, in: scratch)
        let tileset = scratch.url("streets.yaml")
        try Data("url: \(origin.url)/{language}/tiles.json\n".utf8).write(to: tileset)
        let added = try await cluster.run([
            "schedule", "add", "monthly-li", "--every", "monthly 3 02:30", "LI", "--tileset", tileset.path, "--zoom",
            "0-5", "--language", "en,de",
        ])
        #expect(added.status == 0, "\(added.errors)")
        let listed = try await cluster.run(["schedule", "list"])
        #expect(listed.output.contains("monthly-li-en") && listed.output.contains("monthly-li-de"))
        let run = try await cluster.run(["schedule", "run", "monthly-li-de"])
        let number = run.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let watched = try await cluster.run(["watch", number, "--progress", "none"])
        #expect(watched.status == 0, "\(watched.errors)")
        #expect(
            FileManager.default.fileExists(atPath: cluster.catalog.appending(path: "de/packages/1/LI.mbtiles").path))
        try await cluster.stop()
    }
}
