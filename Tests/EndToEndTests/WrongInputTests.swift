import Foundation
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

    @Test(.timeLimit(.minutes(15)))
    func anUnknownRegionIsNamedWithSuggestions() async throws {
        let scratch = try Scratch()
        let outcome = try await Program.run(["mask", "Estonai"], in: scratch)
        check(outcome, status: 66, says: "Estonai", "Estonia")
    }

    @Test(
        .timeLimit(.minutes(15)),
        arguments: [
            "bbox(24.5,59.3,25.0)", "bbox(24.5,59.5,25.0,59.3)", "bbox(a,b,c,d)", "bbox(0,0,999,1)", "bbox(0,86,10,90)",
        ])
    func aMalformedBoxIsExplained(box: String) async throws {
        let scratch = try Scratch()
        check(try await Program.run(["mask", box], in: scratch), status: 64, says: "box")
    }

    @Test(.timeLimit(.minutes(15)))
    func anUnreachableCoordinatorIsNamed() async throws {
        let scratch = try Scratch()
        let outcome = try await Program.run(
            ["jobs", "--coordinator", "tcp://127.0.0.1:9", "--timeout", "1"], in: scratch)
        check(outcome, status: 69, says: "tcp://127.0.0.1:9", "packhorse coordinator")
    }

    @Test(.timeLimit(.minutes(15)))
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

    @Test(.timeLimit(.minutes(15)))
    func aHostThatForbidsBulkDownloadIsRefused() async throws {
        let scratch = try Scratch()
        let file = scratch.url("osm.yaml")
        try Data("id: osm\nurl: https://tile.openstreetmap.org/{z}/{x}/{y}.png\nformat: png\nzoom: 0-14\n".utf8).write(
            to: file)
        check(
            try await Program.run(["estimate", "EE", "--tileset", file.path], in: scratch), status: 77,
            says: "tile.openstreetmap.org", "polic")
    }

    @Test(.timeLimit(.minutes(15)))
    func aBoxAboveTheLimitIsRefusedWithItsCount() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 0, in: scratch)
        let box = ["submit", "bbox(20,55,30,60)", "--tileset", origin.tileset, "--zoom", "0-12"]
        check(try await cluster.run(box), status: 64, says: "limit is 5000", "--tile-limit")
        let raised = try await cluster.run(box + ["--tile-limit", "100000", "--dry-run"])
        #expect(raised.status == 0, "\(raised.errors)")
        #expect(try await cluster.run(["jobs", "--quiet"]).output.isEmpty, "neither left a job")
        try await cluster.stop()
    }

    @Test(.timeLimit(.minutes(15)))
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
