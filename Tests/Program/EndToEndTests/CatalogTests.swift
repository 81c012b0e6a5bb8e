import Foundation
import TestSupport
import Testing

/// A catalog's life through real processes: signed, published, proven, patched, installed, pruned.
@Suite(.serialized)
struct CatalogLifeTests {
    private func file(_ cluster: Cluster, _ path: String) -> URL { cluster.catalog.appending(path: path) }

    @Test(.timeLimit(.programs))
    func aSignedCatalogIsBuiltProvenAndInstalled() async throws {
        let scratch = try Scratch()
        let key = scratch.url("catalog.key")
        let made = try await Program.run(["catalog", "keygen", key.path], in: scratch)
        #expect(made.status == 0 && made.output.hasPrefix("ed25519-public:"), "\(made.errors)")
        let shown = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(
            workers: 1, coordinatorArguments: ["--signing-key", key.path, "--keep-versions", "2"], in: scratch)
        // More zooms are other bytes: each build is a new version.
        for zooms in ["0-8", "0-9", "0-10"] {
            let job = try await cluster.build(["LI", "--tileset", origin.tileset, "--zoom", zooms])
            #expect(job.packages.first?.state == "published")
        }
        let index = try String(contentsOf: file(cluster, "catalog.json"), encoding: .utf8)
        for expected in [#""Liechtenstein""#, #""packages/3/LI.mbtiles""#, #""packages/2/LI.mbtiles""#] {
            #expect(index.contains(expected), "\(expected)")
        }
        #expect(!FileManager.default.fileExists(atPath: file(cluster, "packages/1/LI.mbtiles").path))
        let proven = try await Program.run(
            ["catalog", "verify", cluster.data.path, "--public-key", shown], in: scratch)
        #expect(proven.status == 0 && proven.output.contains("signed by"), "\(proven.errors)")
        #expect(try await Program.run(["verify", cluster.catalog.path], in: scratch).status == 0)

        let device = scratch.url("device")
        let told = try await Program.run(
            [
                "device", "install", "LI", "--catalog", cluster.catalog.path, "--store", device.path, "--public-key",
                shown, "--dry-run",
            ],
            in: scratch)
        #expect(told.status == 0 && told.output.contains("to download"), "\(told.errors)")
        #expect(!FileManager.default.fileExists(atPath: device.path), "a dry run changes nothing")
        let installed = try await Program.run(
            [
                "device", "install", "LI", "--catalog", cluster.catalog.path, "--store", device.path, "--public-key",
                shown,
            ], in: scratch)
        #expect(installed.status == 0, "\(installed.errors)")
        #expect(
            try Data(contentsOf: try await Device.file("LI", in: device, scratch))
                == Data(contentsOf: file(cluster, "packages/3/LI.mbtiles")))
        try await cluster.stop()

        // A coordinator without the key does not touch it, and neither does a command.
        let keyless = try await Program.run(["coordinator", "--data", cluster.data.path], in: scratch)
        #expect(keyless.status == 78 && keyless.errors.contains("--signing-key"), "\(keyless.errors)")
        let pruned = try await Program.run(["catalog", "prune", cluster.catalog.path, "--keep", "1"], in: scratch)
        #expect(pruned.status == 78, "\(pruned.errors)")
        let done = try await Program.run(
            ["catalog", "prune", cluster.catalog.path, "--keep", "1", "--signing-key", key.path], in: scratch)
        #expect(done.status == 0 && done.output.contains("packages/2/LI.mbtiles"), "\(done.errors)")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key.path)
        let open = try await Program.run(
            ["catalog", "prune", cluster.catalog.path, "--signing-key", key.path], in: scratch)
        #expect(open.status == 77 && open.errors.contains("chmod 600"), "\(open.errors)")

        var bytes = try Data(contentsOf: file(cluster, "packages/3/LI.mbtiles"))
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: file(cluster, "packages/3/LI.mbtiles"))
        let damaged = try await Program.run(
            ["catalog", "verify", cluster.catalog.path, "--public-key", shown], in: scratch)
        #expect(damaged.status == 65 && damaged.errors.contains("packages/3/LI.mbtiles"), "\(damaged.errors)")
    }

    /// Two real versions of one place, eight years apart.
    @Test(.timeLimit(.programs), .enabled(if: RealData.absence == nil, "\(RealData.absence ?? "")"))
    func importedVersionsBecomeAPatchAndAnUpdate() async throws {
        let scratch = try Scratch()
        let versions = ["monaco-2012.mbtiles", "monaco-2021.mbtiles"].map(RealData.file)
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 1, in: scratch)
        _ = try await cluster.build(["LI", "--tileset", origin.tileset, "--zoom", "0-4"])
        try await cluster.stop()
        func packhorse(_ arguments: [String]) async throws -> Program.Outcome {
            let outcome = try await Program.run(arguments, in: scratch)
            #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
            return outcome
        }
        let (catalog, device) = (cluster.catalog.path, scratch.url("device"))
        _ = try await packhorse([
            "catalog", "import", catalog, versions[0].path, "--id", "MC", "--data-date", "2012-01-01", "--rewrite",
        ])
        _ = try await packhorse(["device", "install", "MC", "--catalog", catalog, "--store", device.path])
        _ = try await packhorse([
            "catalog", "import", catalog, versions[1].path, "--id", "MC", "--data-date", "2021-01-01", "--rewrite",
        ])
        _ = try await packhorse(["catalog", "patch", catalog])
        let proven = try await packhorse(["catalog", "verify", catalog])
        #expect(proven.output.contains("2 packages"))
        let offer = try await packhorse(["device", "update", "--store", device.path, "--dry-run"])
        #expect(offer.output.contains("MC"))
        _ = try await packhorse(["device", "update", "--store", device.path])
        let listed = try await packhorse(["device", "list", "--catalog", catalog])
        #expect(listed.output.contains("Monaco") && listed.output.contains("2021"))
        #expect(
            try Data(contentsOf: try await Device.file("MC", in: device, scratch))
                == Data(contentsOf: file(cluster, "packages/2/MC.mbtiles")))
    }
}
