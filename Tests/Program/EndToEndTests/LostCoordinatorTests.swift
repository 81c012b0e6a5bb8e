import Foundation
import TestSupport
import Testing

/// The machine and the disk of the coordinator are lost in the middle of a job.
@Suite(.serialized)
struct LostCoordinatorTests {
    /// What `health --json` says of backups.
    private struct Health: Decodable {
        let backupAgeSeconds: Double?
    }

    @Test(.timeLimit(.programs))
    func anotherCoordinatorEndsTheJobFromTheBackups() async throws {
        let scratch = try Scratch()
        let origin = try SyntheticOrigin(in: scratch)
        defer { origin.stop() }
        let (catalog, blobs, place) = (scratch.url("catalog"), scratch.url("blobs"), scratch.url("place"))
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let cluster = try await Cluster(
            workers: 1,
            coordinatorArguments: [
                "--catalog", catalog.path, "--restore-from", place.path, "--backup-every", "1s",
            ], blobs: ["--blobs", blobs.path], in: scratch)
        let published = try await cluster.build(["LV", "--zoom", "0-6", "--tileset", origin.tileset])

        origin.gate.allow(300)
        let job = try await cluster.submit(["EE", "--zoom", "0-11", "--tileset", origin.tileset])
        try await Eventually.holds("the job is in its middle") { origin.gate.isHolding }
        let before = try await cluster.status(job)
        #expect(before.state == "fetching")
        // Nothing changes while the origin holds all requests: the next backups show what was done.
        let seen = Date()
        try await Eventually.holds("a backup shows this") {
            // The newest backup is of this time, or nothing has changed since.
            let health = try await cluster.run(["health", "--json"])
            guard health.status == 0 else { return false }
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            let age = try decoder.decode(Health.self, from: Data(health.output.utf8)).backupAgeSeconds
            return age.map { Date().addingTimeInterval(-$0 - 1) > seen } ?? false
        }

        try await cluster.coordinator?.killNow()
        try FileManager.default.removeItem(at: cluster.data)
        try await cluster.startCoordinator()
        let resumed = try await cluster.status(job)
        #expect(resumed.batchesDone >= before.batchesDone)
        origin.gate.open()
        let outcome = try await cluster.run(["watch", job, "--json", "--progress", "none"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let ended = try Job(json: outcome.output)
        #expect(ended.state == "done" && ended.failed == 0)
        let list = try String(contentsOf: catalog.appending(path: "packages.json"), encoding: .utf8)
        #expect(list.contains("\"LV\"") && list.contains("\"EE\""))
        let path = try #require(published.packages.first?.path)
        #expect(FileManager.default.fileExists(atPath: path))
        let verified = try await Program.run(["verify", catalog.path], in: scratch)
        #expect(verified.status == 0, "\(verified.errors)")
        let listed = try await Program.run(["state", "backups", place.path], in: scratch)
        #expect(listed.status == 0 && listed.output.contains("TIME"), "\(listed.errors)")
        let health = try await cluster.run(["health"])
        #expect(health.status == 0 && health.output.contains("backup"), "\(health.output)\(health.errors)")
        try await cluster.stop()
    }
}
