import Foundation
import TestSupport
import Testing

/// What a user sees who submits, waits, pauses and resumes a job, while the coordinator is killed.
@Suite(.serialized)
struct UserViewTests {
    /// One line of `--progress json`.
    private struct Line: Decodable {
        let state: String
        let tiles: Int
        let stored: Int
        let empty: Int
        let settled: Int
        let waiting: String?
    }

    private func lines(_ daemon: Daemon) -> [Line] {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return daemon.said.split(separator: "\n").compactMap { try? decoder.decode(Line.self, from: Data($0.utf8)) }
    }

    /// What is done never becomes less, no phase comes back, and nothing exceeds the whole.
    private func checkTruth(_ lines: [Line]) {
        let phases = ["fetching", "merging", "publishing", "done"]
        for line in lines { #expect((0...line.tiles).contains(line.settled)) }
        for (before, after) in zip(lines, lines.dropFirst()) {
            #expect(after.stored + after.empty >= before.stored + before.empty)
            #expect((phases.firstIndex(of: after.state) ?? 9) >= (phases.firstIndex(of: before.state) ?? 0))
        }
    }

    @Test(.timeLimit(.programs))
    func aJobThatIsPausedResumedAndWhoseCoordinatorDiesEndsWell() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(["--latency-ms", "120"], in: scratch)
        let cluster = try await Cluster(workers: 2, in: scratch)
        let submit = try Daemon(
            [
                "submit", "EE", "DE", "--zoom", "0-11", "--tileset", origin.tileset, "--wait", "--json",
                "--progress", "json", "--timeout", "10", "--coordinator", cluster.control,
            ], in: scratch)
        try await Eventually.holds("the job has begun") {
            let jobs = try await cluster.run(["jobs", "--quiet"])
            guard jobs.output.contains("1") else { return false }
            return try await cluster.status("1").batchesDone >= 1
        }
        let paused = try await cluster.run(["pause", "1"])
        #expect(paused.status == 0, "\(paused.errors)")
        #expect(try await cluster.run(["jobs"]).output.contains("fetching (paused)"))
        let still = try await cluster.status("1")
        try await cluster.coordinator?.killNow()
        try await cluster.startCoordinator()
        let after = try await cluster.status("1")
        #expect(after.stored == still.stored, "paused is paused, over a restart too")
        #expect(after.settled == still.stored + still.empty, "what was taken back does not count")
        let again = try await cluster.run(["retry", "1"])
        #expect(again.status == 65)
        #expect(again.errors.contains("hint: packhorse resume 1"))
        #expect(try await cluster.run(["resume", "1"]).status == 0)
        try await Eventually.holds("it goes on") { try await cluster.status("1").batchesDone > after.batchesDone }
        try await cluster.coordinator?.killNow()
        try await cluster.startCoordinator()
        try await Eventually.holds("the command ends") { !submit.isRunning }
        #expect(submit.status == 0, "\(submit.said)")
        let job = try Job(json: try String(contentsOf: submit.output, encoding: .utf8))
        #expect(job.state == "done")
        #expect(job.settled == job.tiles && job.failed == 0)
        #expect(job.packages.map(\.id) == ["EE", "DE"])
        let seen = lines(submit)
        #expect(!seen.isEmpty)
        checkTruth(seen)
        let verified = try await Program.run(["verify", cluster.catalog.path], in: scratch)
        #expect(verified.status == 0, "\(verified.errors)")
        try await cluster.stop()
    }

