import Foundation
import TestSupport
import Testing

/// One rule for every child of `packhorse build`: one that is killed is replaced, at whatever moment.
@Suite(.serialized)
struct BuildKillTests {
    private static let area = ["EE", "--zoom", "0-8", "--workers", "2", "--progress", "plain"]

    private func arguments(_ origin: SyntheticOrigin, _ file: URL) -> [String] {
        ["build"] + Self.area + ["--tileset", origin.tileset, "-o", file.path]
    }

    /// A child of a process by its command, as soon as there is one.
    private func child(_ role: String, of daemon: Daemon) async throws -> Int32? {
        while daemon.isRunning {
            // A thread that has just ended has no children.
            let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(daemon.pid)/task")) ?? []
            for thread in threads {
                let path = "/proc/\(daemon.pid)/task/\(thread)/children"
                let pids = ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").split(separator: " ")
                for pid in pids.compactMap({ Int32($0) }) {
                    // Before its program is executed, a child has the command line of its parent.
                    let line = (try? String(contentsOfFile: "/proc/\(pid)/cmdline", encoding: .utf8)) ?? ""
                    if line.split(separator: "\0").dropFirst().first.map(String.init) == role { return pid }
                }
            }
            try await Task.sleep(for: .milliseconds(1))
        }
        return nil
    }

    /// The first 0.1 s, the planning of the job and the time until its answer, and the work.
    @Test(
        .timeLimit(.programs),
        arguments: [0, 10, 30, 60, 90, 120, 150, 180, 220, 300, 450, 700], ["coordinator", "worker"])
    func aChildThatIsKilledAtAnyMomentIsReplaced(milliseconds: Int, role: String) async throws {
        guard role == "coordinator" || milliseconds.isMultiple(of: 60) else { return }
        let scratch = try Scratch()
        let origin = try SyntheticOrigin(latency: .milliseconds(5), in: scratch)
        defer { origin.stop() }
        let (calm, file) = (scratch.url("calm.mbtiles"), scratch.url("EE.mbtiles"))
        let outcome = try await Program.run(arguments(origin, calm), in: scratch)
        #expect(outcome.status == 0, "\(outcome.errors)")
        // The build must not end before its child is found.
        origin.gate.allow(5)
        let daemon = try Daemon(arguments(origin, file), in: scratch)
        let victim = try #require(try await child(role, of: daemon), "\(daemon.said)")
        try await Task.sleep(for: .milliseconds(milliseconds))
        let wasKilled = kill(victim, SIGKILL) == 0
        origin.gate.open()
        // Far less than the minute for which a request may wait, and what a busy machine takes.
        try await Eventually.holds("the build ends", within: .seconds(40) + outcome.duration * 4) { !daemon.isRunning }
        #expect(daemon.status == 0, "\(milliseconds) ms: \(daemon.said)")
        #expect(!wasKilled || milliseconds > 100 || daemon.said.contains("signal 9; restarting"), "\(daemon.said)")
        #expect(try Data(contentsOf: file) == Data(contentsOf: calm))
    }
}
