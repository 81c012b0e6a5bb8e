import Foundation
import TestSupport
import Testing

/// `packhorse up` in a folder and on ports of its own.
final class RunningUp {
    let data: URL
    private let scratch: Scratch
    private let controlPort: String
    private let arguments: [String]
    private(set) var daemon: Daemon

    /// Starts it, and waits until everything is up.
    init(_ arguments: [String] = ["--no-gateway"], workers: Int = 2, in scratch: Scratch) async throws {
        self.scratch = scratch
        data = scratch.url("up-\(UUID().uuidString)")
        controlPort = String(try Ports.endpoint().split(separator: ":").last ?? "")
        self.arguments =
            ["up", "--data", data.path, "--control-port", controlPort, "--workers", "\(workers)"] + arguments
        daemon = try Daemon(self.arguments, in: scratch)
        try await isUp()
    }

    var control: String { "tcp://127.0.0.1:\(controlPort)" }
    /// What it printed when everything was up, by the first word of the line.
    var printed: [String: String] {
        // A file that is not there yet has no lines.
        let text = (try? String(contentsOf: daemon.output, encoding: .utf8)) ?? ""
        let words = text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        return Dictionary(words.filter { $0.count == 2 }.map { ($0[0], $0[1]) }) { first, _ in first }
    }

    /// Starts it again with the same folder and ports.
    func startAgain() async throws {
        daemon = try Daemon(arguments, in: scratch)
        try await isUp()
    }

    private func isUp() async throws {
        try await Eventually.holds("everything is up") {
            guard daemon.isRunning else { throw Daemon.Ended(program: "up", said: daemon.said) }
            return printed["coordinator"] != nil
        }
    }

    /// Runs a command as in another shell.
    func run(_ arguments: [String]) async throws -> Program.Outcome {
        try await Program.run(arguments + ["--coordinator", control], in: scratch)
    }

    /// Submits and returns the job's number.
    func submit(_ arguments: [String]) async throws -> String {
        let outcome = try await run(["submit"] + arguments)
        try #require(outcome.status == 0, "\(arguments): \(outcome.errors)")
        return outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Waits until some of the tiles of a job are there.
    func middle(of job: String) async throws {
        try await Eventually.holds("job \(job) has begun") {
            let outcome = try await self.run(["status", job, "--json"])
            return outcome.status == 0 ? try Job(json: outcome.output).batchesDone >= 1 : false
        }
    }

    /// Waits for the end of a job.
    func end(of job: String) async throws -> Job {
        let outcome = try await run(["watch", job, "--json", "--progress", "none"])
        try #require(outcome.status == 0, "\(outcome.errors)\n\(daemon.said)")
        return try Job(json: outcome.output)
    }

    /// Its child processes, by their command: `coordinator`, `worker`, `gateway`.
    func children() async throws -> [String: [Int32]] {
        let found = try await Program.run(URL(filePath: "/usr/bin/pgrep"), ["-P", "\(daemon.pid)"], in: scratch)
        let pids = found.output.split(separator: "\n").compactMap { Int32($0) }
        return Dictionary(grouping: pids) { pid in
            // A process that has just ended has no command line.
            let text = (try? String(contentsOfFile: "/proc/\(pid)/cmdline", encoding: .utf8)) ?? ""
            return text.split(separator: "\0").dropFirst().first.map(String.init) ?? "ended"
        }
    }

    /// Kills a child and waits for another one of its kind.
    func killAndReplace(_ command: String) async throws {
        let before = try await children()
        let victim = try #require(before[command]?.first)
        kill(victim, SIGKILL)
        try await Eventually.holds("\(command) is started again") {
            let now = try await self.children()[command] ?? []
            return !now.contains(victim) && now.count == before[command]?.count
        }
    }

    /// Waits until none of these processes is left.
    static func gone(_ children: [String: [Int32]]) async throws {
        try await Eventually.holds("all of \(children) end", within: .seconds(50)) {
            children.values.joined().allSatisfy(hasEnded)
        }
    }

    /// Whether a process has ended; an ended one is listed until its parent reads its exit code.
    private static func hasEnded(_ pid: Int32) -> Bool {
        // A process without this file has ended.
        let text = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
        let state = text.split(separator: ")").last?.split(separator: " ").first
        return state == nil || state == "Z"
    }
}
