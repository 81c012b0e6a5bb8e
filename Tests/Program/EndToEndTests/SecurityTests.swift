import Foundation
import TestSupport
import Testing
import ZeroMQ

/// Keys, roles, and peers that mean harm, against real processes.
@Suite(.serialized)
struct SecurityTests {
    @Test(.timeLimit(.programs))
    func aCoordinatorDoesNotOpenItselfToTheNetworkWithoutKeys() async throws {
        let scratch = try Scratch()
        let outcome = try await Program.run(
            ["coordinator", "--data", scratch.url("d").path, "--control", "tcp://*:*", "--work", "tcp://*:*"],
            in: scratch)
        #expect(outcome.status == 77, "\(outcome.errors)")
        #expect(outcome.errors.contains("keygen") && outcome.errors.contains("--insecure"), "\(outcome.errors)")
    }

    @Test(.timeLimit(.programs))
    func theKeyOfOneMachineIsRevokedAloneWhileTheOthersWork() async throws {
        let scratch = try Scratch()
        let keys = scratch.url("keys")
        for arguments in [[], ["--worker", "berlin"], ["--worker", "paris"]] {
            let made = try await Program.run(["keygen", "--cluster", keys.path] + arguments, in: scratch)
            try #require(made.status == 0, "\(made.errors)")
        }
        let again = try await Program.run(["keygen", "--cluster", keys.path, "--worker", "paris"], in: scratch)
        #expect(again.status == 73, "a key is not overwritten: \(again.errors)")
        let cluster = try await Cluster(workers: 0, coordinatorArguments: ["--keys", keys.path], in: scratch)
        // The folder of a machine is all that its workers need.
        for name in ["berlin", "paris"] {
            try cluster.startWorker(["--keys", keys.appending(path: "machines/\(name)").path])
        }
        let both = ["health", "--workers", "2", "--keys", keys.path]
        try await Eventually.holds("both workers are connected") { try await cluster.run(both).status == 0 }
        let other = try await Program.run(["keys", "revoke", "berlim", "--keys", keys.path], in: scratch)
        #expect(other.status == 66 && other.errors.contains("did you mean 'berlin'?"), "\(other.errors)")
        let revoked = try await Program.run(["keys", "revoke", "berlin", "--keys", keys.path], in: scratch)
        #expect(revoked.status == 0, "\(revoked.errors)")
        try await Eventually.holds("the worker is cut off") {
            cluster.workers[0].said.contains("Connection refused by the coordinator")
        }
        #expect(!cluster.workers[1].said.contains("Connection refused"), "the other one works on")
        let origin = try await DemoOrigin(in: scratch)
        let done = try await cluster.run(
            [
                "submit", "LI", "--tileset", origin.tileset, "--zoom", "0-8", "--keys", keys.path, "--wait",
                "--progress",
                "none",
            ])
        #expect(done.status == 0, "\(done.errors)")
        try await cluster.stop()
    }

    @Test(.timeLimit(.programs))
    func eachKeyMayDoWhatItsRolesSayAndNothingMore() async throws {
        let scratch = try Scratch()
        let keys = scratch.url("keys")
        let eye = scratch.url("eye.key")
        for arguments in [["keygen", "--cluster", keys.path], ["keygen", eye.path, "--role", "viewer"]] {
            let made = try await Program.run(arguments, in: scratch)
            try #require(made.status == 0, "\(made.errors)")
        }
        let allowed = keys.appending(path: "authorized_keys.d")
        try FileManager.default.copyItem(at: scratch.url("eye.pub"), to: allowed.appending(path: "eye.pub"))
        let listed = try await Program.run(["keys", "--keys", keys.path], in: scratch)
        #expect(listed.status == 0, "\(listed.errors)")
        #expect(listed.output.contains("worker merger") && listed.output.contains("viewer"), "\(listed.output)")

        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 0, coordinatorArguments: ["--keys", keys.path], in: scratch)
        try cluster.startWorker(["--keys", keys.path])
        let server = keys.appending(path: "coordinator.pub").path
        let asEye = ["--key", eye.path, "--server-key", server]
        let submission = ["submit", "LI", "--tileset", origin.tileset, "--zoom", "0-8"]
        let refused = try await cluster.run(submission + asEye)
        #expect(refused.status == 77, "\(refused.errors)")
        #expect(refused.errors.contains("'eye'") && refused.errors.contains("role operator"), "\(refused.errors)")
        #expect(refused.errors.contains("eye.pub"), "\(refused.errors)")
        let done = try await cluster.run(submission + ["--keys", keys.path, "--wait", "--progress", "none"])
        #expect(done.status == 0, "\(done.errors)")
        let seen = try await cluster.run(["jobs"] + asEye)
        #expect(seen.status == 0 && seen.output.contains("done"), "\(seen.output) \(seen.errors)")

