internal import Tiles

/// Words that operators give to workers, and that jobs ask for.
public enum WorkerLabel {
    /// What a label may be, for messages.
    public static let rule = "1 to 40 lower-case letters, digits and the characters . _ -"
    /// Labels that a worker or job may have.
    public static let most = 32

    /// Whether a text is a label.
    public static func isLabel(_ text: String) -> Bool {
        (1...40).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "._-".utf8.contains(byte)
            }
    }

    /// Why one of these is no label, as a sentence, or `nil`.
    public static func problem(in labels: [String]) -> String? {
        labels.first { !isLabel($0) }.map {
            "'\(VisibleText.escaped(String($0.prefix(60))))' is not a label: use \(rule)."
        }
    }
}
