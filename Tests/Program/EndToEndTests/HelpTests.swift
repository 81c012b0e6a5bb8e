import Foundation
import TestSupport
import Testing

/// What the program and its documents say is true.
struct HelpTests {
    private static let commands = [
        "build", "submit", "estimate", "jobs", "status", "watch", "cancel", "pause", "resume", "retry",
        "priority", "weight", "failed", "schedule", "mask", "regions", "convert", "inspect", "verify",
        "up", "coordinator", "worker",
        "workers", "health", "gateway", "keygen", "keys", "config", "demo", "demo-origin",
        "top", "events", "backup", "state", "origins", "diff", "apply", "packs", "style-pack", "catalog", "device",
        "completions", "manual",
    ]

    @Test(.timeLimit(.programs), arguments: commands)
    func everyCommandHasHelpWithAnExample(command: String) async throws {
        let scratch = try Scratch()
        let help = try await Program.run(["help", command], in: scratch)
        #expect(help.status == 0)
        #expect(help.output.contains("packhorse \(command)"))
        #expect(help.output.contains("Example"))
    }

    @Test(.timeLimit(.programs))
    func theHelpListsTheCommandsThatAreTested() async throws {
        let scratch = try Scratch()
        let help = try await Program.run(["--help"], in: scratch).output
        // Each section of commands begins with its title; the lines below it are indented by two spaces and a name.
        let sections = help.components(separatedBy: "\n\n").map { $0.split(separator: "\n") }
        let listed = sections.filter { $0.first?.hasSuffix(" SUBCOMMANDS:") == true }.flatMap { $0.dropFirst() }
            .filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
            .compactMap { $0.split(separator: " ").first.map(String.init) }
        #expect(Set(listed) == Set(Self.commands))
    }

    @Test(.timeLimit(.programs), arguments: Documents.all)
    func tilesetsInDocumentsAreValid(document: String) async throws {
        let scratch = try Scratch()
        for block in try Documents.blocks(of: document, language: "yaml") {
            guard block.contains(where: { $0.hasPrefix("url:") }) else { continue }
            let file = scratch.url("tiles.yaml")
            try Data(block.joined(separator: "\n").utf8).write(to: file)
            let language = block.contains { $0.contains("{language}") } ? ["--language", "en"] : []
            let outcome = try await Program.run(
                ["estimate", "EE", "--tileset", file.path, "--samples", "0", "--json"] + language, in: scratch)
            #expect(outcome.status == 0, "\(document): \(outcome.errors)")
            let estimate = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
            #expect(try #require(estimate?["tiles"] as? Int) > 39_000)
        }
    }

    @Test(.timeLimit(.programs), arguments: Documents.all)
    func commandsInDocumentsExist(document: String) async throws {
        let scratch = try Scratch()
        var helps: [[String]: String] = [:]
        let lines = try Documents.blocks(of: document).joined() + Documents.inlineCode(of: document)
        for words in lines.compactMap(Documents.command) {
            let isDeep = Self.deepGroups.contains { words.starts(with: $0) }
            let depth = Self.groups.contains(words.first ?? "") ? isDeep ? 3 : 2 : 1
            let command = words.prefix(depth).filter { !$0.hasPrefix("-") }
            // `packhorse --version` has no command; `packhorse help submit` names one as an argument.
            guard let first = command.first, first != "help" else { continue }
            #expect(Self.commands.contains(first), "\(document): packhorse \(words.joined(separator: " "))")
            if helps[command] == nil {
                let help = try await Program.run(["help"] + command, in: scratch)
                #expect(help.status == 0, "\(document): \(help.errors)")
                helps[command] = help.output
            }
            let known = Set(helps[command, default: ""].split { " \n[],|".contains($0) })
            for word in words where word.hasPrefix("--") {
                let flag = word.prefix { $0 != "=" }
                #expect(known.contains(flag), "\(document): \(flag) in packhorse \(words.joined(separator: " "))")
            }
        }
    }

    /// Commands whose third word names a command too.
    private static let deepGroups = [["device", "region"], ["catalog", "mirrors"]]

    /// Commands whose second word names a command too.
    private static let groups: Set = [
        "failed", "schedule", "regions", "catalog", "workers", "origins", "state", "device", "keys", "config",
    ]

    @Test(.timeLimit(.programs))
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

    @Test(.timeLimit(.programs))
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

/// README.md and the guides, and what stands in their code blocks.
private enum Documents {
    static let all: [String] =
        ["README.md"]
        + (FileManager.default.enumerator(atPath: "docs")?.compactMap { $0 as? String } ?? [])
        // The reference of commands is generated from their help; HelpTextTests compares the two.
        .map { "docs/" + $0 }.filter { $0.hasSuffix(".md") && $0 != "docs/reference/cli.md" }.sorted()

    /// The lines of each code block; of those in one language, when that is named.
    static func blocks(of document: String, language: String? = nil) throws -> [[String]] {
        // The first line of a block is its language, and perhaps a name or note behind it.
        try parts(of: document, areBlocks: true).map { $0.components(separatedBy: "\n") }
            .filter { language == nil || $0.first?.split(separator: " ").first.map(String.init) == language }
            .map { Array($0.dropFirst()) }
    }

    /// The code in backticks outside of the blocks.
    static func inlineCode(of document: String) throws -> [String] {
        try parts(of: document, areBlocks: false).flatMap { prose in
            prose.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }
                .map { $0.element.replacing("\n", with: " ") }
        }
    }

    /// Every second part between fences is a block.
    private static func parts(of document: String, areBlocks: Bool) throws -> [String] {
        try String(contentsOf: URL(filePath: document), encoding: .utf8).components(separatedBy: "```").enumerated()
            .filter { ($0.offset % 2 == 1) == areBlocks }.map(\.element)
    }

    /// The words behind `packhorse` of a line that runs it, up to a comment, a pipe or a redirection.
    static func command(_ line: String) -> [String]? {
        let words = line.split(separator: " ").map(String.init)
        guard words.first == "packhorse" else { return nil }
        return words.dropFirst().prefix { !["#", "|", ">", "&", "&&"].contains($0) }.map(\.self)
    }
}
