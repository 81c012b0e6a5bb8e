import Foundation
import TestSupport
import Testing

/// Faults in the middle of a job: whatever is killed, cut, damaged or lied about, it ends with the same bytes.
///
/// The short form of `make chaos`.
@Suite(.serialized)
struct CrashTests {
    private static let job = ["EE", "--zoom", "0-11"]

    /// What the job makes when nothing goes wrong, made once for all tests.
    private static let undisturbed = Task {
        let scratch = try Scratch()
        let origin = try SyntheticOrigin(in: scratch)
        defer { origin.server.stop() }
        let cluster = try await Cluster(workers: 2, in: scratch)
        let job = try await cluster.build(Self.job + ["--tileset", origin.tileset])
        try await cluster.stop()
        return job.packages.map(\.sha256)
    }

    private func middle(of job: String, _ cluster: Cluster) async throws {
        try await Eventually.holds("job \(job) has begun") {
            let status = try await cluster.status(job)
            #expect(status.state == "fetching", "the job must still run when the fault comes")
            return status.batchesDone >= 2
        }
    }

    /// Runs the job with a fault in its middle and compares its package with the undisturbed one.
    private func survives(
        _ coordinatorArguments: [String] = [], workers: Int = 2, throughProxy: Bool = false, lieAbout: Int = 0,
        fault: (Cluster, _ job: String) async throws -> Void = { _, _ in },
        after: (Cluster, SyntheticOrigin) async throws -> Void = { _, _ in }
    ) async throws {
        let expected = try await Self.undisturbed.value
        let scratch = try Scratch()
        let origin = try SyntheticOrigin(latency: .milliseconds(80), lieAbout: lieAbout, in: scratch)
        defer { origin.server.stop() }
        let cluster = try await Cluster(
            workers: workers, coordinatorArguments: coordinatorArguments, throughProxy: throughProxy, in: scratch)
        let job = try await cluster.submit(Self.job + ["--tileset", origin.tileset])
        try await middle(of: job, cluster)
        try await fault(cluster, job)
        let outcome = try await cluster.run(["watch", job, "--json", "--progress", "none", "--timeout", "10"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let ended = try Job(json: outcome.output)
        #expect(ended.packages.map(\.sha256) == expected)
        #expect(ended.failed == 0)
        try await after(cluster, origin)
        let verified = try await Program.run(["verify", cluster.catalog.path], in: scratch)
        #expect(verified.status == 0, "\(verified.errors)")
        try await cluster.stop()
    }

    /// Two in a hundred tiles that fail forever, in nearly every batch: the job must neither stand still nor fail as a
    /// whole.
    @Test(.timeLimit(.programs))
    func tilesThatFailForEverAreNamedAndAllOthersAreThere() async throws {
        let scratch = try Scratch()
        let origin = try SyntheticOrigin(breaking: 50, in: scratch)
        defer { origin.server.stop() }
        let cluster = try await Cluster(workers: 2, in: scratch)
        let number = try await cluster.submit(
            Self.job + ["--tileset", origin.tileset, "--allowed-missing", "0.1"])
        let outcome = try await cluster.run(["watch", number, "--json", "--progress", "none", "--timeout", "4"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let job = try await cluster.status(number)
        #expect(job.failed > 5 && job.stored + job.failed == job.tiles, "\(job.stored) + \(job.failed) of \(job.tiles)")
        #expect(!job.failures.isEmpty)
        #expect(job.failures.allSatisfy { SyntheticOrigin.isBroken($0.tile, breaking: 50) })
        #expect(job.packages.map(\.tiles) == [job.stored])
        let verified = try await Program.run(["verify", cluster.catalog.path], in: scratch)
        #expect(verified.status == 0, "\(verified.errors)")
        try await cluster.stop()
    }

    @Test(.timeLimit(.programs))
    func aKilledWorkerCostsTimeAndNothingElse() async throws {
        try await survives(["--lease-seconds", "4"]) { cluster, _ in try await cluster.workers[0].killNow() }
    }

    @Test(.timeLimit(.programs))
    func aKilledCoordinatorGoesOnWhereItWasAndNoLeaseIsExecutedAgain() async throws {
        try await survives { cluster, job in
            try await cluster.coordinator?.killNow()
            try await cluster.startCoordinator()
            let resumed = try await cluster.status(job)
            #expect(resumed.batchesDone >= 2, "what was acknowledged is in the store")
        } after: { _, origin in
            #expect(origin.askedAgain == 0)
        }
    }

    @Test(.timeLimit(.programs))
    func aStoppedWorkerThatWakesLaterChangesNothing() async throws {
        try await survives(["--lease-seconds", "4"]) { cluster, _ in
            kill(cluster.workers[0].pid, SIGSTOP)
        } after: { cluster, _ in
            kill(cluster.workers[0].pid, SIGCONT)
        }
    }

    /// Shards made again may have the very names of those that rotted.
    @Test(.timeLimit(.programs))
    func shardsThatRotBeforeTheMergeAreFetchedAgain() async throws {
        try await survives(["--lease-seconds", "2"], workers: 1) { cluster, _ in
            try await cluster.workers[0].killNow()
            let blobs = try cluster.blobFiles()
            #expect(blobs.count >= 2)
            for blob in blobs {
                var bytes = try Data(contentsOf: blob)
                bytes[bytes.count / 2] ^= 1
                try bytes.write(to: blob)
            }
            try cluster.startWorker()
        } after: { _, origin in
            #expect(origin.askedAgain > 0)
        }
    }

    @Test(.timeLimit(.programs))
    func anOriginThatLiesAboutOneTileInAHundredIsAskedAgain() async throws {
        try await survives(lieAbout: 100, after: { _, origin in #expect(origin.askedAgain > 0) })
    }

    @Test(.timeLimit(.programs))
    func aLinkThatDelaysDamagesAndBreaksLosesNothing() async throws {
        try await survives(["--lease-seconds", "4"], throughProxy: true) { cluster, _ in
            let link = try #require(cluster.proxy)
            link.set(FaultProxy.Harm(delay: .milliseconds(20), flipEvery: 7))
            try await Eventually.holds("some bits are flipped") { link.flipped >= 5 }
            link.set(FaultProxy.Harm())
            link.cut()
        }
    }
}
