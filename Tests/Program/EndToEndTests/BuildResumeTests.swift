import Foundation
import TestSupport
import Testing

/// `packhorse build`, interrupted and killed: the same command continues, and each kill costs a tile at most one more
/// request.
@Suite(.serialized)
struct BuildResumeTests {
    private static let area = ["EE", "--zoom", "0-11", "--workers", "2", "--progress", "plain"]

    private func arguments(_ origin: SyntheticOrigin, _ file: URL) -> [String] {
        ["build"] + Self.area + ["--tileset", origin.tileset, "-o", file.path]
    }

    /// What an undisturbed build makes.
    private func undisturbed(_ format: String = "mbtiles", in scratch: Scratch) async throws -> Data {
        let origin = try SyntheticOrigin(in: scratch)
        defer { origin.stop() }
        let file = scratch.url("undisturbed.\(format)")
        let outcome = try await Program.run(arguments(origin, file), in: scratch)
        #expect(outcome.status == 0, "\(outcome.errors)")
        return try Data(contentsOf: file)
    }

    /// The processes whose command line names the state of a build, but for the build itself.
    private func children(_ file: URL, in scratch: Scratch) async throws -> [Int32] {
        let folder = file.deletingLastPathComponent().path
        let state = "\(folder)/.\(file.lastPathComponent).packhorse/cluster"
        let found = try await Program.run(URL(filePath: "/usr/bin/pgrep"), ["-f", state], in: scratch)
        return found.output.split(separator: "\n").compactMap { Int32($0) }
    }

    /// The most often that one tile was asked for.
    private func most(_ origin: SyntheticOrigin) -> Int { (origin.server.requests.map(\.earlier).max() ?? 0) + 1 }

    /// A build that has `count` more tiles and waits for the others.
    private func halted(after count: Int, _ origin: SyntheticOrigin, _ file: URL, in scratch: Scratch) async throws
        -> Daemon
    {
        origin.gate.allow(count)
        let daemon = try Daemon(arguments(origin, file), in: scratch)
        try await Eventually.holds("\(count) more tiles are fetched") { origin.gate.isHolding }
        return daemon
    }

