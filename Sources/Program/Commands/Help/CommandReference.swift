import ArgumentParser

/// The help of all commands as one Markdown document: docs/reference/cli.md, which a test compares with this.
enum CommandReference {
    /// The document; every command has a section.
    static func markdown() -> String {
        let sections = sections(["packhorse"], RootCommand.self)
        let contents = sections.map { "- [\($0.title)](#\($0.title.replacing(" ", with: "-")))" }
        let head = [
            "# Commands", "",
            "Written by `packhorse manual --markdown docs/reference`; `make test` compares it with the commands.", "",
        ]
        let body = sections.flatMap { ["## \($0.title)", "", "```text", $0.help, "```", ""] }
        return (head + contents + [""] + body).joined(separator: "\n")
    }

    private static func sections(
        _ path: [String], _ command: any ParsableCommand.Type
    ) -> [(title: String, help: String)] {
        let below = command.configuration.subcommands.filter { $0.configuration.shouldDisplay }
        var help = HelpText.fit(RootCommand.helpMessage(for: command, columns: .max), columns: 100)
        while help.last?.isNewline == true { help.removeLast() }
        return [(path.joined(separator: " "), help)]
            + below.flatMap { sections(path + [CommandTree.name($0)], $0) }
    }
}