    @Test(.timeLimit(.programs))
    func aCancelledJobEndsAtOnceCanBeRetriedAndItsFollowerFails() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(["--latency-ms", "20"], in: scratch)
        // Without a worker the job cannot end before it is cancelled.
        let cluster = try await Cluster(workers: 0, in: scratch)
        let job = try await cluster.submit(["EE", "--zoom", "0-9", "--tileset", origin.tileset])
        let joined = try await cluster.run(["submit", "EE", "--zoom", "0-9", "--tileset", origin.tileset])
        #expect(joined.output.trimmingCharacters(in: .whitespacesAndNewlines) == job)
        #expect(joined.errors.contains("makes exactly the same packages"))
        _ = try await cluster.run(["pause", job])
        let asleep = try await cluster.run(["submit", "EE", "--zoom", "0-9", "--tileset", origin.tileset])
        #expect(asleep.errors.contains("packhorse resume \(job)"), "\(asleep.errors)")
        _ = try await cluster.run(["resume", job])
        let urgent = try await cluster.run(
            ["submit", "EE", "--zoom", "0-9", "--tileset", origin.tileset, "--priority", "7"])
        #expect(urgent.errors.contains("packhorse priority \(job) 7"), "\(urgent.errors)")
        let other = scratch.url("other.yaml")
        try Data("id: other\nurl: http://127.0.0.1:9/{z}/{x}/{y}.pbf\nzoom: 0-5\nformat: pbf\n".utf8).write(to: other)
        let rival = ["submit", "EE", "--zoom", "0-5", "--tileset", other.path, "--dry-run"]
        let warned = try await cluster.run(rival)
        #expect(warned.status == 0 && warned.errors.contains("Job \(job), which has not ended"), "\(warned.errors)")
        #expect(try await !cluster.run(rival + ["--replace-tileset"]).errors.contains("Job"))
        let follower = try await cluster.submit(["LV", "--zoom", "0-5", "--tileset", origin.tileset, "--after", job])
        let unknown = try await cluster.run(
            ["submit", "LV", "--zoom", "0-5", "--tileset", origin.tileset, "--after", "99"])
        #expect(unknown.status == 66)
        #expect(unknown.errors.contains("job 99, which must be done first, does not exist\n"))
        let waiting = try await cluster.run(["status", follower])
        #expect(waiting.output.contains("waits: after \(job)"))
        #expect(try await cluster.run(["cancel", job]).status == 0)
        let failed = try await cluster.status(follower)
        #expect(failed.state == "failed")
        let report = try await cluster.run(["status", follower])
        #expect(report.output.contains("job \(job), which it waited for, was cancelled"))
        let pause = try await cluster.run(["pause", job])
        #expect(pause.status == 65)
        #expect(pause.errors.contains("error: job \(job) has ended already: cancelled\n"))
        try await Eventually.holds("its shards are gone and it starts over") {
            try await cluster.run(["retry", job]).status == 0
        }
        #expect(try await cluster.run(["retry", follower]).status == 0)
        try cluster.startWorker()
        for number in [job, follower] {
            let outcome = try await cluster.run(["watch", number, "--progress", "none", "--json"])
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        try await cluster.stop()
    }

    @Test(.timeLimit(.programs))
    func aScheduleIsAddedListedRunAndRemoved() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 1, in: scratch)
        let area = ["EE", "--zoom", "0-5", "--tileset", origin.tileset]
        let wrong = try await cluster.run(["schedule", "add", "monthly-ee", "--every", "sometimes"] + area)
        #expect(wrong.status == 64)
        #expect(wrong.errors.contains("monthly 3 02:30"))
        let added = try await cluster.run(["schedule", "add", "monthly-ee", "--every", "monthly 3 02:30"] + area)
        #expect(added.status == 0, "\(added.errors)")
        let ran = try await cluster.run(["schedule", "run", "monthly-ee"])
        let job = ran.output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(job == "1")
        #expect(try await cluster.run(["watch", job, "--progress", "none"]).status == 0)
        let list = try await cluster.run(["schedule", "list"])
        #expect(list.output.contains("monthly-ee  monthly 3 02:30"))
        #expect(try await cluster.run(["schedule", "remove", "monthly-ee"]).status == 0)
        #expect(try await cluster.run(["schedule", "remove", "monthly-ee"]).status == 66)
        #expect(try await cluster.run(["failed", "list"]).status == 0)
        #expect(try await cluster.run(["failed", "show", "7"]).status == 66)
        try await cluster.stop()
    }

    /// A wrong port is heard of from the worker itself, and from the job that waits for it.
    @Test(.timeLimit(.programs))
    func whoWaitsForTheOtherSideSaysSo() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let astray = try Daemon(
            ["worker", "--connect", "tcp://127.0.0.1:9", "--scratch", scratch.url("s").path], in: scratch)
        let cluster = try await Cluster(workers: 0, in: scratch)
        let mistaken = try await Program.run(
            ["worker", "--connect", cluster.control, "--scratch", scratch.url("m").path], in: scratch)
        #expect(mistaken.status == 78 && mistaken.errors.contains("wrong-endpoint"), "\(mistaken.errors)")
        let port = try #require(cluster.control.split(separator: ":").last)
        for arguments in [["jobs"], ["status", "1"], ["cancel", "1"], ["health"]] {
            let astray = try await Program.run(arguments + ["--coordinator", cluster.work], in: scratch)
            #expect(astray.status == 78, "\(arguments): \(astray)")
            #expect(astray.errors.contains("this is the coordinator's endpoint for workers"), "\(astray.errors)")
            #expect(astray.errors.contains("--coordinator tcp://HOST:\(port)"), "\(astray.errors)")
        }
        let job = try await cluster.submit(["EE", "--zoom", "0-5", "--tileset", origin.tileset])
        let status = try await cluster.run(["status", job])
        #expect(status.output.contains("waits: no worker is connected; start one with packhorse worker"), "\(status)")
        try await Eventually.holds("the worker misses its coordinator") {
            astray.said.contains("No coordinator answers") && astray.said.contains("tcp://127.0.0.1:9")
        }
        try await astray.stop()
        try await cluster.stop()
    }
}
