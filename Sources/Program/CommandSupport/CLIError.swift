package import Errors
internal import TextFormats

/// The error of a command: one line, details, a remedy, an exit code.
package struct CLIError: Error, CustomStringConvertible {
    package let status: ExitStatus
    /// What failed, which object, what was found and expected; one line.
    package let message: String
    /// A list that belongs to the message, for example of problems; one entry per line.
    package let details: [String]
    /// A command or action that helps.
    package let hint: String?
    /// Whether a job failed because its archive was replaced.
    ///
    /// A new run may succeed.
    package let isOfChangedSource: Bool

    package init(
        _ status: ExitStatus, _ message: String, details: [String] = [], hint: String? = nil,
        isOfChangedSource: Bool = false
    ) {
        self.isOfChangedSource = isOfChangedSource
        self.status = status
        self.message = message
        self.details = details
        self.hint = hint
    }

    /// The printed lines.
    package var lines: [String] {
        ["packhorse: error: \(Self.oneLine(message))"] + details.map { "  \($0)" }
            + (hint.map { ["hint: \($0)"] } ?? [])
    }

    /// A message in the common form of all errors: it begins with a lower-case letter and has no full stop at the end.
    package static func oneLine(_ text: String) -> String { Sentence.inner(text) }

    package var description: String { lines.joined(separator: "\n") }
}
