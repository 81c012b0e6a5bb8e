/// What stands in braces in a tile URL; the table for the parser, for messages and for other programs' names.
enum TilePlaceholder: Hashable, CaseIterable {
    case zoom, column, row, southRow, quadkey, box, width, height, ratio, prefix, subdomain, language, key

    /// Its names, the usual one first.
    var names: [String] {
        switch self {
        case .zoom: ["z"]
        case .column: ["x"]
        case .row: ["y"]
        case .southRow: ["-y"]
        case .quadkey: ["q", "quadkey"]
        case .box: ["bbox-epsg-3857"]
        case .width: ["width"]
        case .height: ["height"]
        case .ratio: ["ratio", "r"]
        case .prefix: ["prefix"]
        case .subdomain: ["s"]
        case .language: ["language"]
        case .key: ["key"]
        }
    }

    private static let byName = Dictionary(
        uniqueKeysWithValues: allCases.flatMap { one in one.names.map { ($0, one) } })

    /// The placeholder of a name; `nil` for other text.
    init?(_ name: String) {
        guard let found = Self.byName[name] else { return nil }
        self = found
    }

    /// The usual names, in the order of the reference.
    static let known = allCases.compactMap(\.names.first)
}
