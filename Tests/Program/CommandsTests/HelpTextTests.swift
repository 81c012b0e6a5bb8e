import ArgumentParser
import ClusterClient
import CommandSupport
import Errors
import Foundation
import Regions
import Testing
import TextFormats
import Tiles
import Tilesets

@testable import Commands

/// Help as it is printed, for every command there is.
struct HelpTextTests {
    private static func all(_ command: any ParsableCommand.Type, _ path: [String]) -> [[String]] {
        [path]
            + command.configuration.subcommands.filter { $0.configuration.shouldDisplay }.flatMap {
                all($0, path + [CommandTree.name($0)])
            }
    }

    private static var commands: [(path: [String], type: any ParsableCommand.Type)] {
        all(RootCommand.self, []).compactMap { path in CommandTree.path(path).last.map { (path, $0) } }
    }

    private static func help(_ command: any ParsableCommand.Type, columns: Int) -> String {
        HelpText.fit(RootCommand.helpMessage(for: command, columns: .max), columns: columns)
    }

    /// The examples of a command, each as it is to be typed.
    private static func examples(_ command: any ParsableCommand.Type) -> [String] {
        command.configuration.discussion.split(separator: "\n").compactMap { line in
            let text = line.hasPrefix("Example: ") ? line.dropFirst(9) : line.hasPrefix("  ") ? line.dropFirst(2) : ""
            return text.hasPrefix("packhorse ") ? String(text) : nil
        }
    }

    /// A command that is declared and in no list of subcommands cannot be called.
    @Test func everyDeclaredCommandCanBeCalled() throws {
        var declared: [String] = []
        let files = FileManager.default.enumerator(atPath: "Sources/Program")?.compactMap { $0 as? String } ?? []
        for file in files where file.hasSuffix(".swift") && !file.contains("bench") {
            let text = try String(contentsOf: URL(filePath: "Sources/Program/\(file)"), encoding: .utf8)
            for line in text.split(separator: "\n") where line.hasSuffix("{") {
                let words = line.split { " :,{".contains($0) }
                guard let place = words.firstIndex(where: { ["struct", "enum"].contains($0) }), place + 2 < words.count,
                    !Set(words[(place + 2)...]).isDisjoint(with: [
                        "ParsableCommand", "AsyncParsableCommand", "DeviceWork",
                    ])
                else { continue }
                declared.append(String(words[place + 1]))
            }
        }
        #expect(declared.count > 90)
        func listed(_ command: any ParsableCommand.Type) -> [String] {
            ["\(command)"] + command.configuration.subcommands.flatMap(listed)
        }
        #expect(declared.sorted() == listed(RootCommand.self).sorted())
    }

