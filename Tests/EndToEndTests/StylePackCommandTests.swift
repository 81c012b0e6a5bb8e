import Foundation
import Testing

/// `packhorse style-pack` against the built-in world.
@Suite(.timeLimit(.minutes(4)))
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
