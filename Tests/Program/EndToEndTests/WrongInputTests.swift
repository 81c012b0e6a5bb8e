import Foundation
import TestSupport
import Testing

/// What users get wrong: one clear line, the documented exit code, nothing lost.
@Suite(.serialized)
struct WrongInputTests {
    private func check(
        _ outcome: Program.Outcome, status: Int32, says words: String...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(outcome.status == status, "\(outcome.errors)", sourceLocation: sourceLocation)
        for word in words {
            #expect(
                outcome.errors.localizedCaseInsensitiveContains(word), "\(outcome.errors)",
                sourceLocation: sourceLocation)
        }
        let lines = outcome.errors.split(separator: "\n")
        #expect(lines.filter { !$0.hasPrefix("hint:") }.count <= 4, "\(outcome.errors)", sourceLocation: sourceLocation)
        #expect(!outcome.errors.contains("Fatal error"), sourceLocation: sourceLocation)
    }

    @Test(.timeLimit(.programs))
    func anUnknownRegionIsNamedWithSuggestions() async throws {
        let scratch = try Scratch()
        let outcome = try await Program.run(["mask", "Estonai"], in: scratch)
        check(outcome, status: 66, says: "Estonai", "Estonia")
    }

    @Test(
        .timeLimit(.programs),
        arguments: [
            "bbox(24.5,59.3,25.0)", "bbox(24.5,59.5,25.0,59.3)", "bbox(a,b,c,d)", "bbox(0,0,999,1)", "bbox(0,86,10,90)",
        ])
    func aMalformedBoxIsExplained(box: String) async throws {
        let scratch = try Scratch()
        check(try await Program.run(["mask", box], in: scratch), status: 64, says: "box")
    }

    @Test(.timeLimit(.programs))
    func whatIsThereAlreadyAndWhatCannotServeIsNamed() async throws {
        let scratch = try Scratch()
        let token = scratch.url("t/one.token").path
        #expect(try await Program.run(["keygen", token], in: scratch).status == 0)
        check(
            try await Program.run(["keygen", token], in: scratch), status: 73, says: "exists already", "choose another")
        check(
            try await Program.run(["gateway", scratch.folder.path, "--private"], in: scratch), status: 64,
            says: "--private needs --tokens")
        let data = scratch.url("data")
        try FileManager.default.createDirectory(at: data.appending(path: "catalog"), withIntermediateDirectories: true)
        for name in ["state.sqlite", "catalog/catalog.json"] { try Data().write(to: data.appending(path: name)) }
        check(
            try await Program.run(["coordinator", "--data", data.path], in: scratch), status: 65,
            says: "has 0 bytes, beside a catalog", "state restore")
    }

    @Test(.timeLimit(.programs))
    func everyPathThatIsVerifiedIsNamed() async throws {
        let scratch = try Scratch()
        let archive = Checkout.corpus("pmtiles/runs-and-leaf.accepted").path
        let (good, cut) = (scratch.url("good.mbtiles").path, scratch.url("cut.mbtiles").path)
        #expect(
            try await Program.run(["convert", archive, "-o", good, "--format", "mbtiles"], in: scratch).status == 0)
        try Data(contentsOf: URL(filePath: good)).prefix(9_000).write(to: URL(filePath: cut))
        let paths = [cut, "/nonexistent.mbtiles", good]
        let outcome = try await Program.run(["verify"] + paths, in: scratch)
        #expect(outcome.status == 65 && outcome.output.contains("good.mbtiles: package verified"), "\(outcome)")
        #expect(
            outcome.errors.contains("2 of 3 paths cannot be used: \(cut), /nonexistent.mbtiles"), "\(outcome.errors)")
        let json = try await Program.run(["verify", "--json"] + paths, in: scratch)
        let documents = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [[String: Any]]
        #expect(json.status == 65 && documents?.count == 3, "\(json.output)")
        #expect(documents?[1]["path"] as? String == "/nonexistent.mbtiles")
        #expect(documents?[2]["tiles"] as? Int ?? 0 > 0)
    }

    @Test(.timeLimit(.programs))
    func anUnreachableCoordinatorIsNamed() async throws {
        let scratch = try Scratch()
        let outcome = try await Program.run(
            ["jobs", "--coordinator", "tcp://127.0.0.1:9", "--timeout", "1"], in: scratch)
        check(outcome, status: 69, says: "tcp://127.0.0.1:9", "packhorse coordinator", "not of --work (7471)")
    }

    @Test(.timeLimit(.programs))
    func aMissingFileAndAMissingTilesetAreNamed() async throws {
        let scratch = try Scratch()
        check(
            try await Program.run(["mask", "--geojson", "/nonexistent.json"], in: scratch), status: 66,
            says: "/nonexistent.json")
        check(
            try await Program.run(["estimate", "EE", "--tileset", "/nonexistent.yaml"], in: scratch), status: 66,
            says: "/nonexistent.yaml")
        check(try await Program.run(["submit", "EE"], in: scratch), status: 64, says: "--tileset")
    }

    @Test(.timeLimit(.programs))
    func aHostThatForbidsBulkDownloadIsRefused() async throws {
        let scratch = try Scratch()
        let file = scratch.url("osm.yaml")
        try Data("id: osm\nurl: https://tile.openstreetmap.org/{z}/{x}/{y}.png\nformat: png\nzoom: 0-14\n".utf8).write(
            to: file)
        check(
            try await Program.run(["estimate", "EE", "--tileset", file.path], in: scratch), status: 77,
            says: "tile.openstreetmap.org", "polic")
    }

    @Test(.timeLimit(.programs))
    func aBoxAboveTheLimitIsRefusedWithItsCount() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 0, in: scratch)
        let box = ["submit", "bbox(20,55,30,60)", "--tileset", origin.tileset, "--zoom", "0-12"]
        check(try await cluster.run(box), status: 64, says: "limit is 5000", "--tile-limit")
        let raised = try await cluster.run(box + ["--tile-limit", "100000", "--dry-run"])
        #expect(raised.status == 0, "\(raised.errors)")
        let steering = scratch.url("A\u{1B}[2J.geojson")
        try Data(#"{"type":"Point","coordinates":[24.7,59.4]}"#.utf8).write(to: steering)
        let named = ["submit", "--geojson", steering.path, "--tileset", origin.tileset, "--zoom", "0-4"]
        check(try await cluster.run(named), status: 64, says: #"'A\u001B[2J' contains control characters"#)
        #expect(try await cluster.run(["jobs", "--quiet"]).output.isEmpty, "none of them left a job")
        check(try await cluster.run(["events", "--job", "999"]), status: 66, says: "999")
        try await cluster.stop()
    }

    @Test(.timeLimit(.programs))
    func whatCannotBeCreatedReadOrTakenIsSaidBeforeAnyWork() async throws {
        let scratch = try Scratch()
        let archive = Checkout.corpus("pmtiles/runs-and-leaf.accepted").path
        func path(_ name: String) -> String { scratch.url(name).path }
        func packhorse(_ arguments: String...) async throws {
            let outcome = try await Program.run(arguments, in: scratch)
            #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
        }
        try await packhorse("convert", archive, "--format", "mbtiles", "-o", path("a.mbtiles"))
        try await packhorse("diff", path("a.mbtiles"), path("a.mbtiles"), "-o", path("p.mbtiles"))
        try await packhorse("catalog", "keygen", path("c.key"))
        try FileManager.default.createDirectory(at: scratch.url("folder"), withIntermediateDirectories: true)
        try Data("{".utf8).write(to: scratch.url("file"))
        try Data(
            #"{"type":"Feature","id":"ZZ-1","properties":{"name":"A"},"geometry":{"type":"Polygon","coordinates":[[[1,1],[2,1],[2,2],[1,1]]]}}"#
                .utf8
        )
        .write(to: scratch.url("region.geojson"))
        try Data(contentsOf: scratch.url("a.mbtiles")).prefix(9_000).write(to: scratch.url("cut.mbtiles"))
        try Data(contentsOf: URL(filePath: archive)).prefix(200).write(to: scratch.url("cut.pmtiles"))
        try Data("url: ftp://h/{z}/{x}/{y}.png\nzoom: 0-3\nformat: png\n".utf8).write(to: scratch.url("t.yaml"))
        try Data("id: x\n  url: y: z\n".utf8).write(to: scratch.url("u.yaml"))
        let cases: [(arguments: [String], status: Int32, words: String)] = [
            (["coordinator", "--data", path("file")], 73, "--data"),
            (["coordinator", "--data", path("file/x")], 73, "--data"),
            (["coordinator", "--data", path("folder"), "--catalog", path("file")], 73, path("file")),
            (["worker", "--scratch", path("file")], 73, path("file")),
            (["keygen", "--cluster", path("file")], 73, "authorized_keys.d"),
            (["catalog", "keygen", path("file/x.key")], 73, path("file")),
            (["convert", archive, "--format", "mbtiles", "-o", path("file/x.mbtiles")], 73, path("file")),
            (["convert", archive, "--format", "mbtiles", "-o", "/proc/x.mbtiles"], 73, "/proc/x.mbtiles"),
            (["convert", path("cut.mbtiles"), "--format", "pmtiles", "-o", path("x")], 65, path("cut.mbtiles")),
            (["convert", archive, "--format", "maplibre", "-o", path("x")], 65, "--format mbtiles"),
            (["packs", path("a.mbtiles"), "-o", path("file"), "--tileset", "t"], 73, path("file")),
            (["packs", path("a.mbtiles"), "-o", path("x"), "--tileset", "t", "--format", "carto"], 64, "pmtiles"),
            (["packs", path("cut.mbtiles"), "-o", path("x"), "--tileset", "t"], 65, path("cut.mbtiles")),
            (["style-pack", "http://127.0.0.1:9/s.json", "-o", path("file")], 73, path("file")),
            (["diff", path("a.mbtiles"), path("a.mbtiles"), "-o", path("p.mbtiles")], 73, "--force"),
            (["diff", path("a.mbtiles"), path("a.mbtiles"), "-o", path("folder"), "--force"], 73, "is a folder"),
            (["diff", path("a.mbtiles"), path("a.mbtiles"), "-o", path("a.mbtiles"), "--force"], 64, "is an input"),
            (["diff", path("a.mbtiles"), path("a.mbtiles"), "-o", path("x"), "--dry-run"], 64, "use either -o"),
            (["packs", path("folder")], 66, "there is no catalog in"),
            (["jobs", "--limit", "0"], 64, "--limit"),
            (["mask", "EE", "--format", "foo"], 64, "'counts' or 'tiles'\nhint"),
            (
                ["coordinator", "--log-level", "foo"], 64,
                "one of 'trace', 'debug', 'info', 'notice', 'warning' or 'error'\nhint"
            ),
            (["mask", "EE", "--zoom", "-1"], 64, "--zoom=-1"),
            (["mask", "EE", "--margin", "-5km"], 64, "--margin=-5km"),
            (["mask", "-1,59,25"], 64, "give an area"),
            (["catalog", "push", path("folder"), "s3://"], 64, "S3 location"),
            (["keygen", path("x.key"), "--role", "boss"], 64, "'boss' is not a role"),
            (["keygen", path("x.token"), "--role", "boss"], 64, "'boss' is not a role"),
            (["verify", "/dev/null"], 66, "device"),
            (["apply", path("p.mbtiles"), path("a.mbtiles"), "-o", path("a.mbtiles")], 73, "--force"),
            (["apply", path("p.mbtiles"), path("a.mbtiles"), "-o", path("none/x.mbtiles")], 73, path("none")),
            (["inspect", path("cut.mbtiles")], 65, "pages"),
            (["inspect", path("cut.pmtiles")], 65, "damaged: 1 problem"),
            (["jobs", "--keys", path("none")], 66, "operator.key"),
            (["keys", "--keys", path("none")], 66, "authorized_keys.d"),
            (["catalog", "prune", path("none")], 66, "does not exist"),
            (["coordinator", "--data", path("folder"), "--signing-key", path("c.pub")], 78, "is a public key"),
            (["coordinator", "--data", path("folder"), "--signing-key", path("none")], 66, path("none")),
            (["mask", "--geojson", path("file")], 65, path("file")),
            (["mask", "--geojson", path("folder")], 66, "is a folder"),
            (["regions", "ls", "--regions-folder", path("file")], 66, "--regions-folder"),
            (["mask", "EE", "--regions-folder", path("none")], 66, path("none")),
            (["regions", "import", path("region.geojson"), "--regions-folder", path("file")], 73, path("file")),
            (["demo-origin", "--port", "0", "--request-log", path("none/x")], 73, path("none")),
            (["demo-origin", "--port", "0", "--host", "192.0.2.1"], 78, "192.0.2.1"),
            (["estimate", "LI", "--tileset", path("t.yaml")], 78, "t.yaml"),
            (["estimate", "LI", "--tileset", path("u.yaml")], 78, "line 2, column 6: a colon"),
        ]
        for (arguments, status, words) in cases {
            let outcome = try await Program.run(arguments, in: scratch)
            check(outcome, status: status, says: words)
            #expect(!outcome.errors.contains("NSCocoa"), "\(arguments): \(outcome.errors)")
            #expect(!outcome.errors.hasSuffix(":\n"), "\(arguments): \(outcome.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: path("x")), "what failed leaves nothing")
        let patch = try await Program.run(["verify", path("p.mbtiles")], in: scratch)
        #expect(patch.status == 0 && patch.output.hasPrefix("patch verified: "), "\(patch.output) \(patch.errors)")
    }

    @Test(.timeLimit(.programs))
    func whatIsEmptyBeyondTheMapOrWithoutEffectIsSaid() async throws {
        let scratch = try Scratch()
        func path(_ name: String) -> String { scratch.url(name).path }
        let files = [
            "names.yaml": "- region: EE\n  names: {en: \"\"}\n", "huts.csv": "lon,lat\n24,59\n24,86\n",
            "pole.json": #"{"type": "Point", "coordinates": [24, 86]}"#,
            "tiles.yaml": "id: x\nurl: http://127.0.0.1:9/{z}/{x}/{y}.pbf\n",
        ]
        for (name, text) in files { try Data(text.utf8).write(to: scratch.url(name)) }
        let cases: [(arguments: [String], status: Int32, words: String)] = [
            (["state", "check", "--data", ""], 64, "argument 4, after '--data', is empty"),
            (["state", "check", "--data="], 64, "argument 3, '--data=', has no value"),
            ([""], 64, "argument 1 is empty"),
            (["jobs", "--json", "-q"], 64, "use either --quiet"),
            (["mask", "EE", "--bands", "0-5@0"], 64, "--tile-packs"),
            (["regions", "list", "--language", "xx"], 0, "'xx'"),
            (["mask", "--packages", path("names.yaml")], 65, "'en' is empty"),
            (["mask", "--points", path("huts.csv")], 65, "line 3 is outside the map"),
            (["mask", "--geojson", path("pole.json")], 65, "is outside the map"),
            (["state", "restore", path("tiles.yaml"), "--data", path("data")], 65, "backup '\(path("tiles.yaml"))'"),
        ]
        for (arguments, status, words) in cases {
            check(try await Program.run(arguments, in: scratch), status: status, says: words)
        }
    }

    /// A wrong argument is 64, a wrong file or variable 78, a file that is not there 66, a file of another kind 65.
    @Test(.timeLimit(.programs))
    func whereTheMistakeIsDecidesTheExitCode() async throws {
        let scratch = try Scratch()
        func path(_ name: String) -> String { scratch.url(name).path }
        try Data("url: ftp://h/{z}/{x}/{y}.png\nzoom: 0-3\nformat: png\n".utf8).write(to: scratch.url("t.yaml"))
        let cases: [(arguments: [String], status: Int32, words: String)] = [
            (
                ["estimate", "LI", "--tileset", "ftp://h/{z}/{x}/{y}.png"], 64,
                "'ftp://h/{z}/{x}/{y}.png' is an address"
            ),
            (["estimate", "LI", "--tileset", "sqlite:a.db"], 64, "mbtiles:FILE"),
            (["estimate", "LI", "--tileset", path("t.yaml")], 78, "http"),
            (["estimate", "LI", "--tileset", path("none.yaml")], 66, path("none.yaml")),
            (["estimate", "LI", "--tileset", "mbtiles:\(path("none"))"], 66, path("none")),
            (["estimate", "LI", "--tileset", "mbtiles:\(path("t.yaml"))"], 65, "is not an MBTiles file"),
            (
                ["jobs", "--coordinator", "coordinator.example.com"], 64,
                "--coordinator 'coordinator.example.com' is not"
            ),
            (["jobs", "--coordinator", "tcp://127.0.0.1:*"], 64, "--coordinator"),
            (["jobs", "--coordinator", "tcp://*:7470"], 64, "--coordinator"),
            (["worker", "--connect", "tcp://127.0.0.1"], 64, "--connect"),
            (["worker", "--blob-endpoint", "x"], 64, "--blob-endpoint"),
            (["coordinator", "--data", path("data"), "--control", "7470"], 64, "--control '7470'"),
            (["coordinator", "--data", path("data"), "--work", "tcp://*:99999"], 64, "--work"),
            (["coordinator", "--data", path("data"), "--blob-bind", "x"], 64, "--blob-bind"),
        ]
        for (arguments, status, words) in cases {
            check(try await Program.run(arguments, in: scratch), status: status, says: words)
        }
        for (variable, arguments) in [("PACKHORSE_COORDINATOR", ["jobs"]), ("PACKHORSE_WORK", ["worker"])] {
            let outcome = try await Program.run(arguments, environment: [variable: "foo"], in: scratch)
            check(outcome, status: 78, says: "\(variable) has 'foo'", "tcp://")
        }
        #expect(!FileManager.default.fileExists(atPath: path("data")))
    }

    @Test(.timeLimit(.programs))
    func aSecretThatNoWorkerHasIsNamedAtOnce() async throws {
        let scratch = try Scratch()
        let file = scratch.url("secret.yaml")
        let text = """
            id: secret
            url: http://127.0.0.1:9/{z}/{x}/{y}.pbf
            format: pbf
            zoom: 0-4
            headers: {Authorization: "Bearer ${PACKHORSE_TEST_UNSET}"}
            """
        try Data(text.utf8).write(to: file)
        let cluster = try await Cluster(
            workers: 1, coordinatorArguments: ["--log-level", "info"], in: scratch)
        let outcome = try await cluster.run(["submit", "LI", "--tileset", file.path, "--wait", "--progress", "none"])
        check(outcome, status: 65, says: "PACKHORSE_TEST_UNSET", "not set")
        // One attempt told it all.
        #expect(cluster.coordinator?.said.components(separatedBy: "Attempt failed").count == 2)
        try await cluster.stop()
    }

    @Test(.timeLimit(.programs))
    func aServerThatAnswersPagesInsteadOfTilesFailsTheJobAndSaysSo() async throws {
        let scratch = try Scratch()
        let nginx = try await Nginx(tiles: scratch.folder, in: scratch)
        let file = scratch.url("html.yaml")
        let text = "id: html\nurl: \(nginx.url)/html/{z}/{x}/{y}.pbf\nformat: pbf\nzoom: 0-4\n"
        try Data(text.utf8).write(to: file)
        let cluster = try await Cluster(workers: 1, in: scratch)
        let outcome = try await cluster.run(["submit", "LI", "--tileset", file.path, "--wait", "--progress", "none"])
        check(outcome, status: 65, says: "failed")
        #expect(outcome.output.contains("html-page"))
        #expect(!FileManager.default.fileExists(atPath: cluster.catalog.appending(path: "packages/1/LI.mbtiles").path))
        try await cluster.stop()
        try await nginx.stop()
    }
}
