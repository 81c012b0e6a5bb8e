import Foundation
import TestSupport
import Testing

/// `packhorse build`: from an area to finished files in one command.
@Suite(.serialized)
struct BuildCommandTests {
    private func build(_ arguments: [String], in scratch: Scratch) async throws -> Program.Outcome {
        try await Program.run(["build"] + arguments + ["--progress", "none"], in: scratch)
    }

    private func digest(_ file: URL, in scratch: Scratch) async throws -> Substring? {
        try await Program.run(URL(filePath: "/usr/bin/sha256sum"), [file.path], in: scratch).output.prefix(64)
    }

    /// Every file and folder in a folder, hidden ones too.
    private func names(_ folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test(.timeLimit(.programs))
    func theFileHasTheBytesOfAClusters() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let area = ["EE", "--tileset", origin.tileset, "--zoom", "0-10"]
        let cluster = try await Cluster(workers: 4, in: scratch)
        let job = try await cluster.build(area)
        let file = scratch.url("here/EE.mbtiles")
        let outcome = try await build(area + ["-o", file.path], in: scratch)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output == "\(file.path)\n", "standard output names the file and nothing else")
        #expect(try await digest(file, in: scratch) == job.packages.first?.sha256.map { $0[...] })
        #expect(try names(scratch.url("here")) == ["EE.mbtiles"], "the state of the build is gone")
        #expect(try await Program.run(["verify", file.path], in: scratch).status == 0)

