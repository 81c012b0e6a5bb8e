import Foundation
import Testing

/// Processes killed in mid-job; the job ends with the same bytes.
@Suite(.serialized)
struct CrashTests {
    private static let job = ["EE", "--zoom", "0-12"]

    /// What the job makes when nothing goes wrong, from a slow origin so that there is a middle to kill in.
    private func undisturbed(_ origin: DemoOrigin, _ scratch: Scratch) async throws -> [String?] {
        let cluster = try await Cluster(workers: 2, in: scratch)
        let job = try await cluster.build(Self.job + ["--tileset", origin.tileset])
        try await cluster.stop()
        return job.packages.map(\.sha256)
    }

    private func middle(of job: String, _ cluster: Cluster) async throws {
        try await Eventually.holds("job \(job) has begun") {
            let status = try await cluster.status(job)
            #expect(status.state == "fetching", "the job must still run when the process is killed")
            return status.batchesDone >= 2
        }
    }

    private func end(of job: String, _ cluster: Cluster) async throws -> Job {
        let outcome = try await cluster.run(["watch", job, "--json", "--progress", "none", "--timeout", "10"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        return try Job(json: outcome.output)
    }

    /// Runs the job undisturbed, then with a fault in its middle, and compares the packages.
    private func survives(
        _ coordinatorArguments: [String] = [], fault: (Cluster, _ job: String) async throws -> Void,
        after: (Cluster) async throws -> Void = { _ in }
    ) async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(["--latency-ms", "20"], in: scratch)
        let expected = try await undisturbed(origin, scratch)
        let cluster = try await Cluster(workers: 2, coordinatorArguments: coordinatorArguments, in: scratch)
        let job = try await cluster.submit(Self.job + ["--tileset", origin.tileset])
        try await middle(of: job, cluster)
        try await fault(cluster, job)
        let ended = try await end(of: job, cluster)
        #expect(ended.packages.map(\.sha256) == expected)
        #expect(ended.failed == 0)
        try await after(cluster)
        try await cluster.stop()
    }

    @Test(.timeLimit(.minutes(4)))
    func aKilledWorkerCostsTimeAndNothingElse() async throws {
        try await survives(["--lease-seconds", "6"]) { cluster, _ in try await cluster.workers[0].killNow() }
    }

    @Test(.timeLimit(.minutes(4)))
    func aKilledCoordinatorGoesOnWhereItWas() async throws {
        try await survives { cluster, job in
            try await cluster.coordinator?.killNow()
            try await cluster.startCoordinator()
            let resumed = try await cluster.status(job)
            #expect(resumed.batchesDone >= 2, "what was acknowledged is in the store")
        }
    }

    @Test(.timeLimit(.minutes(4)))
    func aStoppedWorkerThatWakesLaterChangesNothing() async throws {
        try await survives(["--lease-seconds", "6"]) { cluster, _ in
            kill(cluster.workers[0].pid, SIGSTOP)
        } after: { cluster in
            kill(cluster.workers[0].pid, SIGCONT)
            let verified = try await Program.run(["verify", cluster.catalog.path], in: cluster.scratch)
            #expect(verified.status == 0, "\(verified.errors)")
        }
    }
}
