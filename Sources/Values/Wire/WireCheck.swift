/// Checks of single fields, used by the generated `checkFields()` and by the rules of messages.
enum WireCheck {
    /// - Throws: ``WireError`` `bad-value` when the bytes are no SHA-256.
    static func digest(_ bytes: some Collection, _ field: String, mayBeEmpty: Bool = false) throws(WireError) {
        guard bytes.count == 32 || mayBeEmpty && bytes.isEmpty else {
            throw WireError(.badValue, "The digest in \(field) has \(bytes.count) bytes instead of 32.")
        }
    }

    /// - Throws: ``WireError`` `bad-value` when the text has more than `most` bytes.
    static func text(_ text: String, atMost most: Int, _ field: String) throws(WireError) {
        guard text.utf8.count <= most else {
            throw WireError(.badValue, "The text in \(field) has \(text.utf8.count) bytes; the limit is \(most).")
        }
    }

    /// - Throws: ``WireError`` `bad-value` when one of the numbers is negative or not finite.
    static func rates(_ rates: [Double], of origin: String) throws(WireError) {
        guard rates.allSatisfy({ $0.isFinite && $0 >= 0 }) else {
            throw WireError(.badValue, "A rate for '\(origin.prefix(80))' is negative or not a number.")
        }
    }

    /// - Throws: ``WireError`` `bad-value` when the zooms are no range within 0 to 22.
    static func zooms(_ min: UInt32, _ max: UInt32) throws(WireError) {
        guard min <= max, max <= 22 else {
            throw WireError(.badValue, "The zooms \(min) to \(max) are not a range within 0 to 22.")
        }
    }

    /// - Throws: ``WireError`` `bad-value` when the numbers are no tile.
    static func tile(_ tile: PBTile) throws(WireError) {
        guard tile.tileID != nil else {
            throw WireError(.badValue, "\(tile.zoom)/\(tile.x)/\(tile.y) is not a tile.")
        }
    }

    /// Formats have short names, and each occurs once.
    ///
    /// - Throws: ``WireError`` `bad-value` or `too-many`.
    static func formats(_ formats: [String]) throws(WireError) {
        try count(formats.count, atMost: MessageType.maxFormats, "formats")
        for format in formats {
            let isName =
                (1...32).contains(format.utf8.count)
                && format.utf8.allSatisfy {
                    (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D
                }
            guard isName else { throw WireError(.badValue, "'\(format.prefix(40))' is not a format name.") }
        }
        guard Set(formats).count == formats.count else {
            throw WireError(.badValue, "The formats \(formats.joined(separator: ", ")) contain a duplicate.")
        }
    }

    /// - Throws: ``WireError`` `bad-value`.
    static func edition(_ edition: PBEdition) throws(WireError) {
        if let problem = edition.problem { throw WireError(.badValue, problem) }
    }

    /// - Throws: ``WireError`` `too-many`.
    static func count(_ count: Int, atMost most: Int, _ what: String) throws(WireError) {
        guard count <= most else {
            throw WireError(.tooMany, "The message has \(count) \(what); the limit is \(most).")
        }
    }
}
