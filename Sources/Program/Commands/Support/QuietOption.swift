import ArgumentParser

/// `--quiet`, which every command has: no progress and no notes on standard error.
///
/// It is taken out of the arguments before a command reads them, so that there is one place for all commands.
package enum QuietOption {
    private static let word = "--quiet"

    /// Takes the option out of the arguments of the program.
    ///
    /// A command with an option of this name keeps it: `jobs --quiet` prints numbers alone. What stands behind `--` stays.
    package static func taken(from arguments: [String]) -> (arguments: [String], isQuiet: Bool) {
        let options = arguments.prefix { $0 != "--" }
        let others = options.filter { $0 != word }
        guard others.count < options.count, !hasOwn(others) else { return (arguments, false) }
        return (others + arguments[options.count...], true)
    }

    /// Whether the command that the arguments name has an option of this name.
    private static func hasOwn(_ arguments: [String]) -> Bool {
        let path = CommandTree.path(arguments)
        // The help of the program itself names the option of all commands.
        guard path.count > 1, let command = path.last else { return false }
        return RootCommand.helpMessage(for: command, columns: .max).contains(word)
    }
}