        let there = scratch.url("there.mbtiles")
        let fetched = try await build(area + ["-o", there.path, "--coordinator", cluster.control], in: scratch)
        #expect(fetched.status == 0, "\(fetched.errors)")
        #expect(try await digest(there, in: scratch) == digest(file, in: scratch))
        try await cluster.stop()
    }

    @Test(.timeLimit(.programs))
    func packagesFormatsAndLanguagesGoIntoAFolder() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let tileset = scratch.url("names.yaml")
        try Data("url: \(origin.url)/{language}/tiles.json\n".utf8).write(to: tileset)
        let folder = scratch.url("maps")
        let outcome = try await build(
            [
                "LI", "MC", "--tileset", tileset.path, "--zoom", "0-7", "--language", "en,de", "--format",
                "pmtiles,mbtiles", "-o", folder.path + "/", "--json",
            ], in: scratch)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let files = ["LI", "MC"].flatMap { id in
            ["de", "en"].flatMap { ["\(id).\($0).mbtiles", "\(id).\($0).pmtiles"] }
        }
        #expect(try names(folder) == files)
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any], "one object")
        #expect(object["state"] as? String == "done")
        #expect((object["files"] as? [[String: Any]])?.count == files.count)
        let verified = try await Program.run(
            ["verify"] + files.map { folder.appending(path: $0).path }, in: scratch)
        #expect(verified.status == 0, "\(verified.errors)")
    }

    @Test(.timeLimit(.programs))
    func shapesAndPointsBecomeFilesOfTheNamedFormat() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let (shape, points) = (scratch.url("park.geojson"), scratch.url("huts.csv"))
        try Data(#"{"type":"Polygon","coordinates":[[[24.5,59.3],[25,59.3],[25,59.5],[24.5,59.3]]]}"#.utf8).write(
            to: shape)
        try Data("name,lat,lon\nA,59.43,24.75\n".utf8).write(to: points)
        let source = ["--tileset", origin.tileset, "--zoom", "0-9"]
        for (area, name) in [
            (["--geojson", shape.path], "park.pmtiles"),
            (["--points", points.path, "--radius", "2km"], "p.carto.mbtiles"),
        ] {
            let file = scratch.url(name)
            let outcome = try await build(area + source + ["-o", file.path], in: scratch)
            #expect(outcome.status == 0, "\(outcome.errors)")
            let look = try await Program.run(["verify", file.path, "--json"], in: scratch)
            #expect(look.output.contains(name.hasSuffix("pmtiles") ? "PMTiles" : "MBTiles"))
            #expect(look.status == 0, "\(look.errors)")
        }
    }

    @Test(.timeLimit(.programs))
    func aFileThatIsThereIsReplacedOnlyWhenThatIsSaid() async throws {
        let scratch = try Scratch()
        let origin = try SyntheticOrigin(in: scratch)
        defer { origin.server.stop() }
        let file = scratch.url("EE.mbtiles")
        let area = ["EE", "--tileset", origin.tileset, "-o", file.path]
        try Data("mine".utf8).write(to: file)
        let refused = try await build(area + ["--zoom", "0-8"], in: scratch)
        #expect(refused.status == 73)
        #expect(refused.errors.contains("hint: use --force to replace it"))
        #expect(try Data(contentsOf: file) == Data("mine".utf8))
        #expect(origin.server.requests.isEmpty, "refused before anything is fetched")
        #expect(try await build(area + ["--zoom", "0-8", "--force"], in: scratch).status == 0)
        let (made, asked) = (try Data(contentsOf: file), origin.server.requests.count)
        let again = try await build(area + ["--zoom", "0-8", "--json"], in: scratch)
        #expect(again.status == 0, "\(again.errors)")
        #expect(again.output.contains("\"unchanged\""))
        #expect(origin.server.requests.count == asked, "the very same build is finished")
        #expect(try await build(area + ["--zoom", "0-7"], in: scratch).status == 73, "another build is not")
        #expect(try Data(contentsOf: file) == made)
        var damaged = made
        damaged[made.count / 2] ^= 1
        let handle = try FileHandle(forWritingTo: file)
        try handle.write(contentsOf: damaged)
        try handle.close()
        #expect(try await build(area + ["--zoom", "0-8"], in: scratch).status == 73, "a damaged file is not finished")
    }

    @Test(.timeLimit(.programs))
    func tilesThatFailAreNamedAndNothingLiesAtTheOutput() async throws {
        let scratch = try Scratch()
        let origin = try SyntheticOrigin(breaking: 50, in: scratch)
        defer { origin.server.stop() }
        let file = scratch.url("EE.mbtiles")
        let outcome = try await build(
            ["EE", "--zoom", "0-9", "--tileset", origin.tileset, "-o", file.path, "--json"], in: scratch)
        #expect(outcome.status == 65)
        #expect(outcome.errors.contains("failed tiles"))
        #expect(outcome.errors.contains("http-500"), "\(outcome.errors)")
        #expect(outcome.errors.contains("packhorse build EE"), "the command that asks again")
        #expect(outcome.output.contains("\"failures\""))
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test(.timeLimit(.programs))
    func aDryRunFetchesAFewTilesAndWritesNothing() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let file = scratch.url("there/EE.mbtiles")
        let outcome = try await build(
            ["EE", "--zoom", "0-9", "--tileset", origin.tileset, "-o", file.path, "--dry-run"], in: scratch)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("tiles  "))
        #expect(outcome.output.contains("size   "))
        #expect(!FileManager.default.fileExists(atPath: scratch.url("there").path))
    }

    @Test(.timeLimit(.programs))
    func whatIsWrongIsSaidBeforeAnythingIsMade() async throws {
        let scratch = try Scratch()
        let origin = try SyntheticOrigin(in: scratch)
        defer { origin.server.stop() }
        try Data().write(to: scratch.url("file"))
        let good = ["EE", "--zoom", "0-6", "--tileset", origin.tileset]
        let out = ["-o", scratch.url("o.mbtiles").path]
        let before = try names(scratch.folder).count
        let wrong: [(arguments: [String], status: Int32, word: String)] = [
            (["Estonai", "--tileset", origin.tileset] + out, 66, "Estonia"),
            (["EE"] + out, 64, "--tileset"),
            (
                ["EE", "--tileset", "http://127.0.0.1:9/tiles.json"] + out, 69,
                "'http://127.0.0.1:9/tiles.json' cannot be fetched"
            ),
            (["EE", "--tileset", "http://127.0.0.1:9/tiles.json"] + out, 69, "hint: does the server run"),
            (good + ["-o", scratch.url("file/o.mbtiles").path], 73, "file"),
            (good + ["-o", "/proc/none/o.mbtiles"], 73, "/proc/none"),
            (good + ["-o", scratch.url("o.rar").path], 64, ".mbtiles"),
            (good + ["-o", scratch.url("o.mbtiles").path, "--format", "pmtiles"], 64, "--format"),
            (good + ["LV"] + out, 64, "-o maps/"),
            (good + out + ["--workers", "0"], 64, "--workers"),
            (good + ["-o", scratch.url("o.db").path], 64, "--style"),
            (good + out + ["--coordinator", "tcp://127.0.0.1:9"], 69, "127.0.0.1:9"),
        ]
        for (arguments, status, word) in wrong {
            let outcome = try await build(arguments, in: scratch)
            #expect(outcome.status == status, "\(arguments): \(outcome.errors)")
            #expect(outcome.errors.contains(word), "\(arguments): \(outcome.errors)")
            #expect(outcome.output.isEmpty, "\(arguments): \(outcome.output)")
        }
        let left = try names(scratch.folder).filter { !$0.hasPrefix("out-") && !$0.hasPrefix("err-") }
        #expect(left.count == before, "\(left)")
        #expect(origin.server.requests.isEmpty)
    }

    /// Nothing listens there: the build does not wait forever, and names the cause.
    @Test func aServerThatIsDownEndsTheBuild() async throws {
        let scratch = try Scratch()
        let address = try Ports.endpoint().replacing("tcp://", with: "http://")
        let output = scratch.url("down.mbtiles")
        let outcome = try await Program.run(
            [
                "build", "LI", "--zoom", "0-9", "--tileset", "\(address)/{z}/{x}/{y}.png", "--patience",
                "3s", "-o", output.path,
            ], in: scratch)
        #expect(outcome.status == 75, "\(outcome.status): \(outcome.errors)")
        #expect(outcome.errors.contains("no tile of Liechtenstein arrived for 3 s; 0 of"), "\(outcome.errors)")
        #expect(outcome.errors.contains("does not answer"), "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: output.path))
    }
}
