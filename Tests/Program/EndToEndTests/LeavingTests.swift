import Foundation
import TestSupport
import Testing

/// Workers that leave, wake too late or may not join; a job that has nothing to build.
@Suite(.serialized)
struct LeavingTests {
    private static let job = ["EE", "--zoom", "0-12"]

    private func middle(of job: String, _ cluster: Cluster) async throws {
        try await Eventually.holds("job \(job) has begun") { try await cluster.status(job).batchesDone >= 2 }
    }

    private func end(of job: String, _ cluster: Cluster) async throws -> Job {
        let outcome = try await cluster.run(["watch", job, "--json", "--progress", "none"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        return try Job(json: outcome.output)
    }

    /// With leases of ten minutes: only a worker that gives its leases back lets the job end within the test.
    @Test(.timeLimit(.programs))
    func aWorkerAskedToEndGivesItsLeasesBackAtOnce() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(["--latency-ms", "20"], in: scratch)
        let cluster = try await Cluster(workers: 2, coordinatorArguments: ["--lease-seconds", "600"], in: scratch)
        let job = try await cluster.submit(Self.job + ["--tileset", origin.tileset])
        try await middle(of: job, cluster)
        let start = ContinuousClock.now
        try await cluster.workers[0].stop()
        #expect(ContinuousClock.now - start < .seconds(120), "SIGTERM ends a worker long before its leases end")
        let ended = try await end(of: job, cluster)
        #expect((ended.state, ended.failed) == ("done", 0))
        try await cluster.stop()
    }

    /// A worker that is stopped longer than its lease and wakes up gets its results refused, and continues.
    @Test(.timeLimit(.programs))
    func aWorkerThatWakesTooLateIsFencedAndWorksOn() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(["--latency-ms", "60"], in: scratch)
        let cluster = try await Cluster(workers: 1, coordinatorArguments: ["--lease-seconds", "2"], in: scratch)
        let job = try await cluster.submit(Self.job + ["--tileset", origin.tileset])
        try await Eventually.holds("the worker has work") { try await cluster.run(["workers"]).output.contains("busy") }
        kill(cluster.workers[0].pid, SIGSTOP)
        // What it held is granted again before it wakes.
        try cluster.startWorker()
        try await middle(of: job, cluster)
        kill(cluster.workers[0].pid, SIGCONT)
        let ended = try await end(of: job, cluster)
        #expect((ended.state, ended.failed) == ("done", 0))
        #expect(cluster.workers[0].isRunning)
        let verified = try await Program.run(["verify", cluster.catalog.path], in: scratch)
        #expect(verified.status == 0, "\(verified.errors)")
        try await cluster.stop()
    }

    @Test(.timeLimit(.programs))
    func aWorkerWithAnotherBlobFolderIsToldSoAndEnds() async throws {
        let scratch = try Scratch()
        let cluster = try await Cluster(workers: 0, in: scratch)
        let other = try await Cluster(workers: 0, in: scratch)
        try await other.stop()
        try cluster.startWorker(["--blobs", other.data.appending(path: "blobs").path])
        let worker = cluster.workers[0]
        try await Eventually.holds("the worker ends") { !worker.isRunning }
        #expect(worker.status == 78, "\(worker.said)")
        let lines = worker.said.split(separator: "\n").filter { $0.hasPrefix("packhorse:") || $0.hasPrefix("error:") }
        #expect(lines.count == 1, "\(worker.said)")
        #expect(worker.said.contains("--blobs"))
        try await cluster.stop()
    }

    @Test(.timeLimit(.programs))
    func aUrlWithoutTilesFailsTheJobAndPublishesNothing() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let file = scratch.url("wrong.yaml")
        try Data("id: wrong\nurl: \(origin.url)/nowhere/{z}/{x}/{y}.pbf\nformat: pbf\nzoom: 0-4\n".utf8).write(to: file)
        let cluster = try await Cluster(workers: 1, in: scratch)
        let outcome = try await cluster.run(["submit", "LI", "--tileset", file.path, "--wait", "--progress", "none"])
        #expect(outcome.status == 65, "\(outcome.errors)")
        #expect((outcome.output + outcome.errors).contains("no-tiles"), "\(outcome.output)\(outcome.errors)")
        #expect((outcome.output + outcome.errors).contains("the tileset's url"))
        #expect(!FileManager.default.fileExists(atPath: cluster.catalog.appending(path: "packages/1/LI.mbtiles").path))
        try await cluster.stop()
    }
}
