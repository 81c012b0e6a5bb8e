import Foundation
import TestSupport
import Testing

/// What an operator sees of a cluster: the event log, the live table, a backup and going back to it.
struct MonitoringTests {
    @Test(.timeLimit(.programs))
    func whoFollowsTheLogOutlivesACoordinator() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 0, in: scratch)
        let follower = try Daemon(["events", "-f", "--coordinator", cluster.control], in: scratch)
        for country in ["LI", "EE"] {
            let job = try await cluster.submit([country, "--tileset", origin.tileset, "--zoom", "0-8"])
            try await Eventually.holds("it tells of job \(job)") {
                try String(contentsOf: follower.output, encoding: .utf8).contains("job \(job) submitted")
            }
            guard country == "LI" else { continue }
            try await cluster.coordinator?.killNow()
            try await Eventually.holds("the coordinator is missed") {
                follower.said.contains("waiting until it is back")
            }
            try await cluster.startCoordinator()
        }
        try await follower.stop()
        try await cluster.stop()
    }

    @Test(.timeLimit(.programs))
    func whatHappenedIsSeenFollowedBackedUpAndRestored() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 1, in: scratch)
        _ = try await cluster.build(["LI", "--tileset", origin.tileset, "--zoom", "0-8"])

        let events = try await cluster.run(["events", "--job", "1"]).output
        #expect(events.contains("job 1 submitted"))
        #expect(events.contains("package LI published as version 1"))
        #expect(events.contains("job 1 done"))
        let json = try await cluster.run(["events", "--json", "--limit", "1"]).output
        let line = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
        #expect(line?["kind"] is String)

        let top = try await cluster.run(["top", "--once"]).output
        #expect(top.contains("packhorse serving"))
        #expect(top.contains("Liechtenstein"))

        let backup = try await cluster.run(["backup", "one"])
        #expect(backup.status == 0, "\(backup.errors)")
        let again = try await cluster.run(["backup", "one"])
        #expect(again.status == 73)
        #expect(again.errors.contains("already"))
        let running = try await Program.run(["state", "check", "--data", cluster.data.path], in: scratch)
        #expect(running.status == 75, "\(running.errors)")
        try await cluster.stop()

        let verified = try await Program.run(["state", "check", "--data", cluster.data.path], in: scratch)
        #expect(
            verified.status == 0 && verified.output.hasPrefix("state verified: "),
            "\(verified.errors)\(verified.output)")
        let file = backup.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let restored = try await Program.run(["state", "restore", file, "--data", cluster.data.path], in: scratch)
        #expect(restored.status == 0, "\(restored.errors)")
        let checked = try await Program.run(["state", "check", "--data", cluster.data.path], in: scratch)
        #expect(checked.output.contains("1 job"))
        let missing = try await Program.run(
            ["state", "restore", "/nonexistent", "--data", cluster.data.path], in: scratch)
        #expect(missing.status == 66)
    }
}
