import Foundation
import TestSupport
import Testing

/// Files with the options of services.
@Suite(.serialized)
struct ConfigurationTests {
    private func write(_ text: String, _ name: String, _ scratch: Scratch) throws -> String {
        let file = scratch.url(name)
        try Data(text.utf8).write(to: file)
        return file.path
    }

    @Test(.timeLimit(.programs))
    func everyWrongLineIsNamedWithItsNumberAndASuggestion() async throws {
        let scratch = try Scratch()
        let file = try write(
            """
            # A worker
            slot: 4
            slots: many
            log_level: info
            log-level: loud
            until-idle: soon
            insecure: perhaps
            scratch: [a, b]
            keep-tiles: 50GB
            """, "worker.yaml", scratch)
        let outcome = try await Program.run(["config", "check", file], in: scratch)
        #expect(outcome.status == 78, "\(outcome.errors)")
        let lines = outcome.output.split(separator: "\n").map(String.init)
        let expected = [
            (2, "unknown key 'slot'; did you mean 'slots'?"), (3, "many"), (4, "did you mean 'log-level'?"),
            (5, "loud"),
            (6, "1h30m"), (7, "true or false"), (8, "not a list"), (9, "it is an option of 'coordinator'"),
        ]
        #expect(lines.count == expected.count, "\(lines)")
        for (line, (number, text)) in zip(lines, expected) {
            #expect(line.hasPrefix("\(file):\(number): ") && line.contains(text), "\(line)")
        }
        // A start with the file says the same, with the same exit code.
        let start = try await Program.run(["worker", "--config", file], in: scratch)
        #expect(start.status == 78 && start.errors.contains("worker.yaml:2: unknown key 'slot'"), "\(start.errors)")
        let json = try await Program.run(["config", "check", "--json", file], in: scratch)
        #expect(json.status == 78 && json.output.contains(#""line" : 3"#), "\(json.output)")
    }

    @Test(
        .timeLimit(.programs),
        arguments: [
            ("slots: [1", ":1: "), ("- slots", ":1: keys are expected"), ("slots: 1\nslots: 2\n", "more than once"),
            ("slots: {a: {b: c}}", ":1: text"), ("slots: 1\ncache: 3\n'slots': 2\n", ":3: a key"),
        ])
    func whatIsNotYAMLIsRefusedWithItsLine(text: String, says: String) async throws {
        let scratch = try Scratch()
        let file = try write(text, "worker.yaml", scratch)
        let outcome = try await Program.run(["config", "check", file], in: scratch)
        #expect(outcome.status == 78 && outcome.output.contains(says), "\(outcome.output) \(outcome.errors)")
    }

    @Test(.timeLimit(.programs))
    func valuesThatTheServiceRefusesAtItsStartAreFoundInEveryFile() async throws {
        let scratch = try Scratch()
        let broken = try write("slots: [1", "worker.yaml", scratch)
        let file = try write(
            """
            data: /srv/packhorse
            notify: [ftp://hooks.example.com/maps, https://hooks.example.com/maps, "file:///x"]
            notify-on: lunch
            also-catalog: [staging=/srv/staging, Main=/srv/other]
            blobs: s3://
            """, "coordinator.yaml", scratch)
        let outcome = try await Program.run(["config", "check", broken, file], in: scratch)
        #expect(outcome.status == 78, "\(outcome.errors)")
        let lines = outcome.output.split(separator: "\n").map(String.init)
        let expected = [
            (broken, 1, "no closing"), (file, 2, "http or https"), (file, 2, "http or https"), (file, 3, "lunch"),
            (file, 4, "Main=/srv/other"),
            (file, 5, "bucket"),
        ]
        #expect(lines.count == expected.count, "\(lines)")
        for (line, (name, number, text)) in zip(lines, expected) {
            #expect(line.hasPrefix("\(name):\(number): ") && line.contains(text), "\(line)")
        }
    }

