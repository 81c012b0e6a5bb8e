import Foundation
import TestSupport
import Testing

/// GeoPackages, ZIP archives and folders of tiles through the program; archives are read by Python, which shares no code with Packhorse.
@Suite(.serialized)
struct OutputFormatTests {
    private static let python = URL(filePath: "/usr/bin/python3")

    /// Reads an archive: checksums, the order of names, modes and dates, and prints how many files there are.
    private static let zipReader = """
        from sys import argv
        from zipfile import ZipFile
        archive = ZipFile(argv[1])
        assert archive.testzip() is None
        infos = archive.infolist()
        names = [info.filename for info in infos]
        tiles = [tuple(int(part) for part in name.split(".")[0].split("/")) for name in names[:-1]]
        assert names[-1] == "tiles.json" and tiles == sorted(set(tiles)), names[-3:]
        assert all(i.compress_type == 0 and i.date_time == (1980, 1, 1, 0, 0, 0) and i.external_attr >> 16 == 0o100644 for i in infos)
        print(len(names))
        """

    /// Every file below a folder, by its path.
    private func files(_ folder: URL) throws -> [String: Data] {
        var found: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            if let data = FileManager.default.contents(atPath: folder.appending(path: name).path) { found[name] = data }
        }
        return found
    }

    @Test(.enabled(if: SQLiteShell.isThere, "sqlite3 is absent"), .timeLimit(.programs))
    func picturesBecomeEveryFormat() async throws {
        let scratch = try Scratch()
        let source = scratch.url("world.mbtiles")
        try await SQLiteShell.archive(source, body: SQLiteShell.red, zoom: 4, in: scratch)
        func convert(_ arguments: String...) async throws -> Program.Outcome {
            try await Program.run(["convert", source.path] + arguments + ["--progress", "none"], in: scratch)
        }
        // The name of the output says the format.
        for name in ["world.gpkg", "world.zip", "world.tiles"] {
            let file = scratch.url(name).path
            let written = try await convert("-o", file)
            #expect(written.status == 0, "\(written.errors)")
            let verified = try await Program.run(["verify", file], in: scratch)
            #expect(verified.status == 0 && verified.output.contains("341 tiles"), "\(verified.errors)")
            #expect(verified.output.contains(", sealed"), "\(verified.output)")
            #expect(try await Program.run(["inspect", file], in: scratch).output.contains("seal      sealed"))
            let refused = try await convert("-o", file)
            #expect(refused.status == 73 && refused.errors.contains("--force"), "\(refused.errors)")
            #expect(try await convert("-o", file, "--force").status == 0)
            // It is written, not read: the remedy is named.
            let back = try await Program.run(["convert", file, "-o", scratch.url("back.mbtiles").path], in: scratch)
            #expect(back.status != 0 && !back.errors.isEmpty, "\(back.errors)")
        }
        let zipped = try await Program.run(
            Self.python, ["-c", Self.zipReader, scratch.url("world.zip").path], in: scratch)
        #expect(zipped.status == 0 && zipped.output == "342\n", "\(zipped.errors)")
        let unpacked = scratch.url("unpacked")
        let unzipped = try await Program.run(
            Self.python, ["-m", "zipfile", "-e", scratch.url("world.zip").path, unpacked.path], in: scratch)
        #expect(unzipped.status == 0, "\(unzipped.errors)")
        #expect(try files(unpacked) == files(scratch.url("world.tiles")))
        #expect(try await Program.run(["verify", unpacked.path], in: scratch).status == 0)
        // A folder of other things is never replaced; it gets the folder of tiles inside.
        let site = scratch.url("site")
        try FileManager.default.createDirectory(at: site, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: site.appending(path: "index.html"))
        #expect(try await convert("--format", "folder", "-o", site.path, "--force").status == 0)
        #expect(try files(site.appending(path: "world.tiles")) == files(unpacked))
        #expect(try await convert("--format", "folder", "-o", scratch.url("fresh").path + "/").status == 0)
        #expect(try files(scratch.url("fresh")) == files(unpacked))
        let other = scratch.url("other.tiles")
        try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: other.appending(path: "tiles.json"))
        let never = try await convert("--format", "folder", "-o", other.path, "--force")
        #expect(never.status == 73 && never.errors.contains("no folder of tiles"), "\(never.errors)")
    }

    /// More than 65,535 files need the 64-bit form of ZIP.
    @Test(.enabled(if: SQLiteShell.isThere, "sqlite3 is absent"), .timeLimit(.programs))
    func aLargeArchiveIsRead() async throws {
        let scratch = try Scratch()
        let source = scratch.url("world.mbtiles")
        try await SQLiteShell.archive(source, body: SQLiteShell.blue, zoom: 8, in: scratch)
        let file = scratch.url("world.zip").path
        let written = try await Program.run(["convert", source.path, "-o", file, "--progress", "none"], in: scratch)
        #expect(written.status == 0, "\(written.errors)")
        let read = try await Program.run(Self.python, ["-c", Self.zipReader, file], in: scratch)
        #expect(read.status == 0 && read.output == "87382\n", "\(read.errors)")
    }

    @Test(.timeLimit(.programs))
    func aBuildMakesFoldersAndArchives() async throws {
        let scratch = try Scratch()
        let origin = try SyntheticOrigin(in: scratch)
        defer { origin.stop() }
        let area = ["EE", "--tileset", origin.tileset, "--zoom", "0-7", "--progress", "none"]
        func build(_ arguments: String...) async throws -> Program.Outcome {
            try await Program.run(["build"] + area + arguments, in: scratch)
        }
        let site = scratch.url("site")
        let first = try await build("--format", "zip,folder", "-o", site.path + "/", "--json")
        #expect(first.status == 0, "\(first.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: site.path).sorted()
        #expect(names == ["EE.tiles", "EE.zip"], "no package and no state is left: \(names)")
        for name in names {
            let verified = try await Program.run(["verify", site.appending(path: name).path], in: scratch)
            #expect(verified.status == 0, "\(verified.errors)")
        }
        let unzipped = scratch.url("unzipped")
        _ = try await Program.run(
            Self.python, ["-m", "zipfile", "-e", site.appending(path: "EE.zip").path, unzipped.path], in: scratch)
        #expect(try files(unzipped) == files(site.appending(path: "EE.tiles")))
        let again = try await build("--format", "zip,folder", "-o", site.path + "/")
        #expect(again.status == 0 && again.errors.contains("unchanged"), "\(again.errors)")
        // The name of the folder is enough; it is made again when that is wanted.
        let folder = scratch.url("estonia.tiles").path
        #expect(try await build("-o", folder).status == 0)
        #expect(try files(URL(filePath: folder)) == files(unzipped))
        #expect(try await build("-o", folder, "--force").status == 0)
        try Data("x".utf8).write(to: URL(filePath: folder).appending(path: "7/x"))
        let changed = try await build("-o", folder)
        #expect(changed.status == 73 && changed.errors.contains("--force"), "\(changed.status) \(changed.errors)")
        // Vector tiles are no pictures: refused before a tile is asked for.
        let asked = origin.server.requests.count
        let refused = try await build("-o", scratch.url("EE.gpkg").path)
        #expect(refused.status == 65 && refused.errors.contains("gpkg"), "\(refused.status) \(refused.errors)")
        #expect(refused.errors.contains("pmtiles") && origin.server.requests.count == asked)
    }

    @Test(.timeLimit(.programs))
    func aClusterPublishesArchivesAndNoFolders() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 1, in: scratch)
        let area = ["LI", "--tileset", origin.tileset, "--zoom", "0-8"]
        let refused = try await cluster.run(["submit"] + area + ["--format", "folder"])
        #expect(refused.status != 0 && refused.errors.contains("--format zip"), "\(refused.errors)")
        let job = try await cluster.build(area + ["--format", "zip"])
        #expect(job.state == "done")
        #expect(FileManager.default.fileExists(atPath: cluster.catalog.appending(path: "packages/1/LI.zip").path))
        let verified = try await Program.run(["verify", cluster.catalog.path], in: scratch)
        #expect(verified.status == 0, "\(verified.errors)")
        try await cluster.stop()
    }

    /// A full disk is named, and nothing stays on it.
    @Test(
        .enabled(if: geteuid() == 0 && SQLiteShell.isThere, "it needs root, to mount a small disk, and sqlite3"),
        .timeLimit(.programs), arguments: ["gpkg", "zip", "tiles"])
    func aFullDiskIsNamed(ending: String) async throws {
        let scratch = try Scratch()
        let source = scratch.url("world.mbtiles")
        try await SQLiteShell.archive(source, body: SQLiteShell.red, zoom: 6, in: scratch)
        let small = scratch.url("small")
        try FileManager.default.createDirectory(at: small, withIntermediateDirectories: true)
        let script = """
            mount -t tmpfs -o size=300k tmpfs '\(small.path)' || exit 99
            '\(Program.packhorse.path)' convert '\(source.path)' -o '\(small.path)/world.\(ending)' --progress none
            echo "ended $?"; ls -A '\(small.path)'
            """
        let outcome = try await Program.run(
            URL(filePath: "/usr/bin/unshare"), ["-m", "sh", "-c", script], in: scratch)
        try #require(outcome.status != 99, "\(outcome.errors)")
        #expect(outcome.output == "ended 73\n", "\(outcome.output) \(outcome.errors)")
        #expect(outcome.errors.lowercased().contains("no space left"), "\(outcome.errors)")
    }
}
