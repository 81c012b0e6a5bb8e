/// Degrees as people write them: `24.7`, `24,7`, `24°42′E`, `24 42 0 E`, `W 24:42.5`.
enum DegreesText {
    enum Axis {
        case longitude, latitude

        /// The letter of the positive and of the negative half.
        fileprivate var letters: (positive: Character, negative: Character) {
            switch self {
            case .longitude: ("E", "W")
            case .latitude: ("N", "S")
            }
        }

        fileprivate var limit: Double {
            switch self {
            case .longitude: 180
            case .latitude: 90
            }
        }
    }

    /// Reads a text of at most 40 characters; `nil` for anything else, and outside of ±180 or ±90.
    ///
    /// A comma is a decimal comma. The letter of the other axis is not accepted, nor is O, which is east in one language and west in another.
    static func degrees(_ text: String, _ axis: Axis) -> Double? {
        guard text.utf8.count <= 80 else { return nil }
        if text.utf8.allSatisfy({ (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }), let plain = Double(text) {
            return abs(plain) <= axis.limit ? plain : nil
        }
        var words = text.uppercased().replacing("\u{2212}", with: "-")[...]
        var isNegative = false
        var isSigned = false
        func take(_ letter: Character?) -> Bool {
            guard let letter, letter == axis.letters.positive || letter == axis.letters.negative, !isSigned else {
                return false
            }
            (isNegative, isSigned) = (letter == axis.letters.negative, true)
            return true
        }
        if take(words.first) {
            words.removeFirst()
        } else if let sign = words.first, sign == "-" || sign == "+" {
            (isNegative, isSigned) = (sign == "-", true)
            words.removeFirst()
        }
        if take(words.last) { words.removeLast() }
        let parts = words.split { marks.contains($0) }
        guard (1...3).contains(parts.count) else { return nil }
        var degrees = 0.0
        var unit = 1.0
        for (index, part) in parts.enumerated() {
            guard let number = number(part, isWhole: index < parts.count - 1), index == 0 || number < 60 else {
                return nil
            }
            degrees += number / unit
            unit *= 60
        }
        guard degrees <= axis.limit else { return nil }
        return isNegative ? -degrees : degrees
    }

    /// What stands between degrees, minutes and seconds.
    private static let marks: Set<Character> = [
        " ", "\u{A0}", "°", "º", "˚", "'", "’", "‘", "′", "´", "\"", "”", "“", "″", ":",
    ]

    private static func number(_ text: Substring, isWhole: Bool) -> Double? {
        let divided = text.split(omittingEmptySubsequences: false) { $0 == "." || $0 == "," }
        let isDigits = divided.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        guard isDigits, divided.count <= (isWhole ? 1 : 2) else { return nil }
        return Double(divided.joined(separator: "."))
    }
}
