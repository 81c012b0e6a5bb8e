import Foundation
import TestSupport
import Testing

/// `--changed`: real processes, and an origin that counts what it is asked.
@Suite(.serialized)
struct ChangedTilesTests {
    private static let area = ["EE", "--zoom", "0-9"]

    @Test(.timeLimit(.programs))
    func onlyListedTilesAreAskedAndTheRestIsKept() async throws {
        let scratch = try Scratch()
        let origin = try ChangingOrigin(in: scratch)
        defer { origin.stop() }
        let cluster = try await Cluster(workers: 2, in: scratch)
        let arguments = Self.area + ["--tileset", origin.tileset]
        let first = try await cluster.build(arguments)
        #expect(origin.counts() == (first.tiles, 0))
        // Tallinn's tile changes, and another that is not in the list.
        origin.change("9/291/150")
        origin.change("9/289/151")
        let list = scratch.url("expired.txt")
        try Data("# of a test\n9/291/150\n".utf8).write(to: list)
        let second = try await cluster.build(arguments + ["--changed", list.path])
        let asked = origin.counts()
        // The tile and its nine ancestors; only the tile itself is new.
        #expect(asked.bodies + asked.confirmed == 10 && asked.bodies == 1, "\(asked)")
        #expect(second.packages.map(\.version) == [2])
        let status = try await cluster.run(["status", "\(second.job)"]).output
        #expect(status.contains("the rest was not asked") && status.contains("10 tiles"), "\(status)")
        let catalog = try String(contentsOf: cluster.catalog.appending(path: "catalog.json"), encoding: .utf8)
        #expect(catalog.contains("\"asked\":\"changed\"") || catalog.contains("\"asked\" : \"changed\""), "\(catalog)")
        let packages = cluster.catalog.appending(path: "packages.json")
        #expect(try String(contentsOf: packages, encoding: .utf8).contains("\"asked\""))
        // A build without a list finds what the list forgot, and the catalog says so.
        let third = try await cluster.build(arguments)
        #expect(origin.counts() == (1, third.tiles - 1))
        #expect(third.packages.map(\.version) == [3])
        #expect(try !String(contentsOf: packages, encoding: .utf8).contains("\"asked\""))
        try await cluster.stop()
    }

    @Test(.timeLimit(.programs))
    func wrongListsAndSourcesAreNamed() async throws {
        let scratch = try Scratch()
        let origin = try ChangingOrigin(in: scratch)
        defer { origin.stop() }
        let list = scratch.url("expired.txt")
        try Data("9/291/150\n9/291\n".utf8).write(to: list)
        func run(_ more: [String], tileset: String) async throws -> Program.Outcome {
            try await Program.run(
                ["submit", "EE", "--zoom", "0-9", "--tileset", tileset, "--coordinator", "tcp://127.0.0.1:1"] + more,
                in: scratch)
        }
        let wrong = try await run(["--changed", list.path], tileset: origin.tileset)
        #expect(wrong.status == 65 && wrong.errors.contains("line 2: '9/291' is no tile"), "\(wrong.errors)")
        let absent = try await run(["--changed", list.path + ".gz"], tileset: origin.tileset)
        #expect(absent.status == 66, "\(absent.errors)")
        try Data([0x1F, 0x8B, 8, 0, 1]).write(to: list)
        let cut = try await run(["--changed", list.path], tileset: origin.tileset)
        #expect(cut.status == 65 && cut.errors.contains("cannot be unpacked"), "\(cut.errors)")
        let local = try await Program.run(
            ["build", "EE", "--zoom", "0-9", "--tileset", origin.tileset, "--changed", list.path], in: scratch)
        #expect(local.status == 64 && local.errors.contains("--coordinator"), "\(local.errors)")
    }
}
