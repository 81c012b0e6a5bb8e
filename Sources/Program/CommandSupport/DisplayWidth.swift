/// The width of text in columns of a terminal.
package enum DisplayWidth {
    /// Columns of the whole text, which must not contain control characters.
    package static func columns(_ text: String) -> Int {
        text.utf8.allSatisfy { $0 < 0x80 } ? text.utf8.count : text.unicodeScalars.reduce(0) { $0 + columns($1) }
    }

    /// The text, or its longest prefix that fits together with a mark.
    ///
    /// - Parameter mark: Shows that the text was cut.
    package static func cut(_ text: String, to most: Int, mark: String = "…") -> String {
        guard columns(text) > most else { return text }
        let limit = most - columns(mark)
        guard limit > 0 else { return "" }
        var (kept, filled) = ("", 0)
        for character in text {
            let width = character.unicodeScalars.reduce(0) { $0 + columns($1) }
            guard filled + width <= limit else { break }
            kept.append(character)
            filled += width
        }
        return kept + mark
    }

    /// The text, padded with spaces to a number of columns.
    package static func padded(_ text: String, to width: Int, isRight: Bool = false) -> String {
        let gap = String(repeating: " ", count: max(0, width - columns(text)))
        return isRight ? gap + text : text + gap
    }

    /// 0 for combining marks, 2 for wide characters (Unicode Standard Annex 11), else 1.
    ///
    /// A variation selector counts 1, because some terminals then show an emoji as wide: an overestimate is safer.
    private static func columns(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case 0xFE0F: return 1
        case 0x1100...0x115F, 0x2329...0x232A, 0x231A...0x231B, 0x23E9...0x23EC, 0x2E80...0x303E, 0x3041...0x33FF,
            0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1FAFF,
            0x20000...0x3FFFD:
            return 2
        default: break
        }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return 1
        }
    }
}