    @Test(.timeLimit(.programs), arguments: ["mbtiles", "pmtiles"])
    func aBuildThatIsKilledAgainAndAgainMakesTheSameBytes(format: String) async throws {
        let scratch = try Scratch()
        let expected = try await undisturbed(format, in: scratch)
        let origin = try SyntheticOrigin(in: scratch)
        defer { origin.stop() }
        let file = scratch.url("EE.\(format)")
        for _ in 0..<3 {
            let daemon = try await halted(after: Int.random(in: 5...30), origin, file, in: scratch)
            try await daemon.killNow()
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }
        origin.gate.open()
        let outcome = try await Program.run(arguments(origin, file), in: scratch)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors.contains("continuing "))
        #expect(try Data(contentsOf: file) == expected)
        #expect(most(origin) <= 1 + 3)
        #expect(try await children(file, in: scratch).isEmpty)
    }

    @Test(.timeLimit(.programs))
    func childrenEndWithABuildThatIsKilled() async throws {
        let scratch = try Scratch()
        let origin = try SyntheticOrigin(in: scratch)
        defer { origin.stop() }
        let file = scratch.url("EE.mbtiles")
        let daemon = try await halted(after: 10, origin, file, in: scratch)
        #expect(try await children(file, in: scratch).count == 3)
        try await daemon.killNow()
        try await Eventually.holds("no process is left", within: .seconds(30)) {
            try await children(file, in: scratch).isEmpty
        }
    }

    @Test(.timeLimit(.programs), arguments: ["coordinator", "worker"])
    func aChildThatIsKilledIsReplaced(role: String) async throws {
        let scratch = try Scratch()
        let expected = try await undisturbed(in: scratch)
        let origin = try SyntheticOrigin(in: scratch)
        defer { origin.stop() }
        let file = scratch.url("EE.mbtiles")
        let daemon = try await halted(after: 50, origin, file, in: scratch)
        let pids = try await children(file, in: scratch)
        let victim = try #require(
            try pids.first { pid in
                let words = try String(contentsOfFile: "/proc/\(pid)/cmdline", encoding: .utf8).split(separator: "\0")
                return words.dropFirst().first.map(String.init) == role
            })
        kill(victim, SIGKILL)
        origin.gate.open()
        try await Eventually.holds("the build ends") { !daemon.isRunning }
        #expect(daemon.status == 0, "\(daemon.said)")
        #expect(daemon.said.contains("signal 9; restarting"), "\(daemon.said)")
        #expect(try Data(contentsOf: file) == expected)
        #expect(most(origin) <= 2, "\(daemon.said)")
    }

    @Test(.timeLimit(.programs))
    func anInterruptedBuildSaysHowToGoOnAndDoes() async throws {
        let scratch = try Scratch()
        let expected = try await undisturbed(in: scratch)
        let origin = try SyntheticOrigin(in: scratch)
        defer { origin.stop() }
        let file = scratch.url("EE.mbtiles")
        let daemon = try await halted(after: 100, origin, file, in: scratch)
        kill(daemon.pid, SIGINT)
        try await Eventually.holds("the build ends", within: .seconds(50)) { !daemon.isRunning }
        #expect(daemon.status == 130, "\(daemon.said)")
        #expect(daemon.said.contains("packhorse build EE --zoom 0-11"), "\(daemon.said)")
        #expect(try await children(file, in: scratch).isEmpty)

        let other = try await Program.run(
            ["build", "LV", "--zoom", "0-5", "--tileset", origin.tileset, "-o", file.path], in: scratch)
        #expect(other.status == 65)
        #expect(other.errors.contains("Estonia") && other.errors.contains("--restart"), "\(other.errors)")
        let wider = try await Program.run(arguments(origin, file) + ["--margin", "1km"], in: scratch)
        #expect(wider.status == 65 && wider.errors.contains("its area or other options differ"), "\(wider.errors)")
        let again = "continue it with: packhorse build EE --zoom 0-11 --workers 2 --progress plain --tileset"
        #expect(wider.errors.contains(again), "\(wider.errors)")

        origin.gate.open()
        let outcome = try await Program.run(arguments(origin, file), in: scratch)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try Data(contentsOf: file) == expected)
        #expect(most(origin) <= 2)
    }

    /// `timeout` sends its signal to the build, and to its process group with the build in it.
    @Test(.timeLimit(.programs))
    func aBuildThatTimesOutSaysHowToGoOn() async throws {
        let scratch = try Scratch()
        let origin = try SyntheticOrigin(in: scratch)
        defer { origin.stop() }
        let file = scratch.url("EE.mbtiles")
        origin.gate.allow(50)
        let daemon = try Daemon(
            program: URL(filePath: "/usr/bin/timeout"), ["3600", Program.packhorse.path] + arguments(origin, file),
            in: scratch)
        try await Eventually.holds("50 tiles are fetched") { origin.gate.isHolding }
        // Its time is over. This is the only signal that it takes if a thread that blocks signals starts it.
        kill(daemon.pid, SIGALRM)
        try await Eventually.holds("the build ends", within: .seconds(50)) { !daemon.isRunning }
        #expect(daemon.status == 124, "\(daemon.said)")
        #expect(daemon.said.contains("to continue where it stopped, run: packhorse build EE"), "\(daemon.said)")
        #expect(!daemon.said.contains("without clean-up"), "\(daemon.said)")
        try await Eventually.holds("no process is left", within: .seconds(30)) {
            try await children(file, in: scratch).isEmpty
        }
    }

    /// The same command with `--restart` would drop the tiles that are kept.
    @Test(.timeLimit(.programs))
    func theAdviceOfAFailedRestartKeepsTheTiles() async throws {
        let scratch = try Scratch()
        let server = try ScriptedServer { request in
            let html = ScriptedServer.Answer.reply(
                200, headers: [("Content-Type", "text/html")], body: Array("<!DOCTYPE html><p>Sign in".utf8))
            return request.path.hasPrefix("/4/") ? html : .reply(200, body: SyntheticOrigin.tile(request.path))
        }
        defer { server.stop() }
        let tileset = scratch.url("broken.yaml")
        try Data("id: broken\nurl: \(server.url)/{z}/{x}/{y}.pbf\nformat: pbf\nzoom: 0-4\n".utf8).write(to: tileset)
        let file = scratch.url("EE.mbtiles")
        let outcome = try await Program.run(
            ["build"] + Self.area + ["--zoom", "0-4", "--tileset", tileset.path, "-o", file.path, "--restart"],
            in: scratch)
        #expect(outcome.status != 0 && outcome.errors.contains("fetched tiles are kept"), "\(outcome.errors)")
        let hint = outcome.errors.split(separator: "\n").last { $0.hasPrefix("hint: ") } ?? ""
        #expect(hint.contains("packhorse build EE") && !hint.contains("--restart"), "\(hint)")
    }

    @Test(.timeLimit(.programs))
    func aBuildThatFetchedNothingKeepsNothing() async throws {
        let scratch = try Scratch()
        let server = try ScriptedServer { _ in .reply(404) }
        defer { server.stop() }
        let tileset = scratch.url("wrong.yaml")
        try Data("id: synthetic\nurl: \(server.url)/{z}/{x}/{y}.pbf\nformat: pbf\nzoom: 0-14\n".utf8).write(to: tileset)
        let file = scratch.url("EE.mbtiles")
        let area = ["build"] + Self.area + ["--zoom", "0-4"]
        let wrong = try await Program.run(area + ["--tileset", tileset.path, "-o", file.path], in: scratch)
        #expect(wrong.status != 0 && wrong.errors.contains("no tiles are kept"), "\(wrong.errors)")
        // The command with a mended tileset is another build, and nothing stands in its way.
        let origin = try SyntheticOrigin(in: scratch)
        defer { origin.stop() }
        let mended = try await Program.run(area + ["--tileset", origin.tileset, "-o", file.path], in: scratch)
        #expect(mended.status == 0, "\(mended.errors)")
    }

    @Test(.timeLimit(.programs))
    func anotherTilesetIsNamedByWhatDiffersAndAFileInTheWayAtOnce() async throws {
        let scratch = try Scratch()
        let origin = try SyntheticOrigin(in: scratch)
        defer { origin.stop() }
        let file = scratch.url("EE.mbtiles")
        let daemon = try await halted(after: 10, origin, file, in: scratch)
        try await daemon.killNow()
        origin.gate.open()
        let polite = scratch.url("polite.yaml")
        let text = try String(contentsOf: URL(filePath: origin.tileset), encoding: .utf8)
        try Data("\(text)politeness:\n  concurrency: 2\n".utf8).write(to: polite)
        let other = try await Program.run(
            ["build"] + Self.area + ["--tileset", polite.path, "-o", file.path], in: scratch)
        #expect(
            other.status == 65 && other.errors.contains("its tileset differs in politeness.concurrency")
                && other.errors.contains("undo the change of the tileset"), "\(other.errors)")
        try Data("mine".utf8).write(to: file)
        let before = origin.server.requests.count
        let blocked = try await Program.run(arguments(origin, file), in: scratch)
        #expect(blocked.status == 73 && origin.server.requests.count == before, "\(blocked.errors)")
        #expect(try Data(contentsOf: file) == Data("mine".utf8))
    }

    @Test(.timeLimit(.programs))
    func oneBuildOfAnOutputRunsAtATime() async throws {
        let scratch = try Scratch()
        let origin = try SyntheticOrigin(in: scratch)
        defer { origin.stop() }
        let file = scratch.url("EE.mbtiles")
        let daemon = try await halted(after: 10, origin, file, in: scratch)
        let second = try await Program.run(arguments(origin, file), in: scratch)
        #expect(second.status == 75, "\(second.errors)")
        #expect(second.errors.contains("process \(daemon.pid)"), "\(second.errors)")
        kill(daemon.pid, SIGINT)
        try await Eventually.holds("the first ends") { !daemon.isRunning }
    }
}
