import Foundation
import TestSupport
import Testing

/// What services say to the manager that started them, and what SIGHUP makes them do.
@Suite(.serialized)
struct ServiceSignalTests {
    private func environment(_ socket: NotifySocket, watchdog: Duration? = nil) -> [String: String] {
        var values = ["NOTIFY_SOCKET": socket.name]
        if let watchdog { values["WATCHDOG_USEC"] = "\(watchdog / .microseconds(1))".prefix { $0 != "." }.description }
        return values
    }

    @Test(.timeLimit(.programs), arguments: [false, true])
    func aCoordinatorIsReadyWhenItsSocketsAreOpenAndItsLoopSendsSignsOfLife(isAbstract: Bool) async throws {
        let scratch = try Scratch()
        let socket = try NotifySocket(in: scratch, isAbstract: isAbstract)
        let control = try Ports.endpoint()
        let daemon = try Daemon(
            ["coordinator", "--data", scratch.url("data").path, "--control", control, "--work", "tcp://127.0.0.1:*"],
            environment: environment(socket, watchdog: .seconds(3)), in: scratch)
        try await socket.expect("READY=1")
        let health = try await Program.run(["health", "--coordinator", control, "--timeout", "2"], in: scratch)
        #expect(health.status == 0, "ready means that commands are answered: \(health.errors)")
        try await socket.expect("WATCHDOG=1", more: 2)
        // A loop that stands still says nothing: not for as long as three signs of life take.
        kill(daemon.pid, SIGSTOP)
        var before = -1
        try await Eventually.holds("nothing more is said", every: .seconds(3)) {
            defer { before = socket.messages.count }
            return socket.messages.count == before
        }
        kill(daemon.pid, SIGCONT)
        try await socket.expect("WATCHDOG=1", more: socket.messages.count { $0.hasPrefix("WATCHDOG=1") })
        try await daemon.stop()
        try await socket.expect("STOPPING=1")
        #expect(daemon.status == 0, "\(daemon.said)")
    }

    @Test(.timeLimit(.programs))
    func workersAndGatewaysSayItToo() async throws {
        let scratch = try Scratch()
        let cluster = try await Cluster(workers: 0, in: scratch)
        for arguments in [
            ["worker", "--connect", cluster.work, "--blobs", cluster.data.appending(path: "blobs").path],
            ["gateway", cluster.catalog.path, "--port", "0"],
        ] {
            let socket = try NotifySocket(in: scratch, isAbstract: true)
            let daemon = try Daemon(
                arguments, environment: environment(socket, watchdog: .seconds(3)), in: scratch)
            try await socket.expect("READY=1")
            try await socket.expect("WATCHDOG=1", more: 1)
            try await daemon.stop()
            #expect(daemon.status == 0, "\(daemon.said)")
        }
        try await cluster.stop()
    }

    @Test(.timeLimit(.programs))
    func aGatewayPrintsItsPublicAddress() async throws {
        let scratch = try Scratch()
        let cluster = try await Cluster(workers: 0, in: scratch)
        let socket = try NotifySocket(in: scratch, isAbstract: true)
        let gateway = try Daemon(
            ["gateway", cluster.catalog.path, "--port", "0", "--public-url", "https://maps.example.com"],
            environment: environment(socket), in: scratch)
        try await socket.expect("READY=1\nSTATUS=serves https://maps.example.com at http://127.0.0.1:")
        #expect(try String(contentsOf: gateway.output, encoding: .utf8) == "https://maps.example.com\n")
        try await gateway.stop()
        try await cluster.stop()
    }

    /// `up` speaks for all of its processes; they say nothing themselves.
    @Test(.timeLimit(.programs))
    func upIsReadyWhenEverythingIs() async throws {
        let scratch = try Scratch()
        let socket = try NotifySocket(in: scratch)
        let port = try #require(try Ports.endpoint().split(separator: ":").last.map(String.init))
        let daemon = try Daemon(
            ["up", "--data", scratch.url("up").path, "--control-port", port, "--workers", "1", "--no-gateway"],
            environment: environment(socket, watchdog: .seconds(3)), in: scratch)
        try await socket.expect("READY=1")
        let workers = try await Program.run(
            ["health", "--workers", "1", "--coordinator", "tcp://127.0.0.1:\(port)"], in: scratch)
        #expect(workers.status == 0, "\(workers.errors)")
        try await socket.expect("WATCHDOG=1", more: 1)
        #expect(socket.messages.count { $0.hasPrefix("READY=1") } == 1, "\(socket.messages)")
        kill(daemon.pid, SIGHUP)
        try await Eventually.holds("it is passed on") { daemon.said.contains("passed on to coordinator, worker-1") }
        try await daemon.stop()
        #expect(daemon.status == 0, "\(daemon.said)")
    }

    @Test(.timeLimit(.programs))
    func aHangupReadsKeysAgainAndSaysSo() async throws {
        let scratch = try Scratch()
        let keys = scratch.url("keys")
        let made = try await Program.run(["keygen", "--cluster", keys.path], in: scratch)
        try #require(made.status == 0, "\(made.errors)")
        let cluster = try await Cluster(workers: 0, coordinatorArguments: ["--keys", keys.path], in: scratch)
        let coordinator = try #require(cluster.coordinator)
        kill(coordinator.pid, SIGHUP)
        try await Eventually.holds("it says what it read") {
            coordinator.said.contains("packhorse.part=keys") && coordinator.said.contains("2 authorized")
        }
        try Data("not a key".utf8).write(to: keys.appending(path: "authorized_keys.d/odd.pub"))
        kill(coordinator.pid, SIGHUP)
        try await Eventually.holds("it names what it refuses") { coordinator.said.contains("refused odd.pub") }
        #expect(coordinator.isRunning)
        try await cluster.stop()
    }

