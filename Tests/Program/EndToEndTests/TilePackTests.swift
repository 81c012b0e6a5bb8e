import CatalogFormat
import Foundation
import Packages
import TestSupport
import Testing
import Tiles

/// Tile packs from submission to device, through real processes.
@Suite(.serialized)
struct TilePackTests {
    private func lists(_ catalog: URL, _ ids: [String]) throws -> [TilePackList] {
        try ids.map { id in
            let file = catalog.appending(path: TilePackList.path(id))
            return try TilePackList(decoding: Array(Data(contentsOf: file)), named: file.path)
        }
    }

    private func files(_ folder: URL) throws -> Set<String> {
        Set(
            try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter {
                $0.hasPrefix("packs/") && $0.hasSuffix(".mbtiles")
            })
    }

    @Test(.timeLimit(.programs))
    func aJobPublishesThePacksThatItsRegionsShareAndADeviceInstallsThem() async throws {
        let scratch = try Scratch()
        let key = scratch.url("catalog.key")
        let made = try await Program.run(["catalog", "keygen", key.path], in: scratch)
        let shown = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 2, coordinatorArguments: ["--signing-key", key.path], in: scratch)
        let (catalog, device, web) = (cluster.catalog, scratch.url("device"), scratch.url("web"))
        let job = try await cluster.build(["EE", "LV", "--zoom", "0-7", "--tile-packs", "--tileset", origin.tileset])
        #expect(job.packages.map(\.id) == ["EE", "LV"])
        func packhorse(_ arguments: [String], status: Int32 = 0) async throws -> Program.Outcome {
            let outcome = try await Program.run(arguments, in: scratch)
            #expect(outcome.status == status, "\(arguments): \(outcome.errors)")
            return outcome
        }

