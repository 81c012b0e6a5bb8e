import ArgumentParser
internal import CommandSupport
import Errors

/// Converts errors of the argument parser to the form of all other errors.
enum UsageError {
    /// The error of the command line.
    ///
    /// - Parameter arguments: The command line. They determine the command whose help is mentioned.
    static func translated(_ error: any Error, _ arguments: [String]) -> CLIError {
        let path = CommandTree.path(arguments)
        let help = "packhorse help" + path.dropFirst().map { " " + CommandTree.name($0) }.joined()
        let code = RootCommand.exitCode(for: error)
        let message = CLIError.oneLine(
            withWordsInLine(RootCommand.message(for: error)).replacing("\n", with: "; "))
        guard code == .validationFailure else {
            return CLIError(ExitStatus(rawValue: code.rawValue) ?? .software, message)
        }
        // The parser checks values and their combination before it looks for options that it does not know.
        if !message.lowercased().hasPrefix("unknown option '"),
            let option = OtherOptions.unknown(in: arguments.dropFirst(path.count - 1), of: path)
        {
            let hint =
                OtherOptions.hint(for: option, of: path[path.count - 1]).map { "\($0); see '\(help)'" }
                ?? OtherOptions.nearest(to: option, of: path).map { "did you mean '\($0)'? See '\(help)'" }
            return CLIError(.usage, "unknown option '\(option)'", hint: hint ?? "see '\(help)'")
        }
        if let (option, value) = dashedValue(message, arguments) {
            return CLIError(
                .usage, "'\(option)' is followed by '\(value)', which begins with '-' as an option does",
                hint: "write \(option)=\(value) when the value is meant; see '\(help)'")
        }
        let option = message.split(separator: "'").dropFirst().first.map(String.init) ?? ""
        if message.lowercased().hasPrefix("unknown option '"),
            let hint = OtherOptions.hint(for: option, of: path[path.count - 1])
        {
            return CLIError(.usage, "unknown option '\(option)'", hint: "\(hint); see '\(help)'")
        }
        // "Unknown option '--wiat'. Did you mean '--wait'?"
        guard let mark = message.firstRange(of: ". Did you mean ") else {
            // Of words, and of values with a reader of their own, the message says what is expected.
            let isNumber =
                message.contains(" is invalid for '") && message.hasSuffix("'")
                && !message.contains(". Please provide one of ")
            return CLIError(.usage, message + (isNumber ? ": expected a number" : ""), hint: "see '\(help)'")
        }
        return CLIError(
            .usage, String(message[..<mark.lowerBound]),
            hint: "did you mean \(message[mark.upperBound...]) See '\(help)'")
    }

    /// The option and the number after it that the parser took for another option.
    private static func dashedValue(_ message: String, _ arguments: [String]) -> (option: String, value: String)? {
        let start = "Missing value for '"
        guard message.lowercased().hasPrefix(start.lowercased()) else { return nil }
        let option = String(message.dropFirst(start.count).prefix { !" '".contains($0) })
        return zip(arguments, arguments.dropFirst()).first { name, value in
            name == option && value.hasPrefix("-") && value.dropFirst().first.map { $0.isNumber || $0 == "." } == true
        }.map { ($0.0, $0.1) }
    }

    /// A message whose words the parser lists one in a line, as it writes few words: in one line.
    static func withWordsInLine(_ message: String) -> String {
        let start = "Please provide one of the following:\n"
        guard let list = message.firstRange(of: start) else { return message }
        let lines = message[list.upperBound...].split(separator: "\n")
        let words = lines.prefix { $0.hasPrefix("  - ") }.map { "'\($0.dropFirst(4))'" }
        guard words.count == lines.count, words.count > 1, let last = words.last else { return message }
        return message[..<list.lowerBound]
            + "Please provide one of \(words.dropLast().joined(separator: ", ")) or \(last)"
    }
}