        // Its key gone, the worker is cut off and stays outside.
        try FileManager.default.removeItem(at: allowed.appending(path: "worker.pub"))
        let worker = cluster.workers[0]
        try await Eventually.holds("the worker is cut off") {
            worker.said.contains("Connection refused by the coordinator")
        }
        let broken = Data("not a key".utf8)
        try broken.write(to: allowed.appending(path: "odd.pub"))
        #expect(try await Program.run(["keys", "--keys", keys.path], in: scratch).status == 78)
        try await cluster.stop()
    }

    /// Parts of a megabyte, of nothing, and of a few bytes, at either endpoint, while a job runs.
    @Test(.timeLimit(.programs))
    func unfinishedFloodsCostLittleAndTheJobGoesOn() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(["--latency-ms", "20"], in: scratch)
        let cluster = try await Cluster(workers: 1, in: scratch)
        let job = try await cluster.submit(["LI", "--tileset", origin.tileset, "--zoom", "0-12"])
        let coordinator = try #require(cluster.coordinator)
        let before = coordinator.peakMemory
        for endpoint in [cluster.control, cluster.work] {
            let port = try #require(endpoint.split(separator: ":").last.flatMap { Int($0) })
            for size in [200_000, 0, 9] {
                let part = RawZMTP.frame([UInt8](repeating: 1, count: size), more: true)
                let chunk = [UInt8](repeatElement(part, count: max(1, 100_000 / part.count)).joined())
                let most = 1 << 30
                let sent = try await onThread { try RawZMTP(port: port).flood(chunk, atMost: most) }
                #expect(sent < most, "\(endpoint) took all of it")
            }
        }
        let peak = coordinator.peakMemory
        #expect(peak < 128 << 20, "\(peak >> 20) MiB, before the attack \(before >> 20) MiB")
        let ended = try await cluster.run(["watch", job, "--json", "--progress", "none"])
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(coordinator.said.contains("Connection closed"))
        try await cluster.stop()
    }

    @Test(.timeLimit(.programs))
    func nonsenseEndsTheConnectionThatBringsIt() async throws {
        let scratch = try Scratch()
        let cluster = try await Cluster(workers: 0, in: scratch)
        for endpoint in [cluster.control, cluster.work] {
            let port = try #require(endpoint.split(separator: ":").last.flatMap { Int($0) })
            let answer = try await onThread {
                let peer = try RawZMTP(port: port)
                for _ in 0..<3 { _ = peer.send(RawZMTP.frame([1, 2, 3])) }
                return peer.receive()
            }
            #expect(answer == nil)
        }
        let health = try await cluster.run(["health"])
        #expect(health.status == 0, "\(health.errors)")
        try await cluster.stop()
    }
}

/// Programs of another major version of the wire.
@Suite(.serialized)
struct OtherVersionTests {
    @Test(.timeLimit(.programs), arguments: ["worker", "jobs"])
    func aCoordinatorOfAnotherMajorVersionIsOneLineAndExit78(command: String) async throws {
        let scratch = try Scratch()
        let store = scratch.url("blobs")
        let made = try await Cluster(workers: 0, in: scratch, data: scratch.url("data"))
        try await made.stop()
        try FileManager.default.copyItem(at: scratch.url("data").appending(path: "blobs"), to: store)
        let router = try RouterLink(bind: ["tcp://127.0.0.1:*"], security: .plain)
        let arguments =
            command == "worker"
            ? ["worker", "--connect", router.boundEndpoints[0], "--blobs", store.path]
            : ["jobs", "--coordinator", router.boundEndpoints[0], "--timeout", "60"]
        let daemon = try Daemon(arguments, in: scratch)
        while daemon.isRunning {
            for inbound in try await router.receive(upTo: .milliseconds(200)) {
                var bytes = inbound.bytes
                bytes[4] = 2
                _ = await router.send([(inbound.peer, bytes)])
            }
        }
        await router.close()
        #expect(daemon.status == 78, "\(daemon.said)")
        let lines = daemon.said.split(separator: "\n").filter { $0.hasPrefix("packhorse: error:") }
        #expect(lines.count == 1, "\(daemon.said)")
        #expect(lines.first?.contains("wire version 2.") == true, "\(daemon.said)")
    }

    @Test(.timeLimit(.programs))
    func aDrainedWorkerFinishesLeavesWithZeroAndTheJobGoesOn() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(["--latency-ms", "20"], in: scratch)
        let cluster = try await Cluster(workers: 2, in: scratch)
        let job = try await cluster.submit(["EE", "--tileset", origin.tileset, "--zoom", "0-11"])
        try await Eventually.holds("both work") {
            let said = try await cluster.run(["workers"]).output
            return said.contains("w1") && said.contains("w2")
        }
        let drained = try await cluster.run(["workers", "drain", "w1"])
        #expect(drained.status == 0 && drained.output.contains("leaves"), "\(drained.errors)")
        let worker = cluster.workers[0]
        try await Eventually.holds("w1 ends") { !worker.isRunning }
        #expect(worker.status == 0, "\(worker.said)")
        let ended = try await cluster.run(["watch", job, "--json", "--progress", "none"])
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(try Job(json: ended.output).failed == 0)
        #expect(try await cluster.run(["workers", "drain", "nobody"]).status == 66)
        try await cluster.stop()
    }
}