    @Test(.timeLimit(.programs))
    func theCommandLineCountsBeforeTheEnvironmentBeforeTheFileBeforeTheDefault() async throws {
        let scratch = try Scratch()
        let file = try write(
            """
            slots: 7
            cache: 100
            connect: tcp://10.0.0.1:7471
            keys: /etc/packhorse/keys
            blobs: s3://tiles/blobs
            s3-endpoint: https://s3.example.org
            """, "worker.yaml", scratch)
        let outcome = try await Program.run(
            ["config", "show", "worker", "--json", "--config", file, "--slots", "9"],
            environment: ["PACKHORSE_WORK": "tcp://10.0.0.2:7471"], in: scratch)
        #expect(outcome.status == 0, "\(outcome.errors)")
        struct Row: Decodable { let option: String, values: [String], from: String }
        let rows = try JSONDecoder().decode([Row].self, from: Data(outcome.output.utf8))
        let found = Dictionary(uniqueKeysWithValues: rows.map { ($0.option, "\($0.values.joined()) | \($0.from)") })
        #expect(found["slots"] == "9 | command line")
        #expect(found["connect"] == "tcp://10.0.0.2:7471 | environment, PACKHORSE_WORK")
        #expect(found["cache"] == "100 | \(file):2")
        #expect(found["keys"] == "/etc/packhorse/keys | \(file):4")
        #expect(found["log-level"] == "notice | default")
        #expect(found["insecure"] == "false | default")
    }

    @Test(.timeLimit(.programs))
    func secretsAreNotShown() async throws {
        let scratch = try Scratch()
        let file = try write(
            """
            data: /srv/packhorse
            notify:
              - https://hooks.example.com/T0/SECRET-PATH
              - https://user:SECRET-WORD@hooks.example.com/x?key=SECRET-QUERY
            also-catalog: {staging: /srv/staging}
            """, "coordinator.yaml", scratch)
        let outcome = try await Program.run(["config", "show", "coordinator", "--config", file], in: scratch)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(!outcome.output.contains("SECRET"), "\(outcome.output)")
        #expect(outcome.output.contains("https://hooks.example.com/…"), "\(outcome.output)")
        #expect(outcome.output.contains("staging=/srv/staging"), "\(outcome.output)")

        let address = #"also-catalog-url: {staging: "https://u:SECRET-WORD@maps.example.com/staging/?t=SECRET-QUERY"}"#
        let wrong = try write(
            "data: /srv\nalso-catalog: {staging: /srv/staging}\n\(address)\n", "coordinator.yaml", scratch)
        let refused = try await Program.run(["config", "check", wrong], in: scratch)
        #expect(refused.status == 78 && refused.output.contains("https://…@maps.example.com/"), "\(refused.output)")
        #expect(!(refused.output + refused.errors).contains("SECRET"), "\(refused.output)")
    }

