import ArgumentParser
internal import CommandSupport
import Errors

/// Converts errors of the argument parser to the form of all other errors.
enum UsageError {
    /// The error of the command line.
    ///
    /// - Parameter arguments: The command line. They determine the command whose help is mentioned.
    static func translated(_ error: any Error, _ arguments: [String]) -> CLIError {
        let path = CommandTree.path(arguments).dropFirst().map { CommandTree.name($0) }
        let help = "packhorse help" + path.map { " " + $0 }.joined()
        let code = RootCommand.exitCode(for: error)
        let message = CLIError.oneLine(RootCommand.message(for: error).replacing("\n", with: "; "))
        guard code == .validationFailure else {
            return CLIError(ExitStatus(rawValue: code.rawValue) ?? .software, message)
        }
        // "Unknown option '--wiat'. Did you mean '--wait'?"
        guard let mark = message.firstRange(of: ". Did you mean ") else {
            // Of words, and of values with a reader of their own, the message says what is expected.
            let isNumber = message.contains(" is invalid for '") && message.hasSuffix("'")
            return CLIError(.usage, message + (isNumber ? ": expected a number" : ""), hint: "see '\(help)'")
        }
        return CLIError(
            .usage, String(message[..<mark.lowerBound]),
            hint: "did you mean \(message[mark.upperBound...]) See '\(help)'")
    }
}
