import ArgumentParser
internal import CommandSupport
import Errors
internal import TextFormats

/// The commands by name, and suggestions for mistyped names.
enum CommandTree {
    /// Names from other programs for commands that have another name here.
    private static let synonyms = [
        "ls": "list", "rm": "remove", "del": "remove", "delete": "remove", "new": "add", "create": "add",
        "get": "show", "info": "show", "dead": "failed", "requeue": "retry", "prioritise": "priority",
        "prioritize": "priority", "weigh": "weight", "stop": "cancel", "kill": "cancel", "publish": "push",
        "upload": "push", "server": "coordinator", "man": "manual", "completion": "completions",
    ]

    /// The command's own name.
    static func name(_ command: any ParsableCommand.Type) -> String {
        command.configuration.commandName ?? "\(command)".lowercased()
    }

    /// The commands named by the first words, from the root on.
    static func path(_ arguments: [String]) -> [any ParsableCommand.Type] {
        var path: [any ParsableCommand.Type] = [RootCommand.self]
        for word in arguments {
            let below = path[path.count - 1].configuration.subcommands
            guard let next = below.first(where: { name($0) == word }) else { break }
            path.append(next)
        }
        return path
    }

    /// Refuses a word in the place of a command that is not a command.
    ///
    /// - Throws: ``CLIError`` 64 with the most similar names.
    static func check(_ arguments: [String]) throws {
        let isHelp = arguments.first == "help"
        let words = isHelp ? Array(arguments.dropFirst()) : arguments
        let path = path(words)
        let last = path[path.count - 1]
        guard !last.configuration.subcommands.isEmpty, isHelp || last.configuration.defaultSubcommand == nil,
            path.count - 1 < words.count
        else { return }
        let word = words[path.count - 1]
        guard !word.hasPrefix("-"), word != "help" else { return }
        let names = path.map { name($0) }
        let found = suggestions(for: word, below: path)
        throw CLIError(
            .usage,
            path.count == 1
                ? "unknown command '\(word)'" : "'\(names.joined(separator: " "))' has no command '\(word)'",
            hint: found.isEmpty
                ? "all commands: packhorse help\(names.dropFirst().map { " " + $0 }.joined())"
                : didYouMean(found))
    }

    /// A question with the suggestions.
    static func didYouMean(_ found: [String]) -> String {
        "did you mean \(found.map { "'packhorse \($0)'" }.joined(separator: " or "))?"
    }

    /// Commands that a word may mean, as they are written after `packhorse`.
    static func suggestions(for word: String, below path: [any ParsableCommand.Type]) -> [String] {
        let above = path.dropFirst().map { name($0) }
        let meant = synonyms[word] ?? word
        let here = names(below: path[path.count - 1])
        if let found = here.first(where: { $0 == meant }) ?? Nearest.word(to: word, among: here) {
            return [(above + [found]).joined(separator: " ")]
        }
        // A command of another group: 'push' means 'catalog push'.
        let top = RootCommand.configuration.subcommands.filter { $0.configuration.shouldDisplay }
        let nested = top.flatMap { group -> [String] in
            names(below: group).filter { $0 == meant }.map { "\(name(group)) \($0)" }
        }
        return Array((top.map { name($0) }.filter { $0 == meant } + nested).prefix(4))
    }

    private static func names(below command: any ParsableCommand.Type) -> [String] {
        command.configuration.subcommands.filter { $0.configuration.shouldDisplay }.map { name($0) }
    }
}
