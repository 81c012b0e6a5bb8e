import Foundation
import Testing

/// What the program and its README say is true.
struct HelpTests {
    private static let commands = [
        "build", "submit", "estimate", "jobs", "status", "watch", "cancel", "pause", "resume", "retry",
        "priority", "weight", "failed", "schedule", "mask", "regions", "convert", "inspect", "verify",
        "coordinator", "worker",
        "workers", "health", "keygen", "keys", "demo", "demo-origin",
        "top", "events", "backup", "state", "origins", "diff", "apply", "packs", "style-pack", "catalog", "install",
        "uninstall", "completions", "manual",
    ]

    @Test(.timeLimit(.minutes(15)), arguments: commands)
    func everyCommandHasHelpWithAnExample(command: String) async throws {
        let scratch = try Scratch()
        let help = try await Program.run(["help", command], in: scratch)
        #expect(help.status == 0)
        #expect(help.output.contains("packhorse \(command)"))
        #expect(help.output.contains("Example"))
    }

    @Test(.timeLimit(.minutes(15)))
    func theHelpListsTheCommandsThatAreTested() async throws {
        let scratch = try Scratch()
        let help = try await Program.run(["--help"], in: scratch).output
        let listed = help.split(separator: "\n").filter {
            $0.hasPrefix("  ") && !$0.hasPrefix("   ") && !$0.hasPrefix("  -")
        }
        .compactMap { $0.split(separator: " ").first.map(String.init) }.filter { $0.first?.isLowercase == true }
        #expect(Set(Self.commands).isSubset(of: listed))
        #expect(Set(listed.filter { $0 != "bug;" }).isSubset(of: Set(Self.commands)))
    }

    @Test(.timeLimit(.minutes(15)))
    func theReadmesTilesetIsOne() async throws {
        let scratch = try Scratch()
        let readme = try String(contentsOf: URL(filePath: "README.md"), encoding: .utf8)
        let block = try #require(readme.split(separator: "```yaml\n").dropFirst().first?.split(separator: "```").first)
        let file = scratch.url("tiles.yaml")
        try Data(block.utf8).write(to: file)
        let outcome = try await Program.run(
            ["estimate", "EE", "--tileset", file.path, "--samples", "0", "--json"], in: scratch)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let estimate = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
        #expect(try #require(estimate?["tiles"] as? Int) > 39_000)
    }

    @Test(.timeLimit(.minutes(15)))
    func logLinesAreJSONWhenAskedFor() async throws {
        let scratch = try Scratch()
        let cluster = try await Cluster(
            workers: 0, coordinatorArguments: ["--log-format", "json", "--log-level", "debug"], in: scratch)
        let coordinator = try #require(cluster.coordinator)
        try await cluster.stop()
        let lines = coordinator.said.split(separator: "\n")
        #expect(!lines.isEmpty)
        for line in lines {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String]
            #expect(object?["label"] == "packhorse.coordinator")
            #expect(object?["message"]?.isEmpty == false)
            #expect(object?["time"]?.hasSuffix("Z") == true, "times are UTC and say so")
        }
    }

    @Test(.timeLimit(.minutes(15)))
    func anInterruptedDemoLeavesNoProcessBehind() async throws {
        let scratch = try Scratch()
        let folder = scratch.url("demo")
        let demo = try Daemon(["demo", "DE", "--folder", folder.path, "--workers", "2"], in: scratch)
        try await Eventually.holds("the demo fetches") { demo.said.contains("fetching") }
        kill(demo.pid, SIGINT)
        try await Eventually.holds("the demo ends") { !demo.isRunning }
        #expect(demo.status == 130)
        let left = try await Program.run(URL(filePath: "/usr/bin/pgrep"), ["-f", folder.path], in: scratch)
        #expect(left.output.isEmpty, "processes \(left.output) still use \(folder.path)")
    }
}
