/// What a command says when it cannot do what was asked: one line, a remedy, an exit code.
struct CLIError: Error, CustomStringConvertible {
    let status: ExitStatus
    /// What failed, which thing, what was found and expected.
    let message: String
    /// A command or action that helps.
    let hint: String?

    init(_ status: ExitStatus, _ message: String, hint: String? = nil) {
        self.status = status
        self.message = message
        self.hint = hint
    }

    var description: String {
        "packhorse: error: \(message)" + (hint.map { "\nhint: \($0)" } ?? "")
    }
}