    @Test(.timeLimit(.programs))
    func aHangupReadsTokensAndTilesetsAgain() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 0, in: scratch)
        let file = scratch.url("world.yaml")
        try Data("url: \(origin.url)/tiles.json\nid: first\n".utf8).write(to: file)
        let gateway = try Daemon(
            [
                "gateway", cluster.catalog.path, "--port", "0", "--tokens", scratch.folder.path, "--coordinator",
                cluster.control, "--tileset", file.path,
            ], in: scratch)
        let url = try await Eventually.get("the gateway serves") {
            let text = try String(contentsOf: gateway.output, encoding: .utf8)
            return text.split(separator: "\n").first { $0.hasPrefix("http://") }.map(String.init)
        }
        let printed = try await Program.run(["keygen", scratch.url("a.token").path, "--role", "viewer"], in: scratch)
        let token = try #require(printed.output.split(separator: "\n").first { $0.hasPrefix("ph_") }.map(String.init))
        try Data("url: \(origin.url)/tiles.json\nid: second\n".utf8).write(to: file)
        kill(gateway.pid, SIGHUP)
        try await Eventually.holds("it says what it read") {
            gateway.said.contains("1 tokens") && gateway.said.contains("packhorse.result=second")
        }
        let curl = URL(filePath: "/usr/bin/curl")
        let asked = try await Program.run(
            curl, ["-s", "-H", "Authorization: Bearer \(token)", "\(url)/v1/tilesets"], in: scratch)
        #expect(asked.output.contains("second") && !asked.output.contains("first"), "\(asked.output)")
        // A wrong file changes nothing.
        try Data("urll: x\n".utf8).write(to: file)
        kill(gateway.pid, SIGHUP)
        try await Eventually.holds("it says what is wrong") { gateway.said.contains("the former values stay") }
        let again = try await Program.run(
            curl, ["-s", "-H", "Authorization: Bearer \(token)", "\(url)/v1/tilesets"], in: scratch)
        #expect(again.output.contains("second"), "\(again.output)")
        try await gateway.stop()
        try await cluster.stop()
    }

    /// Standard error as the journal has it: a socket whose device and inode are in JOURNAL_STREAM.
    @Test(.timeLimit(.programs))
    func linesForTheJournalHaveAPriority() async throws {
        let scratch = try Scratch()
        let script = """
            exec 2>"$0"
            export JOURNAL_STREAM=$(stat -L -c %d:%i "$0")
            wait_for() { for _ in $(seq 300); do grep -q "$1" "$2" && return; sleep 0.2; done; }
            "$1" worker --connect tcp://127.0.0.1:9 --until-idle 1h --blobs "$0.none" & worker=$!
            wait_for "notice packhorse.worker: There is no blob store yet" "$0"; kill $worker; wait $worker
            "$1" up --data "$0.up" --control-port "$2" --workers 1 --no-gateway >"$0.out" & up=$!
            wait_for coordinator "$0.out"; kill $up; wait $up
            "$1" inspect /nonexistent
            JOURNAL_STREAM=1:1 "$1" inspect /nonexistent
            true
            """
        let log = scratch.url("journal")
        let port = try #require(try Ports.endpoint().split(separator: ":").last.map(String.init))
        let outcome = try await Program.run(
            URL(filePath: "/bin/sh"), ["-c", script, log.path, Program.packhorse.path, port], in: scratch)
        #expect(outcome.status == 0)
        let lines = try String(contentsOf: log, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(lines.contains { $0.hasPrefix("<5>notice packhorse.worker: ") }, "\(lines)")
        #expect(lines.contains { $0.hasPrefix("<5>coordinator | notice packhorse.coordinator: ") }, "\(lines)")
        #expect(lines.contains { $0.hasPrefix("<3>packhorse: error: ") }, "\(lines)")
        #expect(lines.contains { $0.hasPrefix("packhorse: error: ") }, "another stream is not the journal: \(lines)")
    }

    /// A service whose terminal is closed ends in order; SIGHUP alone does not end it.
    @Test(.timeLimit(.programs))
    func aClosedTerminalEndsAService() async throws {
        let scratch = try Scratch()
        let script = """
            os, pty, signal, sys, time = map(__import__, "os pty signal sys time".split())
            pid, terminal = pty.fork()
            if pid == 0:
                log = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
                os.dup2(log, 2)
                os.execv(sys.argv[1], ["packhorse", "coordinator", "--data", sys.argv[3], "--control", "tcp://127.0.0.1:*", "--work", "tcp://127.0.0.1:*"])
            for _ in range(600):
                if os.path.exists(sys.argv[3] + "/endpoints.json"): break
                time.sleep(0.1)
            for _ in range(600):
                os.kill(pid, signal.SIGHUP)
                time.sleep(0.1)
                assert os.waitpid(pid, os.WNOHANG) == (0, 0), "SIGHUP ended it"
                if b"read again" in open(sys.argv[2], "rb").read().lower(): break
            else: sys.exit("it never answers SIGHUP")
            os.close(terminal)
            for _ in range(200):
                done, status = os.waitpid(pid, os.WNOHANG)
                if done: sys.exit(os.waitstatus_to_exitcode(status))
                time.sleep(0.1)
            os.kill(pid, signal.SIGKILL)
            sys.exit(99)
            """
        let log = scratch.url("terminal.log")
        let outcome = try await Program.run(
            URL(filePath: "/usr/bin/python3"),
            ["-c", script, Program.packhorse.path, log.path, scratch.url("data").path], in: scratch)
        let said = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
        #expect(outcome.status == 0, "\(outcome.status) \(outcome.errors) \(said)")
        #expect(said.contains("The terminal was closed"), "\(said)")
    }
}
