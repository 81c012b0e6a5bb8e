import Foundation

/// Normalises a name: removes what a person may leave out or write differently.
package enum NameFolding {
    /// Letters that canonical decomposition does not split.
    private static let plain: [Unicode.Scalar: String] = [
        "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ı": "i", "ħ": "h",
        "&": " and ",
    ]

    /// The letters and digits of a name in lower case, without accents, in words separated by one space.
    ///
    /// Works by Unicode properties and so for every script: `Эстония` and `эстония`, `Ёлка` and `елка`, `São Tomé` and `sao tome` fold
    /// together; `爱沙尼亚` stays as it is. Apostrophes vanish; hyphens, dots and dashes separate words.
    static func fold(_ text: String) -> String {
        var out = String.UnicodeScalarView()
        var needsSpace = false
        func separate() { needsSpace = !out.isEmpty }
        func append(_ scalar: Unicode.Scalar) {
            if needsSpace { out.append(" ") }
            needsSpace = false
            out.append(scalar)
        }
        for scalar in text.decomposedStringWithCompatibilityMapping.lowercased().unicodeScalars {
            if let replacement = plain[scalar] {
                for letter in replacement.unicodeScalars { letter == " " ? separate() : append(letter) }
                continue
            }
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .enclosingMark, .spacingMark, .format, .control: continue
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber:
                if scalar != "\u{2bc}", scalar != "\u{2b9}" { append(scalar) }
            default:
                if scalar != "'", scalar != "\u{2019}", scalar != "\u{2018}", scalar != "`" { separate() }
            }
        }
        return String(out)
    }

    /// The text with the base letters of letters with marks: `Käsmu Straße` → `Kasmu Strasse`.
    ///
    /// Case, and all other characters, stay.
    package static func unmarked(_ text: String) -> String {
        var out = ""
        for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .enclosingMark, .spacingMark: continue
            default: break
            }
            let small = scalar.properties.lowercaseMapping
            if scalar.properties.isAlphabetic, let letter = small.unicodeScalars.first, let known = plain[letter] {
                out += small == String(scalar) ? known : known.prefix(1).uppercased() + known.dropFirst()
            } else {
                out.unicodeScalars.append(scalar)
            }
        }
        return out
    }

    /// The number of letters to insert, delete, replace or swap to get from one text to the other, or `nil` above the limit.
    static func distance(_ left: [Character], _ right: [Character], limit: Int) -> Int? {
        guard abs(left.count - right.count) <= limit else { return nil }
        var twoBack: [Int] = []
        var oneBack = Array(0...right.count)
        for i in left.indices {
            var row = [i + 1]
            row.reserveCapacity(right.count + 1)
            for j in right.indices {
                var best = min(oneBack[j] + (left[i] == right[j] ? 0 : 1), oneBack[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    best = min(best, twoBack[j - 1] + 1)
                }
                row.append(best)
            }
            if (row.min() ?? 0) > limit { return nil }
            twoBack = oneBack
            oneBack = row
        }
        return oneBack.last.flatMap { $0 <= limit ? $0 : nil }
    }
}
