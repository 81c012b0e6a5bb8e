import ArgumentParser
internal import CommandSupport
import Errors
import Foundation
internal import TextFormats

/// `packhorse manual`: the help of all commands as manual pages.
struct ManualCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual", abstract: "Write the manual pages of all commands into a folder, for man(1).",
        discussion: """
            Writes one page for each command: packhorse.1, packhorse-submit.1, packhorse-catalog-push.1 and so on. Files of these names
            are replaced.
            Example: packhorse manual ~/.local/share/man/man1
            """)

    @Argument(help: "The folder; it is created if it does not exist.") var folder: String
    @Flag(help: "Write the references cli.md and metrics.md in Markdown instead of manual pages.") var markdown = false

    func run() throws {
        let place = URL(filePath: folder, directoryHint: .isDirectory)
        try OutputLocation.makeFolder(place)
        let pages =
            markdown
            ? [("cli.md", CommandReference.markdown()), ("metrics.md", MetricsReference.markdown())] : Self.pages()
        for page in pages {
            do {
                try Data(page.text.utf8).write(to: place.appending(path: page.name))
            } catch {
                throw CLIError(
                    .cannotCreate, "'\(place.appending(path: page.name).path)' cannot be written",
                    hint: "choose a writable folder")
            }
        }
        Console.result("\(Units.count(pages.count, of: "page")) in \(place.path)")
    }

    /// Every page with its file name.
    static func pages() -> [(name: String, text: String)] { pages(["packhorse"], RootCommand.self) }

    private static func pages(
        _ path: [String], _ command: any ParsableCommand.Type
    ) -> [(name: String, text: String)] {
        let below = command.configuration.subcommands.filter { $0.configuration.shouldDisplay }
        let title = path.joined(separator: "-")
        let help = HelpText.fit(RootCommand.helpMessage(for: command, columns: .max), columns: 78)
        let end = path.count == 1 ? exitStatus : ""
        return [("\(title).1", roff(title, abstract: command.configuration.abstract, help: help) + end)]
            + below.flatMap { pages(path + [CommandTree.name($0)], $0) }
    }

    /// The section of the program's page about its exit codes.
    private static var exitStatus: String {
        let codes = ExitStatus.allCases.flatMap { [".TP", ".B \($0.rawValue)", escaped($0.meaning)] }
        return ([".SH EXIT STATUS"] + codes + [""]).joined(separator: "\n")
    }

    /// Help as a manual page.
    ///
    /// Lines are not changed, because they are wrapped and examples must not be.
    private static func roff(_ title: String, abstract: String, help: String) -> String {
        var lines = [
            ".TH \(title.uppercased()) 1 \"\" \"packhorse \(ProgramVersion.current)\" \"Packhorse\"", ".SH NAME",
            escaped("\(title) - \(abstract)"), ".SH DESCRIPTION", ".nf",
        ]
        for line in help.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("OVERVIEW: ") {
                lines.append(escaped(String(line.dropFirst(10))))
            } else if line.hasPrefix("USAGE: ") {
                lines += [".fi", ".SH SYNOPSIS", ".nf", escaped("       " + line.dropFirst(7))]
            } else if line.hasSuffix(":"), line == line.uppercased() {
                lines += [".fi", ".SH \(line.dropLast())", ".nf"]
            } else {
                lines.append(escaped(String(line)))
            }
        }
        return (lines + [".fi", ""]).joined(separator: "\n")
    }

    private static func escaped(_ line: String) -> String {
        let text = line.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
    }
}
