import CatalogFormat
import Foundation
import TestSupport
import Testing
import Tiles

/// Steps after jobs with real processes: coordinators that are killed, a folder, a bucket, and places that fail.
@Suite(.serialized, .timeLimit(.programs))
struct StepTests {
    private static let regions = ["EE", "LI", "MT"]

    private struct Step: Decodable {
        let step: String
        let state: String
        let attempts: Int
        let result: String?
        let cause: String?
    }
    private struct View: Decodable {
        let state: String
        let steps: [Step]
    }

    private func view(_ cluster: Cluster, _ job: String) async throws -> View {
        let outcome = try await cluster.run(["status", job, "--json"])
        try #require(outcome.status == 0, "\(outcome.errors)")
        return try JSONDecoder().decode(View.self, from: Data(outcome.output.utf8))
    }

    private func listed(_ catalog: URL) throws -> [String] {
        guard let bytes = try? Data(contentsOf: catalog.appending(path: "catalog.json")) else { return [] }
        return try CatalogIndex(decoding: Array(bytes)).packages.map { "\($0.id) \($0.versions.first?.version ?? 0)" }
    }

    /// Kills the coordinator again and again while it runs steps, until they are done; returns the kills.
    private func killUntilDone(
        _ cluster: Cluster, _ job: String, seed: UInt64, _ check: () async throws -> Void
    ) async throws -> Int {
        var random = SplitMix(state: seed)
        for kill in 0..<16 {
            // The moment of the kill; nothing is expected of it.
            try await Task.sleep(for: .milliseconds(random.next() % 600))
            try await cluster.coordinator?.killNow()
            try await check()
            try await cluster.startCoordinator()
            let seen = try await view(cluster, job)
            if seen.state == "done", seen.steps.allSatisfy({ $0.state == "done" }) { return kill + 1 }
        }
        try await Eventually.holds("the steps are done") {
            let seen = try await view(cluster, job)
            #expect(!seen.steps.contains { $0.state == "failed" }, "\(seen.steps)")
            return seen.state == "done" && seen.steps.allSatisfy { $0.state == "done" }
        }
        return 16
    }

