internal import Foundation
internal import Regions

/// The id of a package and the names of its files, made of a name that a person wrote.
extension Area {
    /// A package id from a name: letters lose their marks, white space becomes `-`, and characters other than letters, digits, `-`,
    /// `_` and `.` become `_`.
    ///
    /// A changed name gets a short hash of the original, so that two names never get the same id.
    package static func fileSafe(_ text: String) -> String {
        let safe = readable(text)
        // Not `==`, which holds for canonically equal texts of other bytes.
        guard !safe.utf8.elementsEqual(text.utf8) || safe.isEmpty || safe.hasPrefix(".") else { return safe }
        // FNV-1a, 32 bits: short, and the same on every machine.
        let hash = text.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        // A dot at the start would hide the file, and a dash would be an option.
        let start = safe.first.map { $0.isLetter || $0.isNumber } == true ? "" : "_"
        // 100 characters with the hash, so that an id is a name that stays as it is.
        return "\(start)\(safe.prefix(90))-\(String(hash, radix: 16))"
    }

    /// An id that a person may have meant by a text that is no id; `nil` when none resembles it.
    package static func suggestedID(for text: String) -> String? {
        let safe = String(readable(text).drop { !($0.isLetter || $0.isNumber) })
        return safe.contains { $0.isLetter || $0.isNumber } ? safe : nil
    }

    private static func readable(_ text: String) -> String {
        String(
            NameFolding.unmarked(text).unicodeScalars.map { scalar -> Character in
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".": Character(scalar)
                default: scalar.properties.isWhitespace ? "-" : "_"
                }
            }.prefix(100))
    }

    /// The name of its files without an extension: its own name by the rule of the web page, else its id.
    ///
    /// Letters and digits of all scripts, `.` and `_` stay, in form C of Unicode; all others become `-`.
    package var fileStem: String {
        guard let title else { return id }
        var stem = String.UnicodeScalarView()
        for scalar in title.precomposedStringWithCanonicalMapping.unicodeScalars {
            if Self.isInFileNames(scalar) {
                stem.append(scalar)
            } else if stem.last != "-" {
                stem.append("-")
            }
        }
        let ends: Set<Unicode.Scalar> = ["-", "."]
        while let last = stem.last, ends.contains(last) { stem.removeLast() }
        let text = String(stem.drop(while: ends.contains))
        // Extension and hidden folder of a build need room too: 255 bytes is the most of a file system.
        return text.isEmpty || text.utf8.count > 150 ? id : text
    }

    private static func isInFileNames(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber:
            true
        default: scalar == "." || scalar == "_"
        }
    }
}
