extension PBEdition {
    /// An edition of the catalog of a data group and a language; empty text = none.
    public init(group: String, language: String) {
        self.init()
        self.group = group
        self.language = language
    }

    /// Whether it is the catalog at the root.
    public var isRoot: Bool { group.isEmpty && language.isEmpty }

    /// Text for people: `terrain/de`; empty for the root.
    public var label: String { [group, language].filter { !$0.isEmpty }.joined(separator: "/") }

    /// Why it is not a valid edition, or `nil`.
    ///
    /// A group has 1 to 32 lower-case letters, digits and hyphens, and begins with a letter or digit. A language is a
    /// code in the form of BCP 47: two or three lower-case letters, then parts of one to eight letters and digits. So
    /// neither can equal the name of a folder that the catalog uses itself.
    public var problem: String? {
        if !group.isEmpty, !Self.isGroup(group) {
            return
                "'\(group.prefix(40))' is not a valid data group. Use 1 to 32 of a-z, 0-9 and '-', without '-' at the start."
        }
        if !language.isEmpty, !Self.isLanguage(language) {
            return "'\(language.prefix(40))' is not a language code such as en, de or zh-Hans."
        }
        return nil
    }

    private static func isGroup(_ text: String) -> Bool {
        guard (1...32).contains(text.utf8.count), text.utf8.first != 0x2D else { return false }
        return text.utf8.allSatisfy { isDigit($0) || (0x61...0x7A).contains($0) || $0 == 0x2D }
    }

    private static func isLanguage(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: 0x2D, omittingEmptySubsequences: false)
        guard let first = parts.first, text.utf8.count <= 35, (2...3).contains(first.count),
            first.allSatisfy({ (0x61...0x7A).contains($0) })
        else { return false }
        return parts.dropFirst().allSatisfy {
            (1...8).contains($0.count) && $0.allSatisfy { isLetter($0) || isDigit($0) }
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
