import Foundation
import Notifications
import TestSupport
import Testing

/// `packhorse watch --exec` with real scripts.
@Suite(.serialized)
struct WatchExecTests {
    /// Appends the variables and the JSON to a file, and fails for the end of the job.
    private static let script = """
        #!/bin/sh
        set -eu
        printf '%s|%s|%s|%s|%s|%s\\n' "$PACKHORSE_EVENT" "$PACKHORSE_JOB" "$PACKHORSE_STATE" "$PACKHORSE_PACKAGE" \\
            "$PACKHORSE_VERSION" "$PACKHORSE_FILE" >> "$1"
        cat >> "$1.json"
        echo "printed by the script"
        if [ "$PACKHORSE_EVENT" = job-done ]; then exit 3; fi
        """

    private func script(_ text: String, _ scratch: Scratch) throws -> String {
        let file = scratch.url("script-\(UUID().uuidString)")
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
        return file.path
    }

    private func lines(_ file: URL) -> [String] {
        // Before the first run there is no file.
        ((try? String(contentsOf: file, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
    }

    @Test(.timeLimit(.programs))
    func aScriptRunsForEachEventInOrderAndItsFailureIsTold() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 1, in: scratch)
        let job = try await cluster.submit(["LI", "EE", "--zoom", "0-7", "--tileset", origin.tileset])
        let (seen, script) = (scratch.url("seen"), try script(Self.script, scratch))
        let command = "'\(script)' '\(seen.path)'"
        let outcome = try await cluster.run(["watch", job, "--json", "--progress", "none", "--exec", command])
        #expect(outcome.status == 75, "\(outcome.errors)")
        #expect(outcome.errors.contains("1 of its commands failed, the last one with 3"), "\(outcome.errors)")
        #expect(outcome.errors.contains("package-published (event ") && outcome.errors.contains("ended with 0"))
        #expect(outcome.errors.contains("printed by the script"))
        let ended = try Job(json: outcome.output)
        #expect(ended.state == "done", "standard output has the result alone")

        let found = lines(seen)
        #expect(found.count == 3 && found.last == "job-done|\(job)|done|||", "\(found)")
        for package in ended.packages {
            let path = try #require(package.path)
            #expect(found.contains("package-published|\(job)|published|\(package.id)|1|\(path)"), "\(found)")
        }
        let contents = try lines(URL(filePath: seen.path + ".json")).map { try EventNotification(json: Data($0.utf8)) }
        #expect(contents.map(\.kind) == ["package-published", "package-published", "job-done"])
        #expect(contents.map(\.seq) == contents.map(\.seq).sorted())

        // A job that has ended gives the same events again; only the wanted ones run.
        let again = try await cluster.run(
            ["watch", job, "--progress", "none", "--exec", command, "--exec-on", "package-published"])
        #expect(again.status == 0, "\(again.errors)")
        #expect(lines(seen).count == 5)
        try await cluster.stop()
    }

    /// The exit code of a failed job goes before that of a command.
    @Test(.timeLimit(.programs))
    func theFailureOfAJobIsTheResult() async throws {
        let scratch = try Scratch()
        let cluster = try await Cluster(workers: 0, in: scratch)
        let origin = try await DemoOrigin(in: scratch)
        let job = try await cluster.submit(["LI", "--zoom", "0-4", "--tileset", origin.tileset])
        let seen = scratch.url("seen")
        let watch = try Daemon(
            [
                "watch", job, "--progress", "none", "--coordinator", cluster.control, "--exec",
                "echo \"$PACKHORSE_EVENT\" >> '\(seen.path)'; exit 1",
            ], in: scratch)
        #expect(try await cluster.run(["cancel", job]).status == 0)
        try await Eventually.holds("the watch ends") { !watch.isRunning }
        #expect(watch.status == 65, "\(watch.said)")
        #expect(lines(seen) == ["job-cancelled"])
        try await cluster.stop()
    }

    @Test(.timeLimit(.programs))
    func aSignalEndsTheWatchAndItsCommand() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 1, in: scratch)
        _ = try await cluster.build(["LI", "--zoom", "0-6", "--tileset", origin.tileset])
        let started = scratch.url("started")
        let watch = try Daemon(
            [
                "watch", "1", "--progress", "none", "--coordinator", cluster.control, "--exec",
                "echo $$ > '\(started.path)'; sleep 600; echo > '\(started.path).end'",
            ], in: scratch)
        let shell = try await Eventually.get("the command runs") { lines(started).first.flatMap { Int32($0) } }
        kill(watch.pid, SIGINT)
        try await Eventually.holds("the watch ends") { !watch.isRunning }
        #expect(watch.status == 130, "\(watch.said)")
        try await Eventually.holds("the command ends") { kill(shell, 0) != 0 }
        #expect(!FileManager.default.fileExists(atPath: started.path + ".end"))
        try await cluster.stop()
    }

    @Test(.timeLimit(.programs))
    func wrongKindsAreRefused() async throws {
        let scratch = try Scratch()
        let unknown = try await Program.run(["watch", "1", "--exec", "true", "--exec-on", "lunch"], in: scratch)
        #expect(unknown.status == 64 && unknown.errors.contains("'lunch'"), "\(unknown.errors)")
        let useless = try await Program.run(["watch", "1", "--exec-on", "job-done"], in: scratch)
        #expect(useless.status == 64 && useless.errors.contains("--exec"), "\(useless.errors)")
    }
}
