/// What a command says when it cannot do what was asked: one line, a remedy, an exit code.
package struct CLIError: Error, CustomStringConvertible {
    package let status: ExitStatus
    /// What failed, which thing, what was found and expected.
    package let message: String
    /// A command or action that helps.
    package let hint: String?

    package init(_ status: ExitStatus, _ message: String, hint: String? = nil) {
        self.status = status
        self.message = message
        self.hint = hint
    }

    package var description: String {
        "packhorse: error: \(message)" + (hint.map { "\nhint: \($0)" } ?? "")
    }
}
