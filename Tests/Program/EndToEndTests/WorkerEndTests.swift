import Foundation
import TestSupport
import Testing

/// Workers of batch systems: they end when there is no more work.
@Suite(.serialized)
struct WorkerEndTests {
    @Test(.timeLimit(.programs))
    func aWorkerUntilIdleBuildsTheJobAndEndsWithZero() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(["--latency-ms", "20"], in: scratch)
        let cluster = try await Cluster(workers: 0, in: scratch)
        let job = try await cluster.submit(["EE", "--zoom", "0-10", "--tileset", origin.tileset])
        try cluster.startWorker(["--until-idle", "3s"])
        let watched = try await cluster.run(["watch", job, "--progress", "none"])
        #expect(watched.status == 0, "\(watched.errors)")
        let worker = cluster.workers[0]
        try await Eventually.holds("the worker ends by itself") { !worker.isRunning }
        #expect(worker.status == 0, "\(worker.said)")
        #expect(worker.said.contains("there was no work for the time of --until-idle"), "\(worker.said)")
        try await Eventually.holds("the coordinator knows that it has left") {
            try await !cluster.run(["workers", "--json"]).output.contains("\"w1\"")
        }
        try await cluster.stop()
    }

    @Test(.timeLimit(.programs))
    func aJobWithALabelWaitsForAWorkerThatHasIt() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin([], in: scratch)
        let cluster = try await Cluster(workers: 1, in: scratch)
        let job = try await cluster.submit(
            ["EE", "--zoom", "0-8", "--tileset", origin.tileset, "--on", "big", "--on", "gpu-free"])
        try await Eventually.holds("the job says what it waits for") {
            try await cluster.run(["status", job]).output.contains(
                "waits: no worker has the labels big, gpu-free; start one with packhorse worker --label big --label gpu-free"
            )
        }
        try cluster.startWorker(["--label", "gpu-free", "--label", "big", "--memory", "64GB"])
        let watched = try await cluster.run(["watch", job, "--progress", "none"])
        #expect(watched.status == 0, "\(watched.errors)")
        #expect(try await cluster.run(["status", job]).output.contains("labels   big, gpu-free"))
        #expect(try await cluster.run(["workers"]).output.contains("big,gpu-free"))
        try await cluster.stop()
    }

    @Test(
        .timeLimit(.programs),
        arguments: [
            (["worker", "--memory", "10MB"], "at least 128MB"),
            (["worker", "--scratch-limit", "1MB"], "at least 64MB"),
            (["worker", "--blobs", "b", "--scratch-limit", "1GB"], "has no effect"),
            (["worker", "--label", "GPU"], "'GPU' is not a label"),
            (["submit", "EE", "--tileset", "t.yaml", "--on", "a b"], "'a b' is not a label"),
        ])
    func wrongLimitsAndLabelsAreRefused(arguments: [String], reason: String) async throws {
        let scratch = try Scratch()
        let outcome = try await Program.run(arguments, in: scratch)
        #expect(outcome.status == 64 && outcome.errors.contains(reason), "\(outcome.errors)")
    }

    @Test(
        .timeLimit(.programs),
        arguments: [
            ["--until-idle", "soon"], ["--until-idle", "0"], ["--time-limit", "20s"], ["--time-limit", "UNLIMITED"],
        ])
    func otherDurationsAreRefusedWithAnExample(arguments: [String]) async throws {
        let scratch = try Scratch()
        let outcome = try await Program.run(["worker"] + arguments, in: scratch)
        #expect(outcome.status == 64 && outcome.errors.contains("1h30m"), "\(outcome.errors)")
    }
}
