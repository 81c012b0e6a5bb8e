import Foundation
import TestSupport
import Testing

/// Packages in parts of limited size through real processes: built, published, installed.
@Suite(.serialized)
struct FilePartTests {
    private static let limit = 250_000

    private func files(_ folder: URL, ending: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(ending) }.sorted()
    }

    private func size(_ file: URL) throws -> Int { try Data(contentsOf: file).count }

    @Test(.timeLimit(.programs))
    func aBuildWritesPartsThatAreSmallEnough() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let card = scratch.url("card")
        func build(_ arguments: String...) async throws -> Program.Outcome {
            try await Program.run(
                ["build", "EE", "--tileset", origin.tileset, "--zoom", "0-11", "--max-file", "\(Self.limit)"]
                    + arguments
                    + ["--progress", "none"], in: scratch)
        }
        let first = try await build("--format", "mbtiles,pmtiles", "-o", card.path + "/")
        #expect(first.status == 0, "\(first.errors)")
        let names = try files(card, ending: ".mbtiles")
        #expect(names.count > 1 && names == (1...names.count).map { "EE-\($0).mbtiles" }.sorted(), "\(names)")
        #expect(try files(card, ending: ".pmtiles").count == names.count)
        #expect(first.output.split(separator: "\n").count == 2 * names.count, "\(first.output)")
        for name in try FileManager.default.contentsOfDirectory(atPath: card.path) {
            let file = card.appending(path: name)
            #expect(try size(file) <= Self.limit, "\(name)")
            let verified = try await Program.run(["verify", file.path], in: scratch)
            #expect(verified.status == 0, "\(verified.errors)")
        }
        let again = try await build("--format", "mbtiles,pmtiles", "-o", card.path + "/")
        #expect(again.status == 0 && again.errors.contains("unchanged"), "\(again.errors)")
        #expect(again.output == first.output)
        // A part that was lost is built again; the others are the same.
        try FileManager.default.removeItem(at: card.appending(path: names[1]))
        let mended = try await build("--format", "mbtiles,pmtiles", "-o", card.path + "/", "--force")
        #expect(mended.status == 0 && mended.output == first.output, "\(mended.errors)")
        // A build with fewer parts, and one without, remove what the one before has left, and nothing else.
        let own = card.appending(path: "EE-\(names.count + 1).mbtiles")
        try Data("notes of the user".utf8).write(to: own)
        let fewer = try await build(
            "--format", "mbtiles,pmtiles", "-o", card.path + "/", "--force", "--max-file", "400000")
        #expect(fewer.status == 0 && fewer.errors.contains("EE-\(names.count + 1).mbtiles"), "\(fewer.errors)")
        let left = try files(card, ending: ".mbtiles").filter { $0 != own.lastPathComponent }
        #expect(left.count < names.count && left == (1...left.count).map { "EE-\($0).mbtiles" }.sorted(), "\(left)")
        #expect(try files(card, ending: ".pmtiles").count == left.count)
        let one = try await build("--format", "mbtiles,pmtiles", "-o", card.path + "/", "--force", "--max-file", "1GB")
        #expect(one.status == 0, "\(one.errors)")
        #expect(
            try files(card, ending: "tiles") == ["EE-\(names.count + 1).mbtiles", "EE.mbtiles", "EE.pmtiles"].sorted())
        #expect(try String(contentsOf: own, encoding: .utf8) == "notes of the user")
        let parts = try await build("--format", "mbtiles,pmtiles", "-o", card.path + "/", "--force")
        #expect(parts.status == 0 && parts.output == first.output, "\(parts.errors)")
        #expect(try files(card, ending: "tiles").count == 2 * names.count + 1, "the whole files are gone")
        try FileManager.default.removeItem(at: own)
        // Another build does not replace parts unasked.
        let other = try await Program.run(
            [
                "build", "EE", "--tileset", origin.tileset, "--zoom", "0-10", "--max-file", "\(Self.limit)", "-o",
                card.path + "/",
            ], in: scratch)
        #expect(other.status == 73 && other.errors.contains("--force"), "\(other.status) \(other.errors)")
        // One file gives the parts their name.
        let single = try await build("-o", scratch.url("estonia.mbtiles").path)
        #expect(single.status == 0, "\(single.errors)")
        #expect(try files(scratch.folder, ending: ".mbtiles").first == "estonia-1.mbtiles")
        #expect(try size(scratch.url("estonia-1.mbtiles")) <= Self.limit)
        // PMTiles alone is cut by the sizes of its own files.
        let archive = try await build("-o", scratch.url("archive.pmtiles").path)
        #expect(archive.status == 0, "\(archive.errors)")
        let pieces = try files(scratch.folder, ending: ".pmtiles")
        #expect(pieces.count > 1 && pieces.first == "archive-1.pmtiles", "\(pieces)")
        for piece in pieces {
            #expect(try size(scratch.url(piece)) <= Self.limit)
            #expect(try await Program.run(["verify", scratch.url(piece).path], in: scratch).status == 0)
        }
        let whole = try await Program.run(
            [
                "build", "EE", "--tileset", origin.tileset, "--zoom", "0-11", "--max-file", "1GB", "-o",
                scratch.url("whole").path + "/",
            ], in: scratch)
        #expect(whole.status == 0, "\(whole.errors)")
        #expect(try files(scratch.url("whole"), ending: ".mbtiles") == ["EE.mbtiles"])
    }

    /// A limit that is too small costs no tile: the same command with the suggested limit goes on.
    @Test(.timeLimit(.programs))
    func aBuildGoesOnWithAnotherLimit() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let parts = scratch.url("parts")
        func build(_ limit: String?, _ arguments: [String] = []) async throws -> Program.Outcome {
            try await Program.run(
                ["build", "EE", "LI", "--tileset", origin.tileset, "--zoom", "0-9", "-o", parts.path + "/"]
                    + (limit.map { ["--max-file", $0] } ?? []) + arguments, in: scratch)
        }
        let failed = try await build("120kB")
        #expect(failed.status == 65 && failed.errors.contains("a larger --max-file"), "\(failed.errors)")
        let other = try await Program.run(
            ["build", "EE", "LI", "--tileset", origin.tileset, "--zoom", "0-8", "-o", parts.path + "/"], in: scratch)
        #expect(other.status == 65 && other.errors.contains("another unfinished build"), "\(other.errors)")
        // Each package has a suggestion of its own.
        var (last, suggested) = (failed, 0)
        while let found = last.errors.firstMatch(of: /Try --max-file ([0-9]+)/), let limit = Int(found.output.1) {
            try #require(limit > suggested, "\(last.errors)")
            suggested = limit
            last = try await build("\(limit)")
            let told = last.errors.firstMatch(of: /at most ([0-9]+) bytes: ([0-9,]+) of ([0-9,]+) tiles are done/)
            #expect(told.map { $0.output.2 == $0.output.3 } == true, "no tile is fetched again: \(last.errors)")
        }
        #expect(last.status == 0 && last.errors.contains("continuing"), "\(last.errors)")
        let names = try files(parts, ending: ".mbtiles")
        #expect(names.contains("EE-2.mbtiles") && names.contains("LI.mbtiles"), "\(names)")
        for name in names { #expect(try size(parts.appending(path: name)) <= suggested, "\(name)") }
        let again = try await build("\(suggested)")
        #expect(again.status == 0 && again.errors.contains("unchanged"), "\(again.errors)")
    }

    /// A build that was killed goes on without the limit that it had, and replaces what it has placed.
    @Test(.timeLimit(.programs))
    func aKilledBuildGoesOnWithoutItsLimit() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(["--latency-ms", "60"], in: scratch)
        let card = scratch.url("card")
        let command = ["build", "EE", "--tileset", origin.tileset, "--zoom", "0-10", "-o", card.path + "/"]
        let first = try Daemon(command + ["--max-file", "\(Self.limit)"], in: scratch)
        try await Eventually.holds("the job is noted") {
            FileManager.default.fileExists(atPath: card.appending(path: ".EE.mbtiles.packhorse/build.json").path)
        }
        try await first.killNow()
        let made = try await Program.run(command, in: scratch)
        #expect(made.status == 0 && made.errors.contains("without a limit of file sizes"), "\(made.errors)")
        #expect(try files(card, ending: ".mbtiles") == ["EE.mbtiles"])
    }

    @Test(.timeLimit(.programs))
    func anEntryOfAListHasALimitOfItsOwn() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let list = scratch.url("list.yaml")
        func run(_ limit: String, _ arguments: [String]) async throws -> Program.Outcome {
            try Data("- region: EE\n  max_file: \(limit)\n- region: LV\n".utf8).write(to: list)
            return try await Program.run(
                arguments + ["--packages", list.path, "--tileset", origin.tileset, "--zoom", "0-11"], in: scratch)
        }
        let made = try await run("\(Self.limit)", ["build", "-o", scratch.url("maps").path + "/"])
        #expect(made.status == 0, "\(made.errors)")
        let names = try files(scratch.url("maps"), ending: ".mbtiles")
        #expect(names.contains("EE-2.mbtiles") && names.contains("LV.mbtiles"), "\(names)")
        let estimate = try await run("\(Self.limit)", ["estimate"])
        #expect(estimate.status == 0 && estimate.output.contains("1 package is cut"), "\(estimate.output)")
        for (limit, word) in [("10kB", "the least is"), ("4 apples", "is '4 apples', not a size")] {
            let refused = try await run(limit, ["estimate"])
            #expect(
                refused.status == 65 && refused.errors.contains(word) && refused.errors.contains("entry 1"),
                "\(refused.errors)")
        }
    }

    @Test(.timeLimit(.programs))
    func aDeviceInstallsPartsAsOnePackage() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 2, in: scratch)
        let job = try await cluster.build(
            [
                "EE", "--tileset", origin.tileset, "--zoom", "0-11", "--max-file", "\(Self.limit)", "--format",
                "mbtiles,pmtiles",
            ])
        #expect(job.state == "done" && job.packages.map(\.id) == ["EE"])
        let list =
            try JSONSerialization.jsonObject(
                with: try Data(contentsOf: cluster.catalog.appending(path: "packages.json"))) as? [String: Any]
        let entries = try #require(list?["packages"] as? [[String: Any]])
        #expect(entries.count > 1 && Set(entries.compactMap { $0["version"] as? Int }) == [1])
        for entry in entries {
            #expect((entry["part"] as? [String: Any])?["of"] as? String == "EE")
            #expect(try #require(entry["size"] as? Int) <= Self.limit)
            #expect((entry["tile_mask"] as? String)?.hasSuffix(":11") == true)
        }
        #expect(try await Program.run(["verify", cluster.catalog.path], in: scratch).status == 0)
        #expect(try await Program.run(["catalog", "verify", cluster.catalog.path], in: scratch).status == 0)
        let device = scratch.url("device")
        func run(_ arguments: String...) async throws -> Program.Outcome {
            try await Program.run(["device"] + arguments + ["--store", device.path], in: scratch)
        }
        let installed = try await run("install", "EE", "--catalog", cluster.catalog.path)
        #expect(installed.status == 0, "\(installed.errors)")
        let listed = try await run("list", "--installed", "--json")
        let rows = try JSONSerialization.jsonObject(with: Data(listed.output.utf8)) as? [[String: Any]]
        #expect(
            rows?.count == 1 && (rows?.first?["item"] as? [String: Any])?["id"] as? String == "EE", "\(listed.output)")
        #expect(try await run("verify", "--deep").status == 0)
        // The tiles of all parts are there.
        let exported = scratch.url("exported.mbtiles")
        let export = try await run("export", "-o", exported.path)
        #expect(export.status == 0, "\(export.errors)")
        let whole = scratch.url("whole.mbtiles")
        let built = try await Program.run(
            ["build", "EE", "--tileset", origin.tileset, "--zoom", "0-11", "-o", whole.path], in: scratch)
        #expect(built.status == 0, "\(built.errors)")
        let same = try await Program.run(
            ["diff", whole.path, exported.path, "--dry-run", "--json"], in: scratch)
        let difference = try JSONSerialization.jsonObject(with: Data(same.output.utf8)) as? [String: Any]
        #expect(difference?["before"] as? String == difference?["after"] as? String, "\(same.output) \(same.errors)")
        // The same submission is the same version, and one with a larger limit replaces the parts.
        let again = try await cluster.build(
            [
                "EE", "--tileset", origin.tileset, "--zoom", "0-11", "--max-file", "\(Self.limit)", "--format",
                "mbtiles,pmtiles",
            ])
        #expect(again.packages.first?.version == 1 && again.packages.first?.state == "unchanged")
        let large = try await cluster.build(
            ["EE", "--tileset", origin.tileset, "--zoom", "0-11", "--max-file", "1GB", "--format", "mbtiles,pmtiles"])
        #expect(large.packages.first?.version == 2)
        let updated = try await run("update", "--catalog", cluster.catalog.path)
        #expect(updated.status == 0, "\(updated.errors)")
        #expect(
            try size(try await Device.file("EE", in: device, scratch))
                == size(
                    cluster.catalog.appending(path: "packages/2/EE.mbtiles")))
        let removed = try await run("remove", "EE")
        #expect(removed.status == 0, "\(removed.errors)")
        try await cluster.stop()
    }

    @Test(.timeLimit(.programs))
    func whatCannotBeIsRefusedByName() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 0, in: scratch)
        let tileset = ["--tileset", origin.tileset, "--zoom", "0-8"]
        let folder = try await cluster.run(["submit", "LI"] + tileset + ["--format", "folder"])
        #expect(folder.status != 0 && folder.errors.contains("format folder is many files"), "\(folder.errors)")
        #expect(
            folder.errors.contains("--format zip") && folder.errors.contains("packhorse convert"), "\(folder.errors)")
        let scheduled = try await cluster.run(
            ["schedule", "add", "daily", "--every", "daily 01:00", "LI"] + tileset + ["--format", "folder"])
        #expect(
            scheduled.status != 0 && scheduled.errors.contains("format folder is many files"), "\(scheduled.errors)")
        let list = scratch.url("list.yaml")
        try Data("[{id: park, bbox: '24.5,59.3,25,59.5'}, {id: park-1, bbox: '26.5,58.3,27,58.5'}]".utf8).write(
            to: list)
        let named = try await cluster.run(["submit", "--packages", list.path] + tileset + ["--max-file", "4GB"])
        #expect(named.status != 0 && named.errors.contains("'park-1'"), "\(named.errors)")
        for (arguments, word) in [
            (["--max-file", "4 apples"], "4GB"), (["--max-file", "10kB"], "least"),
            (["--max-file", "4GB", "--tile-packs"], "--tile-packs"),
        ] {
            let refused = try await cluster.run(["submit", "LI"] + tileset + arguments)
            #expect(refused.status == 64 && refused.errors.contains(word), "\(refused.errors)")
        }
        let build = try await Program.run(
            ["build", "LI"] + tileset + ["--max-file", "4GB", "--format", "folder"], in: scratch)
        #expect(build.status == 64 && build.errors.contains("--max-file"), "\(build.errors)")
        let estimate = try await Program.run(
            ["estimate", "EE", "--tileset", origin.tileset, "--zoom", "0-11", "--max-file", "\(Self.limit)"],
            in: scratch)
        #expect(
            estimate.status == 0 && estimate.output.contains("files  about"), "\(estimate.output) \(estimate.errors)")
        try await cluster.stop()
    }
}
