/// Text from outside (names, ids, paths, answers of servers), made safe to print.
///
/// A terminal executes control characters, and bidirectional overrides change the visible order of text.
public enum VisibleText {
    /// The text with every character that ``isControl(_:)`` names written as an escape: `\u001B`, `\n`.
    ///
    /// The escapes are those of JSON, so a JSON document keeps its value when each of its lines is printed this way.
    public static func escaped(_ text: String) -> String {
        guard hasControl(text) else { return text }
        var shown = ""
        for scalar in text.unicodeScalars {
            if isControl(scalar) { shown += escape(scalar) } else { shown.unicodeScalars.append(scalar) }
        }
        return shown
    }

    /// Whether the text holds a character that ``isControl(_:)`` names.
    public static func hasControl(_ text: String) -> Bool { text.unicodeScalars.contains(where: isControl) }

    /// Whether a terminal may execute the character or show its neighbours in another order.
    ///
    /// These are C0 and C1 controls and DEL, the bidirectional marks, embeddings, overrides and isolates (Unicode Standard
    /// Annex 9), and the line and paragraph separators.
    public static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": return "\\n"
        case "\r": return "\\r"
        case "\t": return "\\t"
        default:
            let digits = String(scalar.value, radix: 16, uppercase: true)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }
}
