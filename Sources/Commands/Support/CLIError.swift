/// What a command says when it cannot do what was asked: one line, details, a remedy, an exit code.
package struct CLIError: Error, CustomStringConvertible {
    package let status: ExitStatus
    /// What failed, which thing, what was found and expected; one line.
    package let message: String
    /// A list that belongs to the message: what is wrong, one entry a line.
    package let details: [String]
    /// A command or action that helps.
    package let hint: String?
    /// Whether a job failed because its archive was replaced: done again, it may succeed.
    let isOfChangedSource: Bool

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

    /// The lines that are printed.
    package var lines: [String] {
        ["packhorse: error: \(Self.oneLine(message))"] + details.map { "  \($0)" }
            + (hint.map { ["hint: \($0)"] } ?? [])
    }

    /// A message in the form that all errors have: it begins with a small letter and has no full stop at the end.
    ///
    /// A first word with further capitals is a name and stays: GeoJSON.
    static func oneLine(_ text: String) -> String {
        var line = text
        if line.last == ".", !line.hasSuffix("..") { line.removeLast() }
        let word = line.prefix { $0 != " " }
        guard let first = line.first, first.isUppercase, !word.dropFirst().contains(where: \.isUppercase) else {
            return line
        }
        return first.lowercased() + line.dropFirst()
    }

    package var description: String { lines.joined(separator: "\n") }
}
