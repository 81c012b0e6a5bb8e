import Foundation
import Testing

/// `packhorse style-pack` against the built-in world.
@Suite(.serialized, .timeLimit(.programs))
struct StylePackCommandTests {
    @Test func aStyleOfTheDemoWorldIsPacked() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let style = "\(origin.url)/style.json"
        let plan = try await Program.run(["style-pack", style, "--dry-run", "--json"], in: scratch)
        #expect(plan.status == 0, "\(plan.errors)")
        let planned = try #require(try JSONSerialization.jsonObject(with: Data(plan.output.utf8)) as? [String: Any])
        #expect(planned["resources"] as? Int == 1 + 1 + 4 + 131)
        #expect(planned["font_stacks"] as? [String] == ["Demo Regular"])

        let folder = scratch.url("style")
        let made = try await Program.run(["style-pack", style, "-o", folder.path, "--json"], in: scratch)
        #expect(made.status == 0, "\(made.errors)")
        let report = try #require(try JSONSerialization.jsonObject(with: Data(made.output.utf8)) as? [String: Any])
        #expect(report["resources"] as? Int == 137 && report["absent"] as? Int == 0)
        let again = try await Program.run(["style-pack", style, "-o", folder.path], in: scratch)
        #expect(again.status == 0 && again.output.contains("137 kept"), "\(again.output) \(again.errors)")

        let archive = scratch.url("style.zip")
        #expect(try await Program.run(["style-pack", style, "-o", archive.path, "--quiet"], in: scratch).status == 0)
        let bytes = try Data(contentsOf: archive)
        try FileManager.default.removeItem(at: archive)
        #expect(try await Program.run(["style-pack", style, "-o", archive.path, "--quiet"], in: scratch).status == 0)
        #expect(try Data(contentsOf: archive) == bytes)
        #expect(try await Program.run(["style-pack", style, "-o", archive.path], in: scratch).status == 73)
    }

    /// A package of an irregular country becomes a database that clients call complete.
    @Test func anOfflineDatabaseIsMadeOfAPackage() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 1, in: scratch)
        let job = try await cluster.build(["LV", "--tileset", origin.tileset, "--zoom", "0-9"])
        let package = try #require(job.packages.first?.path)
        try await cluster.stop()
        let style = scratch.url("style").path
        let packed = try await Program.run(
            ["style-pack", "\(origin.url)/style.json", "-o", style, "--quiet"], in: scratch)
        #expect(packed.status == 0, "\(packed.errors)")
        let database = scratch.url("LV.maplibre.db")
        let convert = ["convert", package, "--format", "maplibre", "-o", database.path]
        #expect(try await Program.run(convert, in: scratch).status == 64)
        let made = try await Program.run(
            convert + ["--style-pack", style, "--data-date", "2026-11-01", "--json"], in: scratch)
        #expect(made.status == 0, "\(made.errors)")
        let verified = try await Program.run(["verify", database.path, style], in: scratch)
        #expect(
            verified.status == 0 && verified.output.contains("sealed")
                && verified.output.contains("style pack verified: 137 resources"),
            "\(verified)")
        let inspected = try await Program.run(["inspect", database.path, "--json"], in: scratch)
        let report = try #require(try JSONSerialization.jsonObject(with: Data(inspected.output.utf8)) as? [String: Any])
        #expect(report["kind"] as? String == "MapLibre")
        #expect(report["tiles"] as? Int == Int(job.stored))
        var bytes = try Data(contentsOf: database)
        bytes[bytes.count / 2] ^= 4
        try bytes.write(to: database)
        #expect(try await Program.run(["verify", database.path], in: scratch).status == 65)
        try Data("{}".utf8).write(to: scratch.url("style/sources/world.json"))
        #expect(try await Program.run(["verify", style], in: scratch).status == 65)
    }

    @Test func wrongInputIsSaid() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        for (arguments, status) in [
            (["\(origin.url)/tiles.json", "-o", scratch.url("a").path], Int32(65)),
            (["\(origin.url)/nothing", "-o", scratch.url("b").path], 69),
            ([scratch.url("no.json").path, "-o", scratch.url("c").path], 66),
            (["\(origin.url)/style.json"], 64),
            (["https://tile.openstreetmap.org/s.json", "-o", scratch.url("d").path], 77),
            (["\(origin.url)/style.json?k={key}", "-o", scratch.url("e").path], 78),
            (["\(origin.url)/style.json", "-o", scratch.folder.path], 73),
        ] {
            let outcome = try await Program.run(["style-pack"] + arguments, in: scratch)
            #expect(outcome.status == status, "\(arguments): \(outcome.errors)")
        }
    }
}
