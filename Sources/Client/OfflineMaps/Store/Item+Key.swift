extension Item {
    /// The item as the text that rows and unit files have: `package|EE|terrain|de|mbtiles`, `region|my trip`.
    ///
    /// Each field has `%` and `|` as `%25` and `%7C`; an absent group or language is `-`, and a text that begins with
    /// `-` has `%2D` there. Different items have different texts.
    var key: String {
        let fields: [String] =
            switch self {
            case .package(let id, let edition, let format):
                [
                    "package", Self.field(id), Self.field(edition.group), Self.field(edition.language),
                    Self.field(format.name),
                ]
            case .packs(let id, let edition):
                ["packs", Self.field(id), Self.field(edition.group), Self.field(edition.language)]
            case .region(let id): ["region", Self.field(id.text)]
            case .style(let id): ["style", Self.field(id)]
            }
        return fields.joined(separator: "|")
    }

    /// Reads the text; `nil` for any other.
    init?(key: String) {
        let fields = key.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        guard fields.count >= 2, let id = Self.text(fields[1]) else { return nil }
        func edition() -> Edition? {
            guard let group = Self.optional(fields[2]), let language = Self.optional(fields[3]) else { return nil }
            return Edition(group: group, language: language)
        }
        switch (fields[0], fields.count) {
        case ("package", 5):
            guard let edition = edition(), let format = Self.text(fields[4]) else { return nil }
            self = .package(id, edition, Format(format))
        case ("packs", 4):
            guard let edition = edition() else { return nil }
            self = .packs(id, edition)
        case ("region", 2): self = .region(RegionID(id))
        case ("style", 2): self = .style(id)
        default: return nil
        }
        guard self.key == key else { return nil }
    }

    static func field(_ text: String?) -> String {
        guard let text else { return "-" }
        var field = ""
        for (index, character) in text.unicodeScalars.enumerated() {
            switch character {
            case "%": field += "%25"
            case "|": field += "%7C"
            case "-" where index == 0: field += "%2D"
            default: field.unicodeScalars.append(character)
            }
        }
        return field
    }

    private static func text(_ field: String) -> String? { optional(field).flatMap { $0 } }

    /// - Returns: `nil` for a field that is wrong; `.some(nil)` for an absent text.
    private static func optional(_ field: String) -> String?? {
        if field == "-" { return .some(nil) }
        var text = ""
        var rest = field.unicodeScalars[...]
        while let character = rest.popFirst() {
            guard character == "%" else {
                text.unicodeScalars.append(character)
                continue
            }
            let code = String(String.UnicodeScalarView(rest.prefix(2)))
            rest = rest.dropFirst(2)
            switch code {
            case "25": text += "%"
            case "7C": text += "|"
            case "2D": text += "-"
            default: return nil
            }
        }
        return .some(text)
    }
}
