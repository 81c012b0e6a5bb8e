public import Errors

/// A part of a catalog with its own list: for a group of data, a language, both, or neither.
///
/// It is a sub-folder that is itself a CARTO catalog: `""`, `de/`, `groups/terrain/`, `groups/terrain/de/`. In JSON it
/// is called `edition`.
public struct CatalogEdition: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The group of data; `nil` is the base map.
    public let group: String?
    /// The language of the names in the tiles; `nil` if the tiles have no names or all languages.
    public let language: String?

    /// The catalog's own list.
    public static let main = CatalogEdition()

    private init() {
        group = nil
        language = nil
    }

    /// Creates an edition.
    ///
    /// - Parameters:
    ///   - group: 1 to 32 lower-case letters, digits and hyphens, not beginning with a hyphen.
    ///   - language: Two or three lower-case letters, then subtags of letters and digits after hyphens or underscores:
    ///     `de`, `zh-Hant`.
    /// - Throws: `bad-request` naming what cannot be a folder.
    public init(group: String? = nil, language: String? = nil) throws(CatalogError) {
        if let group, !Self.isWord(group) {
            throw CatalogError(
                .badRequest,
                "'\(group.prefix(40))' cannot name a group: use 1 to 32 lower-case letters, digits and hyphens.")
        }
        if let language, !Self.isLanguage(language) {
            throw CatalogError(
                .badRequest, "'\(language.prefix(40))' is not a language code. Give a code such as de or zh-Hant.")
        }
        self.group = group
        self.language = language
    }

    /// The sub-folder inside the catalog, ending in a slash; empty for ``main``.
    public var path: String { (group.map { "groups/\($0)/" } ?? "") + (language.map { "\($0)/" } ?? "") }

    /// The path, or "main".
    public var description: String { path.isEmpty ? "main" : String(path.dropLast()) }

    /// Order of the paths' bytes.
    public static func < (left: CatalogEdition, right: CatalogEdition) -> Bool {
        left.path.utf8.lexicographicallyPrecedes(right.path.utf8)
    }

    /// Whether a text is 1...32 lower-case letters, digits and inner hyphens.
    package static func isWord(_ text: String) -> Bool {
        1...32 ~= text.utf8.count && !text.hasPrefix("-")
            && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }

    private static func isLanguage(_ text: String) -> Bool {
        let parts = text.split(whereSeparator: { $0 == "-" || $0 == "_" })
        let separators = text.filter { $0 == "-" || $0 == "_" }.count
        guard let first = parts.first, separators == parts.count - 1, text.utf8.count <= 35 else { return false }
        return 2...3 ~= first.utf8.count && first.utf8.allSatisfy { (0x61...0x7A).contains($0) }
            && parts.dropFirst().allSatisfy { part in
                1...8 ~= part.utf8.count && part.utf8.allSatisfy { $0 < 0x80 }
                    && part.allSatisfy { $0.isLetter || $0.isNumber }
            }
    }
}
