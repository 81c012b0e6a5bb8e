internal import Tiles

/// Which property of a feature is its id and which its name.
///
/// Keys of Natural Earth, Geofabrik, OpenStreetMap, geoBoundaries and GADM.
struct ImportKeys {
    private static let region = ["iso_3166_2", "ISO3166-2", "iso3166-2", "shapeISO", "ISO_1"]
    private static let country = [
        "ISO_A2_EH", "ISO_A2", "iso_a2", "ISO3166-1", "ISO3166-1:alpha2", "iso3166-1:alpha2", "GID_0", "shapeGroup",
    ]
    private static let plainNames = ["name", "NAME", "shapeName", "NAME_1", "NAME_0", "ADMIN"]

    let options: RegionImport.Options
    /// From alpha-3 to alpha-2.
    let alpha2: [String: String]

    /// Keys to look at, in order.
    var idKeys: [String] {
        if let key = options.idKey { return [key] }
        return switch options.level {
        case .country: Self.country
        case .region: Self.region
        case .world, .continent, .subcontinent, nil: Self.region + Self.country
        }
    }

    /// The first usable id of a feature: ISO 3166-1 alpha-2, or alpha-2, a hyphen and up to sixteen letters and digits; of a property
    /// that the user names also an id of their own.
    func id(of properties: [String: JSONText]) -> String? {
        for key in idKeys {
            guard let text = Self.text(properties[key]) else { continue }
            let tidy = text.uppercased().replacing(".", with: "-")
            let id = alpha2[tidy] ?? tidy
            // A property that the user names may hold ids of their own.
            if Self.isID(id) || options.idKey != nil && Self.isOwnID(id) { return id }
        }
        return nil
    }

    /// The id that a feature itself has, beside its properties, where it is an ISO code; not when the user names a property.
    func ownID(of feature: AreaFeature) -> String? {
        guard options.idKey == nil, let text = feature.id?.trimmedOfSpaces.uppercased() else { return nil }
        let id = alpha2[text] ?? text
        return Self.isID(id) ? id : nil
    }

    /// Names by language.
    ///
    /// The plain name is used for every language for which neither the feature nor the tree has a name.
    func names(of properties: [String: JSONText], known: [String: String], id: String) -> [String: String] {
        var names = known
        for language in RegionTree.languages {
            let keys = ["name:\(language)", "NAME_\(language.uppercased())", "name_\(language)"]
            if let name = keys.lazy.compactMap({ Self.text(properties[$0]) }).first { names[language] = name }
        }
        let plain = (options.nameKey.map { [$0] } ?? Self.plainNames).lazy.compactMap { Self.text(properties[$0]) }
            .first
        for language in RegionTree.languages where names[language] == nil {
            names[language] = plain ?? names["en"] ?? id
        }
        return names
    }

    static func isID(_ id: String) -> Bool {
        let parts = id.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let letters: (Character) -> Bool = { ("A"..."Z").contains($0) }
        let lettersAndDigits: (Character) -> Bool = {
            ("A"..."Z").contains($0) || ("0"..."9").contains($0) || $0 == "-"
        }
        guard let country = parts.first, country.utf8.count == 2, country.allSatisfy(letters) else { return false }
        guard parts.count == 2 else { return true }
        return (1...16).contains(parts[1].utf8.count) && parts[1].allSatisfy(lettersAndDigits)
    }

    /// Whether an id is no ISO code, but can name a region: 3 to 64 letters, digits, `-`, `_` and `.`, beginning with a letter.
    static func isOwnID(_ id: String) -> Bool {
        let others: (Character) -> Bool = { ("A"..."Z").contains($0) || ("0"..."9").contains($0) || "-_.".contains($0) }
        return (3...64).contains(id.utf8.count) && id.allSatisfy(others)
            && id.first.map { ("A"..."Z").contains($0) } ?? false
    }

    /// A text, or the one text of an array (Geofabrik); not -99, which means "none" in Natural Earth.
    private static func text(_ value: JSONText?) -> String? {
        var value = value
        if case .list(let texts)? = value, texts.count == 1 { value = texts[0] }
        guard let trimmed = value?.text?.trimmedOfSpaces, !trimmed.isEmpty, trimmed.utf8.count <= 200,
            !trimmed.hasPrefix("-99")
        else { return nil }
        return trimmed
    }
}
