import Foundation
import TestSupport
import Testing

/// `packhorse up`: everything on one machine, with real processes.
@Suite(.serialized)
struct UpTests {
    private static let job = ["EE", "--zoom", "0-11"]

    @Test(.timeLimit(.programs))
    func killedProcessesComeBackAndTheirJobEnds() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(["--latency-ms", "20"], in: scratch)
        let up = try await RunningUp(["--no-gateway", "--lease-seconds", "3"], in: scratch)
        let job = try await up.submit(Self.job + ["--tileset", origin.tileset])
        try await up.middle(of: job)
        try await up.killAndReplace("worker")
        try await up.killAndReplace("coordinator")
        let ended = try await up.end(of: job)
        #expect((ended.state, ended.failed) == ("done", 0))
        let again = try await up.submit(["LV", "--zoom", "0-6", "--tileset", origin.tileset])
        #expect(try await up.end(of: again).state == "done")
        let verified = try await Program.run(["verify", up.data.appending(path: "catalog").path], in: scratch)
        #expect(verified.status == 0, "\(verified.errors)")
        let workers = try await up.run(["workers"]).output
        #expect(workers.contains("worker-1") && workers.contains("worker-2"), "\(workers)")
        let said = up.daemon.said
        #expect(said.contains("packhorse.process=coordinator packhorse.reason=coordinator was ended by signal 9"))
        try await up.daemon.stop()
        #expect(up.daemon.status == 0, "\(said)")
    }

    @Test(.timeLimit(.programs), arguments: [SIGTERM, SIGINT])
    func theEndLeavesNoProcessAndTheNextStartContinues(signal: Int32) async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(["--latency-ms", "40"], in: scratch)
        // With leases of ten minutes: only workers that hand back their work let the job end within the test.
        let up = try await RunningUp(["--no-gateway", "--lease-seconds", "600", "--log-level", "info"], in: scratch)
        let job = try await up.submit(Self.job + ["--tileset", origin.tileset])
        try await up.middle(of: job)
        let children = try await up.children()
        #expect(children.mapValues(\.count) == ["coordinator": 1, "worker": 2])
        kill(up.daemon.pid, signal)
        let daemon = up.daemon
        try await Eventually.holds("up ends") { !daemon.isRunning }
        #expect(daemon.status == 0, "\(daemon.said)")
        try await RunningUp.gone(children)
        let names = daemon.said.split(separator: "\n").compactMap { $0.split(separator: " ").first }
        #expect(names.last == "coordinator", "it ends after its workers: \(daemon.said.suffix(2_000))")
        #expect(!daemon.said.contains("is started again"), "\(daemon.said)")

        try await up.startAgain()
        #expect(try await up.end(of: job).state == "done")
        try await up.daemon.stop()
    }

    @Test(.timeLimit(.programs))
    func processesEndWithASupervisorThatIsKilled() async throws {
        let scratch = try Scratch()
        let up = try await RunningUp(in: scratch)
        let children = try await up.children()
        #expect(children.values.joined().count == 3)
        try await up.daemon.killNow()
        try await up.startAgain()
        try await RunningUp.gone(children)
        #expect(try await up.run(["health", "--workers", "2"]).status == 0)
        try await up.daemon.stop()
    }

    /// A worker that hangs holds up the orderly end; the second signal does not wait for it.
    @Test(.timeLimit(.programs))
    func aSecondSignalEndsAtOnce() async throws {
        let scratch = try Scratch()
        let up = try await RunningUp(in: scratch)
        let children = try await up.children()
        let workers = try #require(children["worker"])
        kill(workers[0], SIGSTOP)
        kill(up.daemon.pid, SIGTERM)
        try await RunningUp.gone(["worker": [workers[1]]])
        #expect(up.daemon.isRunning)
        kill(up.daemon.pid, SIGTERM)
        try await RunningUp.gone(children)
        let daemon = up.daemon
        try await Eventually.holds("up ends") { !daemon.isRunning }
        #expect(daemon.status == 130, "\(daemon.said)")
    }

    @Test(.timeLimit(.programs))
    func portsAndFoldersInUseAreRefused() async throws {
        let scratch = try Scratch()
        let up = try await RunningUp(workers: 1, in: scratch)
        let cluster = try await Cluster(workers: 0, in: scratch)
        let port = try #require(up.control.split(separator: ":").last.map(String.init))
        let free = try #require(try Ports.endpoint().split(separator: ":").last.map(String.init))
        let new = scratch.url("deep/new")
        let cases: [(arguments: [String], words: [String])] = [
            (["--data", new.path, "--control-port", port], ["port \(port) of 127.0.0.1 is in use", "--control-port"]),
            (["--data", new.path, "--control-port", free, "--port", port], ["port \(port)", "with --port"]),
            (["--data", up.data.path, "--control-port", free], ["'\(up.data.path)'", "\(up.daemon.pid)", "--data"]),
            (["--data", cluster.data.path, "--control-port", free], ["\(cluster.data.path)/state.sqlite", "--data"]),
        ]
        for (arguments, words) in cases {
            let gateway = arguments.contains("--port") ? [] : ["--no-gateway"]
            let outcome = try await Program.run(["up"] + arguments + gateway, in: scratch)
            #expect(outcome.status == 75, "\(arguments): \(outcome.errors)")
            for word in words { #expect(outcome.errors.contains(word), "\(arguments): \(outcome.errors)") }
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.url("deep").path), "nothing is left")
        #expect(try await up.run(["health", "--workers", "1"]).status == 0, "the running one goes on")
        try await up.daemon.stop()
        try await cluster.stop()
    }

    @Test(.timeLimit(.programs))
    func aDryRunPrintsTheProcessesAndCreatesNothing() async throws {
        let scratch = try Scratch()
        let data = scratch.url("data")
        let outcome = try await Program.run(["up", "--data", data.path, "--workers", "2", "--dry-run"], in: scratch)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let commands = outcome.output.split(separator: "\n").map {
            $0.split(separator: " ").prefix(2).joined(separator: " ")
        }
        #expect(
            commands == ["packhorse coordinator", "packhorse worker", "packhorse worker", "packhorse gateway"])
        #expect(!FileManager.default.fileExists(atPath: data.path))
    }

    @Test(.timeLimit(.programs))
    func theLogIsJSONWhenAskedFor() async throws {
        let scratch = try Scratch()
        let up = try await RunningUp(["--no-gateway", "--log-format", "json", "--log-level", "debug"], in: scratch)
        try await up.killAndReplace("worker")
        try await up.daemon.stop()
        var names: Set<String> = []
        for line in up.daemon.said.split(separator: "\n") {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String]
            names.insert(try #require(object?["packhorse.process"] ?? object?["label"], "\(line)"))
        }
        #expect(names == ["coordinator", "worker-1", "worker-2", "packhorse.up"])
    }
}