    /// A coordinator and a worker that have their options from files, keys from credentials, and a new level of the log.
    @Test(.timeLimit(.programs))
    func aClusterRunsFromFilesAndAHangupChangesTheLevelOfTheLog() async throws {
        let scratch = try Scratch()
        let keys = scratch.url("keys")
        let made = try await Program.run(["keygen", "--cluster", keys.path], in: scratch)
        try #require(made.status == 0, "\(made.errors)")
        let (control, work) = try (Ports.endpoint(), Ports.endpoint())
        let text = """
            data: \(scratch.url("data").path)
            control: \(control)
            work: \(work)
            no-blob-endpoint: true
            keys: \(keys.path)
            """
        let file = try write(text, "coordinator.yaml", scratch)
        let coordinator = try Daemon(["coordinator", "--config", file], in: scratch)
        let workerFile = try write(
            """
            connect: \(work)
            blobs: \(scratch.url("data/blobs").path)
            key: credential:worker.key
            server-key: credential:coordinator.pub
            slots: 2
            """, "worker.yaml", scratch)
        let without = try await Program.run(["config", "check", workerFile], in: scratch)
        #expect(without.status == 78 && without.output.contains("LoadCredential=worker.key:FILE"), "\(without.output)")
        let worker = try Daemon(
            ["worker", "--config=\(workerFile)"], environment: ["CREDENTIALS_DIRECTORY": keys.path], in: scratch)
        let operatorKeys = ["--coordinator", control, "--keys", keys.path]
        try await Eventually.holds("the worker is connected") {
            try await Program.run(["health", "--workers", "1"] + operatorKeys, in: scratch).status == 0
        }
        #expect(!worker.said.contains(" debug "))
        _ = try write(text + "\nlog-level: debug\nkeep-versions: 5\n", "coordinator.yaml", scratch)
        kill(coordinator.pid, SIGHUP)
        try await Eventually.holds("it says what it did") {
            coordinator.said.contains("log-level is debug; needs a restart: keep-versions")
        }
        let more = try String(contentsOfFile: workerFile, encoding: .utf8) + "\nlog-level: debug\n"
        _ = try write(more, "worker.yaml", scratch)
        kill(worker.pid, SIGHUP)
        try await Eventually.holds("it says what it did") { worker.said.contains("log-level is debug") }
        let origin = try await DemoOrigin(in: scratch)
        let job = ["submit", "LI", "--tileset", origin.tileset, "--zoom", "0-4", "--wait", "--progress", "none"]
        let done = try await Program.run(job + operatorKeys, in: scratch)
        #expect(done.status == 0, "\(done.errors)")
        #expect(worker.said.contains(" debug packhorse.worker: Work started"), "lines of the new level are written")
        _ = try write(text + "\nlog-levl: debug\n", "coordinator.yaml", scratch)
        kill(coordinator.pid, SIGHUP)
        try await Eventually.holds("a wrong file is refused with its line") {
            coordinator.said.contains("coordinator.yaml:6: unknown key 'log-levl'")
        }
        try await worker.stop()
        try await coordinator.stop()
        #expect(coordinator.status == 0, "\(coordinator.said)")
    }

    /// An empty file, and one with comments alone, are files without options: so they are installed.
    @Test(.timeLimit(.programs), arguments: ["", "# slots: 4\n"])
    func aFileWithoutOptionsIsRight(text: String) async throws {
        let scratch = try Scratch()
        for name in ["coordinator.yaml", "worker-berlin.yaml", "gateway.yaml", "up.yaml"] {
            let outcome = try await Program.run(["config", "check", try write(text, name, scratch)], in: scratch)
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        let other = try await Program.run(["config", "check", try write(text, "site.yaml", scratch)], in: scratch)
        #expect(other.status == 64 && other.errors.contains("--for"), "\(other.errors)")
    }

    /// What a start would refuse is found before it.
    @Test(.timeLimit(.programs))
    func addressesAndWordsOfAGatewayAreChecked() async throws {
        let scratch = try Scratch()
        let file = try write(
            """
            catalog: /srv/maps
            public-url: foo
            trusted-proxy: [10.0.0.0/8, 10.0.0.0/99]
            cors-origin: "*x"
            log-level: loud
            """, "gateway.yaml", scratch)
        let outcome = try await Program.run(["config", "check", file], in: scratch)
        #expect(outcome.status == 78, "\(outcome.output)")
        let lines = outcome.output.split(separator: "\n").map(String.init)
        for (line, word) in [
            (2, "'foo' is not an address"), (3, "'10.0.0.0/99' is neither an IP address"), (4, "'*x' is not an origin"),
            (5, "Please provide one of 'trace', 'debug', "),
        ] {
            #expect(lines.contains { $0.contains("gateway.yaml:\(line)") && $0.contains(word) }, "\(word): \(lines)")
        }
        #expect(lines.allSatisfy { !$0.contains(";   -") }, "\(lines)")
    }

    @Test(.timeLimit(.programs))
    func aMissingFileIsNamed() async throws {
        let scratch = try Scratch()
        let outcome = try await Program.run(["worker", "--config", scratch.url("none.yaml").path], in: scratch)
        #expect(outcome.status == 66 && outcome.errors.contains("none.yaml"), "\(outcome.errors)")
    }
}