        // The publication has the packs, each shared one once, and the index leads to them.
        let both = try lists(catalog, ["EE", "LV"])
        let (estonia, latvia) = (both[0], both[1])
        #expect(
            estonia.bands == "0-5@0,6-10@6,11-14@9,15-16@11,17-18@13,19-20@15,21-22@17"
                && estonia.packs.allSatisfy(\.isComplete))
        let shared = Set(estonia.packs).intersection(latvia.packs)
        #expect(shared.contains { $0.index == .root && $0.zooms.max == 5 })
        let named = Set((estonia.packs + latvia.packs).map(\.path))
        #expect(named.count < estonia.packs.count + latvia.packs.count)
        #expect(try files(catalog) == named)
        let index = try String(contentsOf: catalog.appending(path: "catalog.json"), encoding: .utf8)
        #expect(index.contains(#""regions/EE.json""#) && index.contains(#""tile_packs_per_device" : 750"#))
        let verify = ["catalog", "verify", catalog.path, "--public-key", shown]
        let proven = try await packhorse(verify)
        #expect(proven.output.contains("\(2 + named.count) files"), "\(proven.output)")
        let pack = catalog.appending(path: latvia.packs[1].path)
        let whole = try Data(contentsOf: pack)
        var bytes = whole
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: pack)
        #expect(try await packhorse(verify, status: 65).errors.contains(latvia.packs[1].path))
        try whole.write(to: pack)

        // A device takes packs; what the first region brought, the second does not fetch.
        let install = [
            "device", "install", "--catalog", catalog.path, "--store", device.path, "--public-key", shown,
            "--tile-packs",
        ]
        _ = try await packhorse(install + ["EE"])
        let told = try await packhorse(install + ["LV", "--dry-run", "--json"]).output
        let estimate = try JSONSerialization.jsonObject(with: Data(told.utf8)) as? [String: Any]
        let new = latvia.packs.filter { !shared.contains($0) }.reduce(0) { $0 + Int($1.size) }
        #expect(estimate?["transfer"] as? Int == new)
        _ = try await packhorse(install + ["LV"])
        #expect(try files(device) == named)

        // The same job again publishes nothing new; the packs are not cut again, nor is the catalog written.
        let before = try Data(contentsOf: catalog.appending(path: "catalog.json"))
        let again = try await cluster.build(["EE", "LV", "--zoom", "0-7", "--tile-packs", "--tileset", origin.tileset])
        #expect(again.packages.allSatisfy { $0.state == "unchanged" })
        #expect(try Data(contentsOf: catalog.appending(path: "catalog.json")) == before)

        // Other zooms are other packs of the last band; those that no list names go with a pruning, here and where it was pushed.
        _ = try await packhorse(["catalog", "push", catalog.path, web.path])
        #expect(try files(web) == named)
        let old = scratch.url("old")
        try FileManager.default.copyItem(at: web, to: old)
        _ = try await cluster.build(["EE", "LV", "--zoom", "0-8", "--tile-packs", "--tileset", origin.tileset])
        let newer = Set(try lists(catalog, ["EE", "LV"]).flatMap(\.packs).map(\.path))
        #expect(newer.contains { $0.hasPrefix("packs/\(estonia.tileset)/0/0/0/") && named.contains($0) })
        let gone = named.subtracting(newer)
        #expect(!gone.isEmpty)
        let pruned = try await packhorse(["catalog", "prune", catalog.path, "--all", "--signing-key", key.path])
        #expect(gone.allSatisfy { pruned.output.contains($0) })
        #expect(try files(catalog) == newer)
        _ = try await packhorse(["catalog", "push", catalog.path, web.path, "--prune"])
        #expect(try files(web) == newer)
        _ = try await packhorse(["catalog", "verify", web.path, "--public-key", shown])

        // The device follows, and does not go back: the old catalog has a valid signature, and is refused.
        _ = try await packhorse(install.map { $0 == catalog.path ? web.path : $0 } + ["EE", "LV"])
        #expect(try files(device) == newer)
        let back = [
            "device", "install", "EE", "--catalog", old.path, "--store", device.path, "--public-key", shown,
            "--tile-packs",
        ]
        let refused = try await packhorse(back, status: 65)
        #expect(refused.errors.contains("older") && refused.errors.contains("--allow-older"), "\(refused.errors)")
        #expect(try files(device) == newer)
        _ = try await packhorse(back + ["--allow-older"])
        try await cluster.stop()
    }

    /// A mask that the package was not built for does not make packs complete, neither in a folder nor in the catalog.
    @Test(.timeLimit(.programs))
    func borderPacksOfAnAreaThatWasNotWidenedArePartial() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 1, in: scratch)
        let job = try await cluster.build(["LI", "--zoom", "0-8", "--tileset", origin.tileset])
        #expect(job.packages.map(\.id) == ["LI"])
        let wide = try await Program.run(["mask", "LI", "--zoom", "8", "--tile-packs"], in: scratch)
        let file = cluster.catalog.appending(path: "packages/1/LI.mbtiles").path
        let out = scratch.url("packs")
        let mask = wide.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let cut = ["packs", file, "-o", out.path, "--tileset", "demo", "--mask", mask]
        let outcome = try await Program.run(cut, in: scratch)
        #expect(outcome.status == 0 && outcome.output.contains("0 complete"), "\(outcome.output)\(outcome.errors)")
        let list = try lists(out, ["LI"])[0]
        #expect(list.packs.map { "\($0.index)" } == ["0/0/0", "6/33/22"] && list.packs.allSatisfy { !$0.isComplete })
        let whole = try await Program.run(["packs", cluster.catalog.path, "--bands", "0@0,1-8@1"], in: scratch)
        #expect(whole.status == 0, "\(whole.errors)")
        // The world at zoom 0 is there as a whole.
        #expect(try lists(cluster.catalog, ["LI"])[0].packs.map(\.isComplete) == [true, false])
        try await cluster.stop()
    }

    /// Effects of a job on the catalog are reported before anything is fetched: LI exists, from tileset bare, with
    /// packs.
    private func checkOutlook(_ cluster: Cluster, _ bare: URL, _ url: String) async throws {
        let jobs = try await cluster.run(["jobs", "--quiet"]).output
        let other = cluster.scratch.url("other.yaml")
        try Data("id: other\nurl: \(url)\nzoom: 0-5\nformat: pbf\n".utf8).write(to: other)
        let build = ["LI", "--zoom", "0-5", "--tileset", other.path]
        for start in [["submit"], ["submit", "--dry-run"], ["schedule", "add", "s", "--every", "daily 01:00"]] {
            let refused = try await cluster.run(start + build)
            #expect(refused.status == 65, "\(start): \(refused.errors)")
            #expect(refused.errors.contains("'bare'") && refused.errors.contains("--replace-tileset"))
        }
        #expect(try await cluster.run(["jobs", "--quiet"]).output == jobs)
        #expect(
            try await cluster.run(["submit", "--dry-run", "--replace-tileset", "--replace-area"] + build).status == 0)
        // Widened to whole packs it was 64 tiles of zoom 5; without it is one.
        let without = ["LI", "--zoom", "0-5", "--replace-area", "--tileset", bare.path]
        for start in [["submit", "--dry-run"], ["schedule", "add", "s", "--every", "daily 01:00"]] {
            let warned = try await cluster.run(start + without)
            #expect(warned.status == 0, "\(warned.errors)")
            #expect(warned.errors.contains("'LI'") && warned.errors.contains("--tile-packs"), "\(warned.errors)")
            let warnings = warned.errors.split(separator: "\n").filter { $0.hasPrefix("packhorse: warning: ") }
            #expect(warnings.contains { $0.contains("'LI'") } && !warned.errors.contains(#"\n"#), "\(warned.errors)")
            #expect(try await !cluster.run(start + without + ["--tile-packs"]).errors.contains("lose"))
        }
        #expect(FileManager.default.fileExists(atPath: cluster.catalog.appending(path: "regions/LI.json").path))
        _ = try await cluster.build(without)
        #expect(!FileManager.default.fileExists(atPath: cluster.catalog.appending(path: "regions/LI.json").path))
        #expect(cluster.coordinator?.said.contains("those of the previous version are gone") == true)
        // A stranger's package tells no tileset: the others are cut all the same.
        let package = cluster.catalog.appending(path: "packages/2/LI.mbtiles").path
        let alien = ["catalog", "import", cluster.catalog.path, package, "--id", "alien"]
        #expect(try await Program.run(alien, in: cluster.scratch).status == 0)
        let cut = try await Program.run(["packs", cluster.catalog.path], in: cluster.scratch)
        #expect(cut.status == 0 && cut.errors.contains("'alien'") && cut.errors.contains("--tileset"), "\(cut.errors)")
        #expect(cut.output.contains("LI  ") && !cut.output.contains("alien  "), "\(cut.output)")
    }

    @Test(.timeLimit(.programs))
    func bandsComeFromTheTilesetFileElseFromItsTileJSON() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 1, in: scratch)
        let document = """
            {"tilejson": "3.0.0", "tiles": ["\(origin.url)/tiles/{z}/{x}/{y}.pbf"], "minzoom": 0, "maxzoom": 14,
             "packhorse:tile_packs": [{"minzoom": 0, "maxzoom": 3}, {"minzoom": 4, "maxzoom": 7, "index_zoom": 2}]}
            """
        let server = try ScriptedServer { _ in .reply(200, body: Array(document.utf8)) }
        defer { server.stop() }
        let bare = scratch.url("bare.yaml")
        try Data("id: bare\nurl: \(server.url)/t.json\n".utf8).write(to: bare)
        let own = scratch.url("own.yaml")
        try Data("id: own\nurl: \(server.url)/t.json\ntile_packs: 0-4@0,5-7@5\n".utf8).write(to: own)
        _ = try await cluster.build(["LI", "--zoom", "0-6", "--tile-packs", "--tileset", bare.path])
        _ = try await cluster.build([
            "LI", "--zoom", "0-6", "--tile-packs", "--tileset", own.path, "--group", "other",
        ])
        let found = try lists(cluster.catalog, ["LI"])[0]
        #expect(found.bands == "0-3@0,4-7@2" && found.packs.map { "\($0.index)" } == ["0/0/0", "2/2/1"])
        #expect(found.packs.map(\.zooms.max) == [3, 6] && found.packs.allSatisfy(\.isComplete))
        let other = try lists(cluster.catalog.appending(path: "groups/other"), ["LI"])[0]
        #expect(other.bands == "0-4@0,5-7@5")
        let proven = try await Program.run(["catalog", "verify", cluster.catalog.path], in: scratch)
        #expect(proven.status == 0, "\(proven.errors)")
        try await checkOutlook(cluster, bare, "\(origin.url)/tiles/{z}/{x}/{y}.pbf")
        // What cannot be bands is said before anything is submitted.
        try Data("url: \(server.url)/t.json\ntile_packs: 0-5@9\n".utf8).write(to: own)
        let wrong = try await cluster.run(["submit", "LI", "--tile-packs", "--tileset", own.path])
        #expect(wrong.status == 78 && wrong.errors.contains("tile_packs"), "\(wrong.errors)")
        try await cluster.stop()
    }
}
