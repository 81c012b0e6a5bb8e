import Foundation
import TestSupport
import Testing

/// What commands print with `--json` has the keys that docs/reference/json.md names, and no others.
@Suite(.serialized, .timeLimit(.programs))
struct JSONReferenceTests {
    /// Documents that the tests below cover; each document of the file is one of them.
    private static let ofClusters = [
        "job", "submission", "order", "failed-work", "schedule", "firing", "worker", "origin", "health", "key", "event",
        "shard",
        "list-of-packs", "push", "catalog-check", "catalog-difference", "package-content", "removal", "backup", "state",
        "automatic-backup",
    ]
    private static let ofFiles = [
        "build", "forecast", "estimate", "report", "remote-archive", "conversion", "difference", "patched-package",
        "style-pack", "style-plan", "style-check", "style-index", "region", "place", "mask", "error", "version",
        "search", "town",
        "wrong-line", "setting",
    ]

    @Test func everyDocumentIsRead() throws {
        let documents = try JSONReference().documents
        #expect(Set(documents.keys) == Set(Self.ofClusters + Self.ofFiles + JSONDeviceReferenceTests.documents))
        for (anchor, document) in documents {
            #expect(!document.keys.isEmpty, "\(anchor)")
            for link in document.links.values { #expect(documents[link] != nil, "\(anchor) links to \(link)") }
        }
    }

    @Test func clustersPrintWhatTheReferenceSays() async throws {
        let scratch = try Scratch()
        let reader = JSONReader(reference: try JSONReference(), scratch: scratch)
        let demo = try await DemoOrigin(in: scratch)
        let refusing = try ScriptedServer { request in
            request.path.hasPrefix("/4/") ? .reply(400) : .reply(200, body: [0x1A, 0x05, 0x0A, 0x01, 0x61, 0x78, 0x02])
        }
        defer { refusing.stop() }
        let key = scratch.url("catalog.key")
        let shown = try await reader.run(nil, ["catalog", "keygen", key.path])
        let cluster = try await Cluster(
            workers: 1,
            coordinatorArguments: [
                "--signing-key", key.path, "--keep-shards", "--also-catalog", "staging=\(scratch.url("staging").path)",
                "--also-catalog-url", "staging=https://maps.example.com/staging/", "--backup-to", scratch.folder.path,
            ], in: scratch)
        let control = cluster.control
        try await submissions(reader, demo, refusing, control)
        try await operations(reader, demo, cluster)
        for file in try cluster.blobFiles() where try Data(contentsOf: file).starts(with: [0x50, 0x2A, 0x4D, 0x18]) {
            try await reader.run("shard", ["inspect", file.path])
        }
        try await keys(reader)
        try await cluster.stop()
        try await reader.run("state", ["state", "check", "--data", cluster.data.path])
        try await reader.run("automatic-backup", ["state", "backups", scratch.folder.path])
        try await catalogs(reader, cluster.catalog, publicKey: shown, secretKey: key.path)
        // The controller finds limits only after a minute of refusals: HiddenLimitTests. Builds of sources: LatestTests.
        reader.expectAll(
            Self.ofClusters,
            but: [
                "accepts_per_second", "accepts_concurrency", "packages.remark", "changed_tiles", "source_build",
                "source_url", "source_version", "unchanged_at", "block_list",
                // Of a schedule whose firing was refused, and of one that is tried again: ScheduleTests.
                "cause", "detail", "failures", "retry_seconds",
                // Of a schedule that follows files: ScheduleHistoryTests.
                "packages_file", "tileset_file",
                // Of a firing at its time, and of a source with builds: ScheduleHistoryTests, NewestBuildServiceTests.
                "due", "source_build",
                // Of a step that failed: StepServiceTests.
                "steps.cause", "steps.detail", "steps.retry", "steps.exit_code",
                // Of a package in parts: PartsStagingTests.
                "parts",
                // Of a catalog with patches: CompanionPatchTests.
                "patches", "patches.from", "patches.format", "patches.bytes",
            ])
    }

    private func submissions(
        _ reader: JSONReader, _ demo: DemoOrigin, _ refusing: ScriptedServer, _ control: String
    ) async throws {
        let scratch = reader.scratch
        let (base, languages, bad) = (scratch.url("base.yaml"), scratch.url("l.yaml"), scratch.url("bad.yaml"))
        try Data("url: \(demo.tileset)\n".utf8).write(to: base)
        try Data("url: \(demo.url)/{language}/tiles.json\ngroup: streets\n".utf8).write(to: languages)
        try Data("id: bad\nurl: \(refusing.url)/{z}/{x}/{y}.pbf\nzoom: 0-4\nformat: pbf\n".utf8).write(to: bad)
        let small = ["LI", "--tileset", base.path, "--zoom", "0-6"]
        try await reader.run("submission", ["submit"] + small + ["--dry-run"], at: control)
        try await reader.run("submission", ["submit"] + small, at: control)
        let quiet = ["--wait", "--progress", "none"]
        try await reader.run("job", ["submit"] + small + ["--tile-packs", "--then", "verify"] + quiet, at: control)
        try await reader.run(
            "job", ["submit", "LV", "--tileset", base.path, "--zoom", "0-10", "--max-file", "200kB"] + quiet,
            at: control)
        try await reader.run(
            "job",
            [
                "submit", "LI", "--tileset", languages.path, "--zoom", "0-6", "--language", "en", "--format",
                "pmtiles,maplibre", "--style", "\(demo.url)/style.json", "--data-date", "2026-11-01",
            ] + quiet, at: control)
        // Nothing takes a paused job.
        let paused = try await reader.run(
            nil, ["submit", "EE", "--tileset", base.path, "--zoom", "0-6", "--priority", "-1"], at: control)
        try await reader.run("job", ["status", paused], at: control)
        try await reader.run("order", ["weight", paused, "2"], at: control)
        try await reader.run("job", ["cancel", paused], at: control)
        // The one that fails is not tried again, so health names it.
        let schedules: [(String, [String])] = [("night", []), ("dawn", ["--retry", "3,10m"])]
        for (id, options) in schedules {
            try await reader.run(
                "order", ["schedule", "add", id, "--every", "daily 01:00", "EE", "--tileset", bad.path] + options,
                at: control)
        }
        try await reader.run(nil, ["schedule", "run", "night"], at: control)
        let failed = try await Eventually.get("the scheduled job fails") {
            let jobs = try JSONSerialization.jsonObject(
                with: Data(try await reader.run("job", ["jobs"], at: control).utf8))
            return (jobs as? [[String: Any]])?.first { $0["state"] as? String == "failed" }?["job"] as? Int
        }
        try await reader.run("job", ["status", "\(failed)"], at: control)
        try await reader.run("failed-work", ["failed", "list"], at: control)
        try await reader.run("order", ["schedule", "edit", "night", "--into", "main", "--jitter", "30m"], at: control)
        let shown = try await reader.run("schedule", ["schedule", "show", "night"], at: control)
        #expect(shown.contains("daily 01:00 jitter 30m"), "\(shown)")
        try await reader.run("schedule", ["schedule", "list"], at: control)
        try await reader.run("firing", ["schedule", "history", "night"], at: control)
        try await reader.run("order", ["failed", "drop", "\(failed)"], at: control)
    }

    private func operations(_ reader: JSONReader, _ demo: DemoOrigin, _ cluster: Cluster) async throws {
        let control = cluster.control
        try await reader.run(
            nil,
            [
                "origins", "limit", demo.url, "--requests-per-second", "5", "--concurrency", "2", "--bytes-per-second",
                "5MB",
            ], at: control)
        // A limit has effect with the next grants.
        try await Eventually.holds("the limit has effect") {
            try await reader.run("origin", ["origins"], at: control).contains("\"per_second\" : 5")
        }
        try await reader.run("health", ["health"], at: control)
        try await reader.run("backup", ["backup", "one"], at: control)
        let lines = try await reader.run(nil, ["events", "--limit", "20", "--json"], at: control)
        for line in lines.split(separator: "\n") { try reader.reference.read(String(line), as: "event") }
        // A worker that says nothing has a reason.
        try await cluster.workers[0].killNow()
        try await Eventually.holds("the silence of the worker is noticed") {
            try await reader.run("worker", ["workers"], at: control).contains("\"reason\"")
        }
    }

    private func keys(_ reader: JSONReader) async throws {
        let folder = reader.scratch.url("keys")
        try await reader.run(nil, ["keygen", "--cluster", folder.path])
        try Data("not a key".utf8).write(to: folder.appending(path: "authorized_keys.d/odd.pub"))
        try await reader.run("key", ["keys", "--keys", folder.path], status: 78)
    }

    private func catalogs(_ reader: JSONReader, _ catalog: URL, publicKey: String, secretKey: String) async throws {
        let scratch = reader.scratch
        let signing = ["--signing-key", secretKey]
        try await reader.run("list-of-packs", ["packs", catalog.path] + signing)
        try await reader.run("catalog-check", ["catalog", "verify", catalog.path, "--public-key", publicKey])
        try await reader.run("push", ["catalog", "push", catalog.path, scratch.url("web").path])
        let web = scratch.url("web")
        // The same file as a package of another tileset.
        let files = try FileManager.default.subpathsOfDirectory(atPath: catalog.path)
        let file = try #require(files.filter { $0.hasPrefix("packages/") && $0.hasSuffix("/LI.mbtiles") }.max())
        try await reader.run(
            nil,
            [
                "catalog", "import", catalog.path, catalog.appending(path: file).path, "--id", "LI", "--tileset",
                "other",
                "--data-date", "2026-11-02", "--replace-tileset", "--replace-area",
            ] + signing)
        try await reader.run("catalog-difference", ["catalog", "diff", web.path, catalog.path])
        try await reader.run(
            "catalog-difference",
            ["catalog", "promote", web.path, catalog.path, "--replace-tileset", "--replace-area"] + signing)
        try await reader.run("removal", ["catalog", "remove", catalog.path, "LI"] + signing)
        try await reader.run("removal", ["catalog", "prune", catalog.path] + signing)
    }

    @Test func filesAndForecastsPrintWhatTheReferenceSays() async throws {
        let scratch = try Scratch()
        let reader = JSONReader(reference: try JSONReference(), scratch: scratch)
        for wrong in [["inspect", "/nonexistent", "--json"], ["build", "Estonai", "--progress", "json"]] {
            let outcome = try await Program.run(wrong, in: scratch)
            #expect(outcome.output.isEmpty)
            #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
            try reader.reference.read(outcome.errors, as: "error")
        }
        let demo = try await DemoOrigin(in: scratch)
        func path(_ name: String) -> String { scratch.url(name).path }
        try await reader.run("mask", ["mask", "LI", "--zoom", "6"])
        let languages = path("l.yaml")
        try Data("url: \(demo.url)/{language}/tiles.json\n".utf8).write(to: URL(filePath: languages))
        let made = ["LI", "--tileset", languages, "--language", "en", "--zoom", "0-8"]
        try await reader.run("forecast", ["build"] + made + ["-o", path("x.mbtiles"), "--dry-run"])
        try await reader.run("build", ["build"] + made + ["-o", path("new.mbtiles")])
        try await reader.run(
            "build", ["build", "LI", "--tileset", demo.tileset, "--zoom", "0-7", "-o", path("old.mbtiles")])
        let (old, new) = (path("old.mbtiles"), path("new.mbtiles"))
        let mask = try await reader.run(nil, ["mask", "LI"])
        try await reader.run("report", ["verify", new, "--mask", mask])
        let both = try await reader.run(nil, ["verify", "--json", old, new])
        let documents = try #require(try JSONSerialization.jsonObject(with: Data(both.utf8)) as? [Any])
        #expect(documents.count == 2)
        for document in documents {
            let text = try JSONSerialization.data(withJSONObject: document)
            try reader.reference.read(String(decoding: text, as: UTF8.self), as: "report")
        }
        let half = try await Program.run(["verify", "--json", old, path("none.mbtiles")], in: scratch)
        let halves = try #require(try JSONSerialization.jsonObject(with: Data(half.output.utf8)) as? [[String: Any]])
        #expect(halves.count == 2)
        #expect(
            halves.last?["path"] as? String == path("none.mbtiles") && halves.last?["error"] is String, "\(half.output)"
        )
        #expect(half.status == 66)
        // With JSON progress there is no other line on standard error.
        let lines = try await Program.run(
            ["build"] + made + ["-o", path("new.mbtiles"), "--progress", "json"], in: scratch
        ).errors
            .split(separator: "\n")
        #expect(lines.contains { $0.contains("unchanged") }, "\(lines)")
        for line in lines {
            #expect(try JSONSerialization.jsonObject(with: Data(line.utf8)) is [String: Any], "\(line)")
        }
        var bytes = try Data(contentsOf: scratch.url("old.mbtiles"))
        bytes[bytes.count / 2] ^= 4
        try bytes.write(to: scratch.url("damaged.mbtiles"))
        try await reader.run("report", ["verify", path("damaged.mbtiles")], status: 65)
        try await reader.run("conversion", ["convert", new, "-o", path("a.pmtiles"), "--dry-run"])
        try await reader.run("conversion", ["convert", new, "-o", path("a.pmtiles")])
        try await reader.run("difference", ["diff", old, new, "-o", path("p.mbtiles")])
        try await reader.run("patched-package", ["apply", path("p.mbtiles"), old, "-o", path("patched.mbtiles")])
        try await reader.run("region", ["regions", "show", "EE"])
        try await reader.run("search", ["regions", "find", "Tartu"])
        try await reader.run("place", ["regions", "at", "-72.5,44.5", "24.7,59.4"])
        let server = try RangeServer(Array(try Data(contentsOf: scratch.url("a.pmtiles"))))
        defer { server.stop() }
        try await reader.run("remote-archive", ["inspect", "\(server.url)"])
        try await reader.run(
            "estimate",
            ["estimate", "LI", "--zoom", "0-8", "--tileset", "\(server.url)", "--max-file", "1GB", "--disk", "."])
        try await estimateOfFailures(reader)
        let style = "\(demo.url)/style.json"
        try await reader.run("style-plan", ["style-pack", style, "--dry-run"])
        try await reader.run("style-pack", ["style-pack", style, "-o", path("style")])
        try await reader.run("style-check", ["verify", path("style")])
        try await reader.run("style-index", ["inspect", path("style")])
        try await reader.run("version", ["--version"])
        let wrong = path("worker.yaml")
        try Data("slot: 4\n".utf8).write(to: URL(filePath: wrong))
        try await reader.run("wrong-line", ["config", "check", wrong], status: 78)
        try await reader.run("setting", ["config", "show", "worker"])
        // The demo world sends no Last-Modified; a build without `make` knows no commit. Builds of sources: LatestTests.
        let source = ["source", "source.build", "source.url", "source.data_date", "source.version"]
        reader.expectAll(Self.ofFiles, but: Set(["entries.modified", "commit", "date"] + source))
    }

    private func estimateOfFailures(_ reader: JSONReader) async throws {
        let server = try ScriptedServer { request in
            request.path.hasPrefix("/4/")
                ? .reply(403) : .reply(200, body: [0x1A, 0x05, 0x0A, 0x01, 0x61, 0x78, 0x02])
        }
        defer { server.stop() }
        let tileset = reader.scratch.url("t.yaml")
        try Data(
            "id: t\nurl: \(server.url)/{z}/{x}/{y}.pbf\nzoom: 0-4\nformat: pbf\nattribution: A\ndescription: D\n".utf8
        )
        .write(to: tileset)
        try await reader.run("estimate", ["estimate", "EE", "--tileset", tileset.path])
        let file = reader.scratch.url("same.mbtiles").path
        try await reader.run(nil, ["build", "EE", "--tileset", tileset.path, "--zoom", "0-3", "-o", file])
        try await reader.run("report", ["inspect", file])
    }
}
