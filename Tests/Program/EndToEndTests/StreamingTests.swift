import Foundation
import TestSupport
import Testing

/// Workers without a shared folder: shards and packages travel over ZeroMQ.
@Suite(.serialized)
struct StreamingTests {
    private static let job = ["EE", "--zoom", "0-12"]

    /// What the job makes with a shared folder.
    private func shared(_ origin: DemoOrigin, _ scratch: Scratch) async throws -> Job {
        let cluster = try await Cluster(workers: 2, in: scratch)
        let job = try await cluster.build(Self.job + ["--tileset", origin.tileset])
        try await cluster.stop()
        return job
    }

    @Test(.timeLimit(.programs))
    func workersInFoldersOfTheirOwnMakeTheSameBytes() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let expected = try await shared(origin, scratch)
        let cluster = try await Cluster(workers: 0, in: scratch)
        let folders = [scratch.url("far-1"), scratch.url("far-2")]
        for folder in folders { try cluster.startStreamingWorker(folder) }
        let job = try await cluster.build(Self.job + ["--tileset", origin.tileset])
        #expect(job.packages.map(\.sha256) == expected.packages.map(\.sha256))
        #expect((job.failed, job.stored) == (0, expected.stored))
        let verified = try await Program.run(["verify", cluster.catalog.path], in: scratch)
        #expect(verified.status == 0, "\(verified.errors)")
        try await cluster.stop()
        for folder in folders {
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(left == [".packhorse-lock"], "what a worker made and fetched goes with it")
        }
        let parts = try FileManager.default.contentsOfDirectory(atPath: cluster.data.path + "/blobs/tmp")
        #expect(parts.isEmpty)
    }

    /// Runs the job over a slow link, waits for the middle of an upload, does `fault`, and compares the end.
    private func survives(_ fault: (Cluster) async throws -> Void) async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let expected = try await shared(origin, scratch)
        let package = UInt64(try #require(expected.packages.first?.size))
        let cluster = try await Cluster(
            workers: 0, coordinatorArguments: ["--lease-seconds", "6", "--log-level", "info"], in: scratch)
        // So slow that an upload of the package takes seconds.
        let proxy = try FaultProxy(to: cluster.blob)
        proxy.set(FaultProxy.Harm(rate: 250_000))
        defer { proxy.stop() }
        for number in 1...2 { try cluster.startStreamingWorker(scratch.url("far-\(number)"), through: proxy.endpoint) }
        let job = try await cluster.submit(Self.job + ["--tileset", origin.tileset])
        let parts = cluster.data.appending(path: "blobs/tmp")
        /// No shard of this job is nearly as large; a part that was just finished has no size any more.
        func isOnItsWay() throws -> Bool {
            let files = try FileManager.default.contentsOfDirectory(
                at: parts, includingPropertiesForKeys: [.fileSizeKey])
            return files.contains {
                let size = UInt64((try? $0.resourceValues(forKeys: [.fileSizeKey]).fileSize) ?? 0)
                return $0.pathExtension == "part" && size > package / 5 && size < package
            }
        }
        try await Eventually.holds("the package is on its way", isOnItsWay)
        // What the sender has handed to the system already would arrive without it: it stays here, and is lost with the connection.
        proxy.set(FaultProxy.Harm(isHeld: true))
        try #require(try isOnItsWay(), "the fault must come in the middle")
        try await fault(cluster)
        proxy.cut()
        proxy.set(FaultProxy.Harm())
        let outcome = try await cluster.run(["watch", job, "--json", "--progress", "none", "--timeout", "10"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let ended = try Job(json: outcome.output)
        #expect(ended.packages.map(\.sha256) == expected.packages.map(\.sha256))
        // What had arrived before the fault was not sent again.
        let said = cluster.coordinator?.said ?? ""
        let stored = said.split(separator: "\n").filter { $0.contains("Blob stored") }.compactMap { line in
            line.firstMatch(of: /packhorse\.bytes=(\d+).*packhorse\.bytes\.received=(\d+)/).flatMap { match in
                UInt64(match.1).flatMap { size in UInt64(match.2).map { (size: size, received: $0) } }
            }
        }
        let last = try #require(stored.first { $0.size == package }, "\(said.suffix(2_000))")
        #expect(last.received < package, "the upload was resumed")
        try await cluster.stop()
    }

    @Test(.timeLimit(.programs))
    func aCoordinatorKilledInTheMiddleOfAnUploadGetsTheRestOnly() async throws {
        try await survives { cluster in
            try await cluster.coordinator?.killNow()
            try await cluster.startCoordinator()
        }
    }

    @Test(.timeLimit(.programs))
    func aWorkerKilledInTheMiddleOfAnUploadIsReplacedAndTheRestFollows() async throws {
        try await survives { cluster in
            // Who merges is the one with a lease.
            let workers = try await cluster.run(["workers", "--json"])
            let list = try #require(
                try JSONSerialization.jsonObject(with: Data(workers.output.utf8)) as? [[String: Any]])
            let busy = try #require(list.first { ($0["leases"] as? Int ?? 0) > 0 }?["pid"] as? Int)
            try await #require(cluster.workers.first { $0.pid == Int32(busy) }).killNow()
        }
    }
}
