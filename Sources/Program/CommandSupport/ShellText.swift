/// Quotes text for a shell.
package enum ShellText {
    /// The command line of this process, to be pasted into a shell.
    package static var thisCommand: String {
        (["packhorse"] + CommandLine.arguments.dropFirst().map(quoted)).joined(separator: " ")
    }

    /// The same without a flag.
    package static func thisCommand(without flag: String) -> String {
        (["packhorse"] + CommandLine.arguments.dropFirst().filter { $0 != flag }.map(quoted)).joined(separator: " ")
    }

    /// One word: unchanged if a shell does not interpret it, else in single quotes.
    package static func quoted(_ word: String) -> String {
        let isPlain =
            !word.isEmpty
            && word.unicodeScalars.allSatisfy { scalar in
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".", ",", "/", ":", "=", "@", "%", "+": true
                default: false
                }
            }
        return isPlain ? word : "'\(word.replacing("'", with: "'\\''"))'"
    }
}
