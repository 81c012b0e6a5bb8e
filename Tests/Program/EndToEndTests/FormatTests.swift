import Foundation
import Testing

/// Packages in every format, styles, languages and groups through real processes.
@Suite(.serialized)
struct FormatTests {
    private struct Output: Decodable {
        struct Package: Decodable {
            let id: String
            let sha256: String?
            let path: String?
            let files: [File]
        }
        struct File: Decodable {
            let format: String
            let size: Int
            let sha256: String
            let path: String?
        }
        let state: String
        let label: String
        let formats: [String]
        let group: String?
        let language: String?
        let packages: [Package]
    }

    private func build(_ cluster: Cluster, _ arguments: [String]) async throws -> [Output] {
        let outcome = try await cluster.run(["submit"] + arguments + ["--wait", "--json", "--progress", "none"])
        try #require(outcome.status == 0, "\(arguments): \(outcome.errors)")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let bytes = Data(outcome.output.utf8)
        return outcome.output.hasPrefix("[")
            ? try decoder.decode([Output].self, from: bytes) : [try decoder.decode(Output.self, from: bytes)]
    }

    @Test(.timeLimit(.programs))
    func oneAndFourWorkersWriteTheSameBytesInEveryFormatTwice() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let formats = ["mbtiles-flat", "mbtiles-normalized", "carto", "pmtiles", "maplibre"]
        var seen: [[String]] = []
        for count in [1, 4, 4, 1] {
            let cluster = try await Cluster(workers: count, in: scratch)
            let job = try #require(
                try await build(
                    cluster,
                    [
                        "EE", "--tileset", origin.tileset, "--zoom", "0-10", "--format", "mbtiles,pmtiles,mbtiles-flat",
                        "--format", "mbtiles-normalized,carto,maplibre", "--style", "\(origin.url)/style.json",
                    ]
                ).first)
            #expect(job.formats == ["mbtiles"] + formats)
            let package = try #require(job.packages.first)
            #expect(Set(package.files.map(\.format)) == Set(formats))
            seen.append([try #require(package.sha256)] + package.files.map { "\($0.format) \($0.sha256)" })
            if seen.count == 1 {
                for path in [package.path] + package.files.map(\.path) {
                    let file = try #require(path)
                    let verified = try await Program.run(["verify", file], in: scratch)
                    #expect(verified.status == 0, "\(file): \(verified.output) \(verified.errors)")
                }
                let catalog = try await Program.run(["verify", cluster.catalog.path], in: scratch)
                #expect(catalog.status == 0, "\(catalog.errors)")
                let report = try await cluster.run(["status", "1"])
                #expect(report.output.contains("formats  mbtiles, \(formats.joined(separator: ", "))"))
                #expect(report.output.contains("EE.maplibre.db"))
                #expect(try await cluster.run(["jobs"]).output.contains("mbtiles,mbtiles-flat"))
            }
            try await cluster.stop()
        }
        #expect(seen.count == 4)
        for other in seen.dropFirst() { #expect(other == seen[0]) }
    }

    /// PMTiles alone through a cluster: versions, a rebuild from kept tiles, patches, a companion and checks, and no MBTiles file at all.
    @Test(.timeLimit(.programs))
    func pmtilesAloneHasEverythingThatPackagesHave() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 2, in: scratch)
        func submit(_ more: String...) async throws -> Output.Package {
            let words =
                ["LI", "--tileset", origin.tileset, "--format", "pmtiles", "--allow-shrink", "--replace-area"] + more
            let job = try #require(try await build(cluster, words).first)
            #expect(job.formats == ["pmtiles"])
            return try #require(job.packages.first)
        }
        let first = try await submit("--zoom", "0-9")
        #expect(first.path?.hasSuffix("/packages/1/LI.pmtiles") == true)
        let second = try await submit("--zoom", "0-10")
        #expect(second.path?.hasSuffix("/packages/2/LI.pmtiles") == true && second.sha256 != first.sha256)
        let made = try await Program.run(["catalog", "patch", cluster.catalog.path], in: scratch)
        #expect(made.status == 0, "\(made.errors)")
        let note = scratch.url("routes.vtiles")
        try Data("routes".utf8).write(to: note)
        let attached = try await Program.run(
            ["catalog", "attach", cluster.catalog.path, "LI", note.path, "--kind", "routing.valhalla"], in: scratch)
        #expect(attached.status == 0, "\(attached.errors)")
        for words in [
            ["verify", cluster.catalog.path], ["catalog", "verify", cluster.catalog.path],
            ["verify", second.path ?? ""],
        ] {
            let outcome = try await Program.run(words, in: scratch)
            #expect(outcome.status == 0, "\(words): \(outcome.output) \(outcome.errors)")
        }
        let files = FileManager.default.enumerator(atPath: cluster.catalog.path)?.compactMap { $0 as? String } ?? []
        #expect(files.contains("packages/2/LI.pmtiles") && !files.contains { $0.hasSuffix(".mbtiles") }, "\(files)")
        // The file that is made beside MBTiles has the same bytes.
        let both = try #require(
            try await build(
                cluster,
                ["LI", "--tileset", origin.tileset, "--format", "mbtiles,pmtiles", "--zoom", "0-10", "--group", "both"]
            ).first?.packages.first)
        #expect(both.files.map(\.sha256) == [second.sha256])
        try await cluster.stop()
    }

    @Test(.timeLimit(.programs))
    func everyLanguageIsAJobAndACatalogOfItsOwn() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 2, in: scratch)
        let tileset = scratch.url("streets.yaml")
        try Data("url: \(origin.url)/{language}/tiles.json\ngroup: streets\n".utf8).write(to: tileset)
        let dry = try await cluster.run(
            [
                "submit", "LI", "--tileset", tileset.path, "--zoom", "0-8", "--language", "en,de", "--format",
                "pmtiles", "--dry-run",
            ])
        #expect(dry.status == 0, "\(dry.errors)")
        #expect(dry.output.contains("(streets/en): pmtiles, in the edition streets/en"))
        #expect(dry.output.contains("(streets/de)"))
        let arguments = [
            "LI", "--tileset", tileset.path, "--zoom", "0-8", "--language", "en,de", "--format", "pmtiles",
        ]
        let jobs = try await build(cluster, arguments + ["--request-id", "nightly"])
        #expect(jobs.map(\.language) == ["en", "de"])
        #expect(jobs.allSatisfy { $0.group == "streets" && $0.state == "done" })
        #expect(Set(jobs.map(\.label)).count == 2)
        #expect(Set(jobs.compactMap(\.packages.first?.sha256)).count == 2, "names differ")
        for language in ["en", "de"] {
            let folder = cluster.catalog.appending(path: "groups/streets/\(language)")
            #expect(FileManager.default.fileExists(atPath: folder.appending(path: "packages.json").path))
            #expect(FileManager.default.fileExists(atPath: folder.appending(path: "packages/1/LI.pmtiles").path))
        }
        // The same request again is the same two jobs.
        let again = try await cluster.run(["submit"] + arguments + ["--request-id", "nightly"])
        #expect(again.output == "1\n2\n", "\(again.output) \(again.errors)")
        // One more package, in one language and another group, with a list of the expected content of each.
        let list = scratch.url("packages.yaml")
        try Data("- region: LI\n  formats: [mbtiles]\n- region: AD\n  formats: carto\n".utf8).write(to: list)
        let mixed = try #require(
            try await build(
                cluster,
                [
                    "--packages", list.path, "--tileset", tileset.path, "--zoom", "0-6", "--language", "fr", "--group",
                    "overview", "--format", "pmtiles",
                ]
            ).first)
        #expect(mixed.packages.map { $0.files.map(\.format) } == [[], ["carto"]])
        #expect(mixed.packages.allSatisfy { $0.path?.contains("/groups/overview/fr/") == true })
        try await cluster.stop()
    }

    @Test(
        .timeLimit(.programs),
        arguments: [
            (["--format", "shapefile"], "no package format 'shapefile'"),
            (["--format", "maplibre"], "--style"),
            (["--style", "http://127.0.0.1:1/style.json"], "--format maplibre"),
            (["--language", "en,de"], "no {language}"),
            (["--language", "EN"], "not a language code"),
            (["--group", "../up"], "is not a valid data group"),
        ])
    func whatDoesNotGoTogetherIsRefusedBeforeAnythingIsSubmitted(_ arguments: [String], _ words: String) async throws {
        let scratch = try Scratch()
        let tileset = scratch.url("tiles.yaml")
        try Data("url: http://127.0.0.1:1/{z}/{x}/{y}.pbf\nzoom: 0-4\n".utf8).write(to: tileset)
        let outcome = try await Program.run(
            ["submit", "LI", "--tileset", tileset.path, "--coordinator", "tcp://127.0.0.1:1"] + arguments, in: scratch)
        #expect(outcome.status == 64, "\(outcome.errors)")
        #expect(outcome.errors.contains(words), "\(outcome.errors)")
    }
}
