import CatalogFormat
import Foundation
import TestSupport
import Testing

/// A build is published into a staging catalog, compared, promoted and rolled back; a device follows in both directions.
@Suite(.serialized, .timeLimit(.programs))
struct StagingTests {
    private let scratch: Scratch
    private let key: URL
    private let staging: URL

    init() throws {
        scratch = try Scratch()
        (key, staging) = (scratch.url("catalog.key"), scratch.url("staging"))
    }

    private func cluster() async throws -> (Cluster, publicKey: String) {
        let made = try await Program.run(["catalog", "keygen", key.path], in: scratch)
        try #require(made.status == 0, "\(made.errors)")
        let cluster = try await Cluster(
            workers: 1,
            coordinatorArguments: ["--signing-key", key.path, "--also-catalog", "staging=\(staging.path)"], in: scratch)
        return (cluster, made.output.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    private func sequence(_ folder: URL) throws -> Int64 {
        let bytes = Array(try Data(contentsOf: folder.appending(path: "catalog.json")))
        return try CatalogIndex(decoding: bytes).sequence ?? 0
    }

    private func json(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test func aDeviceFollowsForwardAndBack() async throws {
        let origin = try await DemoOrigin(in: scratch)
        let (cluster, publicKey) = try await cluster()
        let tileset = ["LI", "--tileset", origin.tileset]
        _ = try await cluster.build(tileset + ["--zoom", "0-8"])
        _ = try await cluster.build(tileset + ["--zoom", "0-9", "--into", "staging"])
        let store = scratch.url("device")
        func device(_ arguments: [String]) async throws {
            let outcome = try await Program.run(["device"] + arguments + ["--store", store.path], in: scratch)
            #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
        }
        try await device(["install", "LI", "--catalog", cluster.catalog.path, "--public-key", publicKey])
        let old = try Data(contentsOf: cluster.catalog.appending(path: "packages/1/LI.mbtiles"))
        let new = try Data(contentsOf: staging.appending(path: "packages/1/LI.mbtiles"))
        func installed() async throws -> Data { try Data(contentsOf: try await Device.file("LI", in: store, scratch)) }
        #expect(try await installed() == old)

        let compared = try await cluster.run(["catalog", "diff", "staging", "main", "--json"])
        #expect(compared.status == 0, "\(compared.errors)")
        #expect(
            try (json(compared.output)["packages"] as? [[String: Any]])?.map { $0["change"] as? String } == ["changed"])
        let before = try sequence(cluster.catalog)
        let dry = try await cluster.run(["catalog", "promote", "staging", "main", "--dry-run"])
        #expect(dry.status == 0 && dry.errors.contains("would be promoted"), "\(dry.errors)")
        #expect(try sequence(cluster.catalog) == before)

        let promoted = try await cluster.run(["catalog", "promote", "staging", "main", "--json"])
        #expect(promoted.status == 0, "\(promoted.errors)")
        #expect(try json(promoted.output)["sequence"] as? Int64 == before + 1)
        try await device(["update"])
        #expect(try await installed() == new)

        let back = try await cluster.run(["catalog", "rollback", "main"])
        #expect(back.status == 0 && back.errors.contains("rolled back"), "\(back.errors)")
        let repeated = try await cluster.run(["catalog", "rollback", "main"])
        #expect(repeated.status == 0 && repeated.errors.contains("nothing to change"), "\(repeated.errors)")
        #expect(try sequence(cluster.catalog) == before + 2)
        try await device(["update"])
        #expect(try await installed() == old)

        let forward = try await cluster.run(["catalog", "rollback", "main", "LI", "--to", "2"])
        #expect(forward.status == 0, "\(forward.errors)")
        try await device(["update"])
        #expect(try await installed() == new)
        let proven = try await Program.run(
            ["catalog", "verify", cluster.catalog.path, "--public-key", publicKey], in: scratch)
        #expect(proven.status == 0, "\(proven.errors)")
        try await cluster.stop()
    }

    /// What the order says of a bad build, and that nothing of it is published.
    @Test func aBadBuildIsSeenAndRefused() async throws {
        let origin = try await DemoOrigin(in: scratch)
        let (cluster, publicKey) = try await cluster()
        let tileset = ["LI", "--tileset", origin.tileset]
        _ = try await cluster.build(tileset + ["--zoom", "0-9"])
        _ = try await cluster.build(tileset + ["--zoom", "0-2", "--into", "staging"])
        let before = try Data(contentsOf: cluster.catalog.appending(path: "catalog.json"))
        let compared = try await cluster.run(["catalog", "diff", "staging", "main", "--max-shrink", "10%"])
        #expect(compared.status == 1 && compared.errors.contains("LI loses"), "\(compared.errors)")
        #expect(compared.output.contains("zooms 0-9 to 0-2"), "\(compared.output)")
        for names in [["staging", "main"], [staging.path, cluster.catalog.path, "--signing-key", key.path]] {
            let refused = try await cluster.run(["catalog", "promote"] + names)
            #expect(refused.status == 65 && refused.errors.contains("would shrink"), "\(refused.errors)")
        }
        for (wrong, status) in [
            (["promote", "staging", "nowhere"], 66), (["promote", "staging", cluster.catalog.path], 64),
            (["promote", "staging", "main", "XX"], 66), (["rollback", "main", "LI", "--to", "7"], 66),
            (["rollback", "main", "--to", "7"], 64), (["diff", "nowhere", "main"], 66),
            (["diff", "staging", "main", "--max-shrink", "ten"], 64),
            (["promote", "staging", "main", "--max-shrink", "1"], 64),
            (["promote", staging.path, cluster.catalog.path, "--max-shrink", "100%"], 78),
        ] as [([String], Int32)] {
            let outcome = try await cluster.run(["catalog"] + wrong)
            #expect(outcome.status == status, "\(wrong): \(outcome.status) \(outcome.errors)")
        }
        #expect(try Data(contentsOf: cluster.catalog.appending(path: "catalog.json")) == before)
        let allowed = try await cluster.run(["catalog", "promote", "staging", "main", "--max-shrink", "100%"])
        #expect(allowed.status == 0, "\(allowed.errors)")
        let proven = try await Program.run(
            ["catalog", "verify", cluster.catalog.path, "--public-key", publicKey], in: scratch)
        #expect(proven.status == 0, "\(proven.errors)")
        try await cluster.stop()
    }

    /// The coordinator publishes into a catalog that commands change at the same time: nothing is lost.
    @Test func aRunningCoordinatorAndCommandsTakeTurns() async throws {
        let origin = try await DemoOrigin(in: scratch)
        let (cluster, publicKey) = try await cluster()
        let regions = ["LI", "AD", "MC", "SM", "VA", "MT"]
        for region in regions.prefix(3) {
            _ = try await cluster.build([region, "--tileset", origin.tileset, "--zoom", "0-6", "--into", "staging"])
        }
        let (live, control) = (cluster.catalog.path, cluster.control)
        let submissions = try regions.suffix(3).map { region in
            try Daemon(
                [
                    "submit", region, "--tileset", origin.tileset, "--zoom", "0-6", "--wait", "--progress", "none",
                    "--coordinator", control,
                ], in: scratch)
        }
        let promotions = try regions.prefix(3).map { region in
            try Daemon(
                ["catalog", "promote", staging.path, live, region, "--signing-key", key.path], in: scratch)
        }
        for process in submissions + promotions {
            try await Eventually.holds("the command ends") { !process.isRunning }
            #expect(process.status == 0, "\(process.said)")
        }
        let proven = try await Program.run(
            ["catalog", "verify", live, "--public-key", publicKey], in: scratch)
        #expect(proven.status == 0, "\(proven.errors)")
        #expect(proven.output.contains("6 packages"), "\(proven.output)")
        try await cluster.stop()
    }
}