    @Test(arguments: [40, 80, 200])
    func nothingButExamplesIsWiderThanTheTerminal(columns: Int) {
        #expect(Self.commands.count > 50)
        for (path, type) in Self.commands {
            for line in Self.help(type, columns: columns).split(separator: "\n") {
                let isExample = line.contains("packhorse ") && (line.hasPrefix("  ") || line.hasPrefix("Example: "))
                // One word, such as a long option, cannot be broken.
                let isWord = line.split(separator: " ").count <= 2
                #expect(
                    DisplayWidth.columns(String(line)) <= min(100, columns) || isExample || isWord, "\(path): \(line)")
            }
        }
    }

    @Test func examplesAreWholeAtEveryWidth() {
        for (path, type) in Self.commands {
            for columns in [20, 80, 132] {
                let lines = Self.help(type, columns: columns).split(separator: "\n")
                for example in Self.examples(type) {
                    #expect(lines.contains { $0.hasSuffix(example) }, "\(path) at \(columns): \(example)")
                }
            }
        }
    }

    @Test func examplesAreCommandsThatExist() throws {
        var count = 0
        for (path, type) in Self.commands {
            for example in Self.examples(type) {
                count += 1
                let words = try Self.words(example).prefix { ![">", "|", "&&"].contains($0) }.map(\.self)
                #expect(throws: Never.self, "\(path): \(example)") {
                    try CommandTree.check(words)
                    _ = try RootCommand.parseAsRoot(words)
                }
            }
        }
        #expect(count > 80)
    }

    /// The arguments of a shell line after the program's name; what is in $(…) becomes one word.
    private static func words(_ line: String) throws -> [String] {
        var (words, word, quote): ([String], String?, Character?) = ([], nil, nil)
        for character in line {
            if let open = quote {
                if character == open { quote = nil } else { word = (word ?? "") + String(character) }
            } else if "\"'".contains(character) {
                (quote, word) = (character, word ?? "")
            } else if character == " " {
                if let done = word { words.append(done) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        try #require(quote == nil)
        return Array((words + (word.map { [$0] } ?? [])).dropFirst())
    }

    @Test func paragraphsAreWrappedOnce() {
        let text = """
            OVERVIEW: Short.

            One sentence that was
            broken by its author. Another.
            Examples:
              packhorse submit a-long-example --with options that are wider than the screen

            USAGE: packhorse submit [<areas> ...] [--geojson <geojson>] [--points <points>]

            OPTIONS:
              --geojson <geojson>     A file whose description is longer than a line of this screen.
              --allowed-missing <allowed-missing>
                                      Share of tiles that may be missing.
            """
        #expect(
            HelpText.fit(text, columns: 60) == """
                OVERVIEW: Short.

                One sentence that was broken by its author. Another.

                Examples:
                  packhorse submit a-long-example --with options that are wider than the screen

                USAGE: packhorse submit [<areas> ...] [--geojson <geojson>]
                       [--points <points>]

                OPTIONS:
                  --geojson <geojson>     A file whose description is longer
                                          than a line of this screen.
                  --allowed-missing <allowed-missing>
                                          Share of tiles that may be
                                          missing.
                """)
    }

    @Test(arguments: [
        (["sumbit", "EE"], "unknown command 'sumbit'", "did you mean 'packhorse submit'?"),
        (["push"], "unknown command 'push'", "did you mean 'packhorse catalog push'?"),
        (["schedule", "ls"], "'packhorse schedule' has no command 'ls'", "did you mean 'packhorse schedule list'?"),
        (["dead", "ls"], "unknown command 'dead'", "did you mean 'packhorse failed'?"),
        (
            ["help", "catalog", "prun"], "'packhorse catalog' has no command 'prun'",
            "did you mean 'packhorse catalog prune'?"
        ),
        (["xyzzy"], "unknown command 'xyzzy'", "all commands: packhorse help"),
    ])
    func mistypedCommandsGetASuggestion(arguments: [String], message: String, hint: String) throws {
        let error = #expect(throws: CLIError.self) { try CommandTree.check(arguments) }
        #expect(error?.message == message)
        #expect(error?.hint == hint)
        #expect(error?.status == .usage)
    }

    @Test func whatIsNoCommandNameIsLeftToTheParser() {
        for words in [
            ["submit", "EE"], ["regions", "EE"], ["--help"], ["help"], ["help", "submit"], ["workers", "--json"],
        ] {
            #expect(throws: Never.self) { try CommandTree.check(words) }
        }
    }

    @Test func errorsOfTheParserLookLikeAllOthers() {
        func error(_ arguments: String...) -> CLIError? {
            do { _ = try RootCommand.parseAsRoot(arguments) } catch { return UsageError.translated(error, arguments) }
            return nil
        }
        let option = error("submit", "EE", "--wiat")
        #expect(option?.message == "unknown option '--wiat'")
        #expect(option?.hint == "did you mean '--wait'? See 'packhorse help submit'")
        let track = error("build", "--gpx", "walk.gpx", "--tileset", "tiles.yaml")
        #expect(track?.message == "unknown option '--gpx'")
        #expect(track?.hint?.hasPrefix("write --route FILE --margin 1km for the surroundings of lines") == true)
        #expect(error("mask", "--bbox", "1,2,3,4")?.hint?.contains("bbox(west,south,east,north)") == true)
        // A command without areas has no use for that.
        #expect(error("jobs", "--gpx", "walk.gpx")?.hint?.contains("--route") == false)
        let limit = error("jobs", "--limit", "0")
        #expect(limit?.lines.first?.hasPrefix("packhorse: error: --limit must be between 1 and ") ?? false)
        #expect(limit?.message.hasSuffix(".") == false)
        #expect(limit?.status == .usage)
        #expect(error("verify")?.hint == "see 'packhorse help verify'")
        let origin = error("origins", "open", "a b")?.message ?? ""
        #expect(origin.hasSuffix("expected a host or a URL: tiles.example.com"), "\(origin)")
        let number = error("cancel", "one")?.message ?? ""
        #expect(number.hasSuffix(": expected a number"), "\(number)")
    }

    @Test func theReferenceOfCommandsIsWhatTheySay() throws {
        let document = try String(contentsOf: URL(filePath: "docs/reference/cli.md"), encoding: .utf8)
        #expect(document == CommandReference.markdown(), "run 'make reference' to write docs/reference/cli.md again")
    }

    @Test func theReferenceOfMetricsIsTheTables() throws {
        let document = try String(contentsOf: URL(filePath: "docs/reference/metrics.md"), encoding: .utf8)
        #expect(
            document == MetricsReference.markdown(), "run 'make reference' to write docs/reference/metrics.md again")
    }

    @Test func theReferenceOfExitCodesSaysWhatTheCodeSays() throws {
        let document = try String(contentsOf: URL(filePath: "docs/reference/exit-codes.md"), encoding: .utf8)
        let rows = document.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst().map { line in
            line.split(separator: "|").prefix(3).map { $0.trimmingCharacters(in: .whitespaces) }
        }
        #expect(rows == ExitStatus.allCases.map { ["\($0.rawValue)", $0.name, $0.meaning] })
        for status in ExitStatus.allCases {
            #expect(status.meaning.firstIndex(of: ".") == status.meaning.indices.last, "one sentence: \(status)")
        }
    }

    @Test func theManualPageOfTheProgramListsTheExitCodes() throws {
        let pages = ManualCommand.pages()
        let page = try #require(pages.first { $0.name == "packhorse.1" })
        for status in ExitStatus.allCases {
            #expect(page.text.contains(".B \(status.rawValue)\n\(status.meaning.replacing("-", with: "\\-"))"))
        }
        #expect(pages.count(where: { $0.text.contains(".SH EXIT STATUS") }) == 1)
    }

    /// The first package of README takes as long as its heading says, at the rate of its tileset file.
    @Test func theFirstPackageOfTheReadmeTakesFiveMinutesAtMost() throws {
        let readme = try String(contentsOf: URL(filePath: "README.md"), encoding: .utf8)
        #expect(readme.contains("## A package in five minutes"))
        let rate = try #require(readme.firstMatch(of: /requests_per_second: (\d+)/).flatMap { Int($0.1) })
        let command = try #require(readme.firstMatch(of: /packhorse build EE .*--zoom 0-(\d+)/))
        let zoom = try #require(Int(command.1))
        let mask = try AreaReader.named("EE", in: try RegionTree.embedded()).mask(zoom)
        let tiles = (0...zoom).reduce(0) { $0 + Int(mask.count(atZoom: $1)) }
        #expect(readme.contains("the \(Units.count(tiles)) tiles of Estonia at zooms 0-\(zoom) take under two minutes"))
        #expect(tiles / rate < 120, "\(tiles) tiles at \(rate) a second")
    }

    @Test func theTilesetReferenceIsTheParsersTable() throws {
        let document = try String(contentsOf: URL(filePath: "docs/tilesets.md"), encoding: .utf8)
        // Other sections have tables of their own.
        let section = document.components(separatedBy: "\n## ").first { $0.hasPrefix("Keys\n") }
        let rows = try #require(section).split(separator: "\n").filter { $0.hasPrefix("|") }.map(String.init)
        #expect(
            rows == TilesetHelp.markdown,
            "docs/tilesets.md is not the table of Sources/Builder/Tilesets/TilesetKey.swift")
        let page = TilesetHelp.lines(columns: 80)
        #expect(page.allSatisfy { DisplayWidth.columns($0) <= 80 })
        for key in TilesetKey.all { #expect(page.contains("  \(key.name): \(key.value)")) }
    }
}