    @Test(arguments: [3, 11] as [UInt64])
    func aKilledCoordinatorContinuesItsSteps(_ seed: UInt64) async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let (live, www) = (scratch.url("live"), scratch.url("www"))
        let cluster = try await Cluster(
            workers: 1,
            coordinatorArguments: [
                "--restart-grace-seconds", "1", "--also-catalog", "live=\(live.path)", "--push-to", www.path,
            ], in: scratch)
        let tileset = ["--tileset", origin.tileset]
        _ = try await cluster.build(Self.regions + tileset + ["--zoom", "0-6"])
        let job = try await cluster.submit(
            Self.regions + tileset + [
                "--zoom", "0-8", "--format", "mbtiles,pmtiles", "--then",
                "verify,prune=1,promote=live,push=\(www.path)",
            ])
        let all = Self.regions.map { "\($0) 1" }
        let kills = try await killUntilDone(cluster, job, seed: seed) {
            let seen = try listed(live)
            #expect(seen.isEmpty || seen == all, "all packages are promoted, or none: \(seen)")
            let pushed = try? Data(contentsOf: www.appending(path: "catalog.json"))
            if let pushed { #expect(try pushed == Data(contentsOf: live.appending(path: "catalog.json"))) }
        }
        // A promotion that was repeated has made no second version, and pruning has left the newest.
        #expect(try listed(live) == all && listed(cluster.catalog) == Self.regions.map { "\($0) 2" })
        #expect(!FileManager.default.fileExists(atPath: cluster.catalog.appending(path: "packages/1/EE.mbtiles").path))
        for place in [live, www] {
            let proven = try await Program.run(["catalog", "verify", place.path], in: scratch)
            #expect(proven.status == 0, "\(proven.errors)")
        }
        for file in ["catalog.json", "packages.json", "packages/1/EE.mbtiles", "packages/1/MT.pmtiles"] {
            #expect(
                try Data(contentsOf: www.appending(path: file)) == Data(contentsOf: live.appending(path: file)),
                "\(file)")
        }
        let events = try await cluster.run(["events", "--job", job, "--limit", "10000"])
        let begun = events.output.split(separator: "\n").filter { $0.contains(" step ") && $0.hasSuffix("running") }
            .count
        #expect(
            begun >= 4, "\(kills) kills, \(begun) beginnings of 4 steps: \(events.output.suffix(2_000))\(events.errors)"
        )
        try await cluster.stop()
    }

    @Test(.enabled(if: S3Server.obstacle == nil, "\(S3Server.obstacle ?? "")"))
    func aBucketGetsTheCatalogOverKills() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let server = try await S3Server.shared()
        let place = "s3://\(S3Server.bucket)/\(UUID().uuidString)"
        let cluster = try await Cluster(
            workers: 1,
            coordinatorArguments: [
                "--restart-grace-seconds", "1", "--push-to", place, "--s3-endpoint", server.endpoint,
            ], environment: S3Server.environment, in: scratch)
        let job = try await cluster.submit(
            Self.regions + ["--tileset", origin.tileset, "--zoom", "0-8", "--then", "push=\(place)/maps,verify"])
        _ = try await killUntilDone(cluster, job, seed: 5) {}
        // A push by hand finds every file and list there.
        let again = try await Program.run(
            [
                "catalog", "push", cluster.catalog.path, "\(place)/maps", "--s3-endpoint", server.endpoint, "--dry-run",
                "--json",
            ],
            environment: S3Server.environment, in: scratch)
        #expect(again.status == 0, "\(again.errors)")
        let report = try #require(try JSONSerialization.jsonObject(with: Data(again.output.utf8)) as? [String: Any])
        #expect(
            report["skipped"] as? Int == 3 && (report["sent"] as? [String])?.isEmpty == true, "\(again.output)")
        // A place that is not allowed is refused before anything is fetched.
        let other = try await cluster.run(
            [
                "submit", "EE", "--tileset", origin.tileset, "--zoom", "0-3", "--then",
                "push=s3://\(S3Server.bucket)/other",
            ])
        #expect(other.status == 65 || other.status == 64, "\(other.status)")
        #expect(other.errors.contains("--push-to") && other.errors.contains("may not push"), "\(other.errors)")
        try await cluster.stop()
    }

    @Test func aStepThatFailsIsToldAndContinuesByRetry() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let www = scratch.url("www")
        let cluster = try await Cluster(
            workers: 1, coordinatorArguments: ["--push-to", www.path], in: scratch)
        let area = ["LI", "--tileset", origin.tileset, "--zoom", "0-6"]
        // A catalog of other packages under the same names is there.
        let foreign = try await Cluster(workers: 1, in: scratch)
        _ = try await foreign.build(["LI", "--tileset", origin.tileset, "--zoom", "0-4"])
        try await foreign.stop()
        let copied = try await Program.run(["catalog", "push", foreign.catalog.path, www.path], in: scratch)
        #expect(copied.status == 0, "\(copied.errors)")
        let waited = try await cluster.run(["submit"] + area + ["--then", "push=\(www.path),verify", "--wait"])
        #expect(waited.status == 65, "\(waited.output)\(waited.errors)")
        #expect(
            waited.errors.contains("is done, but its step 'push=") && waited.errors.contains("other-catalog"),
            "\(waited.errors)")
        #expect(waited.errors.contains("packhorse retry 1"), "\(waited.errors)")
        let told = try await cluster.run(["status", "1"])
        #expect(
            told.output.contains("state    done, waits: step 1 of 2")
                && told.output.contains("step     verify  waiting"), "\(told.output)")
        let list = try await cluster.run(["jobs"])
        #expect(list.output.contains("done (step 1 of 2"), "\(list.output)")
        try FileManager.default.removeItem(at: www)
        let retried = try await cluster.run(["retry", "1"])
        #expect(
            retried.status == 0 && retried.errors.contains("continues with step 1 of 2"),
            "\(retried.output)\(retried.errors)")
        let watched = try await cluster.run(["watch", "1"])
        #expect(
            watched.status == 0 && watched.output.contains("step     verify  done  catalog verified"),
            "\(watched.output)\(watched.errors)")
        #expect(try listed(www) == ["LI 1"])
        for (steps, word) in [
            ("deploy", "not a step"), ("prune=0", "1 to 1000"), ("push", "push=/srv/www"),
            ("verify,,prune=1", "not a step"),
        ] {
            let refused = try await cluster.run(["submit"] + area + ["--then", steps])
            #expect(refused.status == 64 && refused.errors.contains(word), "\(steps): \(refused.errors)")
        }
        try await cluster.stop()
    }

    /// A schedule has steps as a job has them, with a folder that is relative to that of the command.
    @Test func aScheduleHasSteps() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let www = scratch.url("www")
        let cluster = try await Cluster(workers: 1, coordinatorArguments: ["--push-to", www.path], in: scratch)
        let added = try await cluster.run([
            "schedule", "add", "daily", "--every", "daily 01:00", "LI", "--tileset", origin.tileset, "--zoom", "0-6",
            "--then", "verify", "--then", "push=\(www.path)/../www/maps/",
        ])
        #expect(added.status == 0, "\(added.errors)")
        let ran = try await cluster.run(["schedule", "run", "daily"])
        #expect(ran.status == 0, "\(ran.errors)")
        try await Eventually.holds("the catalog is pushed") { try listed(www.appending(path: "maps")) == ["LI 1"] }
        try await cluster.stop()
    }
}
