import CatalogFormat
import Foundation
import TestSupport
import Testing
import Tiles

/// Jobs that publish all of their packages in one change, with coordinators that are killed.
@Suite(.serialized, .timeLimit(.programs))
struct TogetherTests {
    private static let regions = ["EE", "LI", "MT"]

    private func listed(_ catalog: URL) throws -> [String] {
        let bytes = try Data(contentsOf: catalog.appending(path: "catalog.json"))
        return try CatalogIndex(decoding: Array(bytes)).packages.map { "\($0.id) \($0.versions.first?.version ?? 0)" }
    }

    @Test func aKilledCoordinatorLeavesAllOrNone() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(
            workers: 1, coordinatorArguments: ["--restart-grace-seconds", "1"], in: scratch)
        let submission = Self.regions + ["--tileset", origin.tileset, "--together", "--zoom"]
        _ = try await cluster.build(submission + ["0-6"])
        let old = Self.regions.map { "\($0) 1" }
        let new = Self.regions.map { "\($0) 2" }
        #expect(try listed(cluster.catalog) == old)
        let job = try await cluster.submit(submission + ["0-8"])
        var random = SplitMix(state: 7)
        var state = ""
        for attempt in 0..<12 where state != "done" {
            // Closer and closer to the publication, which is at the end of the job.
            let status = try await cluster.status(job)
            state = status.state
            let held = status.packages.contains { $0.state == "publishing" }
            try await Task.sleep(for: .milliseconds(random.next() % (held ? 30 : 300)))
            try await cluster.coordinator?.killNow()
            let seen = try listed(cluster.catalog)
            #expect(seen == old || seen == new, "attempt \(attempt), \(state): \(seen)")
            try await cluster.startCoordinator()
        }
        try await Eventually.holds("the job is done") {
            let seen = try listed(cluster.catalog)
            #expect(seen == old || seen == new, "\(seen)")
            state = try await cluster.status(job).state
            return state == "done"
        }
        #expect(try listed(cluster.catalog) == new)
        let proven = try await Program.run(["catalog", "verify", cluster.catalog.path], in: scratch)
        #expect(proven.status == 0, "\(proven.errors)")
        try await cluster.stop()
    }

    @Test func aFailedPackageHoldsAllBackAndTheMessageSaysWhatToDo() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 1, in: scratch)
        let tileset = ["--tileset", origin.tileset]
        _ = try await cluster.build(["LI"] + tileset + ["--zoom", "0-9"])
        // LI would lose its deep zooms: it is refused, and so is MT.
        let job = try await cluster.submit(["LI", "MT"] + tileset + ["--zoom", "0-2", "--together"])
        try await Eventually.holds("the job fails") { try await cluster.status(job).state == "failed" }
        let told = try await cluster.run(["status", job])
        #expect(told.output.contains("nothing is published") && told.output.contains("--apart"), "\(told.output)")
        #expect(try listed(cluster.catalog) == ["LI 1"])
        let retried = try await cluster.run(["retry", job, "--apart"])
        #expect(retried.status == 0, "\(retried.errors)")
        try await Eventually.holds("MT is published") { try listed(cluster.catalog) == ["LI 1", "MT 1"] }
        let allowed = try await cluster.build(
            ["LI", "MT"] + tileset + ["--zoom", "0-2", "--together", "--allow-shrink"])
        #expect(allowed.state == "done")
        #expect(try listed(cluster.catalog) == ["LI 2", "MT 1"])
        try await cluster.stop()
    }

    /// A schedule and a list of packages have the option as a job has it.
    @Test func schedulesAndListsPublishTogether() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 1, in: scratch)
        let list = scratch.url("list.yaml")
        try Data("[{id: west, bbox: '23,58,24,59'}, {id: east, bbox: '26,58,27,59'}]".utf8).write(to: list)
        let added = try await cluster.run([
            "schedule", "add", "daily", "--every", "daily 01:00", "--packages", list.path, "--tileset", origin.tileset,
            "--zoom", "0-8", "--together",
        ])
        #expect(added.status == 0, "\(added.errors)")
        let ran = try await cluster.run(["schedule", "run", "daily"])
        #expect(ran.status == 0, "\(ran.errors)")
        try await Eventually.holds("both are listed") {
            let seen = try listed(cluster.catalog)
            #expect(seen.isEmpty || seen == ["east 1", "west 1"], "\(seen)")
            return !seen.isEmpty
        }
        try await cluster.stop()
    }
}
