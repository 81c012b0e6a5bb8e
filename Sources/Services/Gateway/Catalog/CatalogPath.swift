internal import CatalogFormat

/// A path of a catalog, by the grammar of docs/formats/catalog.md.
///
/// A path that is none of these is not looked for; so no text of a request becomes a name of a file.
enum CatalogPath: Sendable, Hashable {
    case index
    case signature
    /// The list of an edition.
    case list(CatalogEdition)
    /// A list of tile packs.
    case packList(CatalogEdition, id: String)
    /// A file of a package.
    case package(CatalogEdition, version: Int32, file: String)
    /// A patch between two versions; `format` is that of the files on both sides, `nil` for the main file.
    case patch(CatalogEdition, id: String, from: Int32, to: Int32, format: String?)
    case pack(CatalogEdition, tileset: String, zoom: Int32, x: Int32, y: Int32, file: String)
    case style(version: Int32, file: String)

    /// Reads the segments of a path below the catalog.
    init?(_ segments: some Collection<String>) {
        let parts = Array(segments)
        switch parts {
        case [CatalogIndex.fileName]: self = .index
        case [CatalogIndex.signatureName]: self = .signature
        default:
            if parts.count == 3, parts[0] == "styles" {
                guard let version = Self.number(parts[1]), Self.isName(parts[2]) else { return nil }
                self = .style(version: version, file: parts[2])
                return
            }
            guard let (edition, rest) = Self.edition(parts), let path = Self.path(rest, edition) else { return nil }
            self = path
        }
    }

    private static let folders = ["packages.json", "packages", "patches", "packs", "regions"]

    /// The edition that a path begins with, and the rest.
    private static func edition(_ parts: [String]) -> (CatalogEdition, ArraySlice<String>)? {
        var rest = parts[...]
        var group: String?
        if rest.first == "groups" {
            guard rest.count >= 3 else { return nil }
            group = rest[1]
            rest = rest.dropFirst(2)
        }
        var language: String?
        if let first = rest.first, !folders.contains(first) {
            language = first
            rest = rest.dropFirst()
        }
        // What cannot be an edition names nothing.
        guard let edition = try? CatalogEdition(group: group, language: language) else { return nil }
        return (edition, rest)
    }

    private static func path(_ rest: ArraySlice<String>, _ edition: CatalogEdition) -> CatalogPath? {
        let parts = Array(rest)
        switch (parts.first, parts.count) {
        case ("packages.json", 1): return .list(edition)
        case ("packages", 3):
            guard let version = number(parts[1]), isName(parts[2]) else { return nil }
            return .package(edition, version: version, file: parts[2])
        case ("patches", 3):
            let formats = PatchRule.formats.map { $0 == CatalogEntry.mainFile.format ? nil : $0 }
            guard isName(parts[1]),
                let format = formats.first(where: { parts[2].hasSuffix(CatalogEntry.patchExtension($0)) })
            else { return nil }
            let ends = parts[2].dropLast(CatalogEntry.patchExtension(format).count)
                .split(separator: "-", omittingEmptySubsequences: false)
            guard ends.count == 2, let from = number(String(ends[0])), let to = number(String(ends[1])) else {
                return nil
            }
            return .patch(edition, id: parts[1], from: from, to: to, format: format)
        case ("regions", 2):
            guard parts[1].hasSuffix(".json"), isName(parts[1]) else { return nil }
            return .packList(edition, id: String(parts[1].dropLast(".json".count)))
        case ("packs", 6):
            guard isName(parts[1]), let zoom = number(parts[2]), let x = number(parts[3]), let y = number(parts[4]),
                isName(parts[5])
            else { return nil }
            return .pack(edition, tileset: parts[1], zoom: zoom, x: x, y: y, file: parts[5])
        default: return nil
        }
    }

    /// The path below the catalog's folder, as lists write it.
    var text: String {
        switch self {
        case .index: CatalogIndex.fileName
        case .signature: CatalogIndex.signatureName
        case .list(let edition): "\(edition.path)packages.json"
        case .packList(let edition, let id): "\(edition.path)regions/\(id).json"
        case .package(let edition, let version, let file): "\(edition.path)packages/\(version)/\(file)"
        case .patch(let edition, let id, let from, let to, let format):
            "\(edition.path)patches/\(id)/\(from)-\(to)\(CatalogEntry.patchExtension(format))"
        case .pack(let edition, let tileset, let zoom, let x, let y, let file):
            "\(edition.path)packs/\(tileset)/\(zoom)/\(x)/\(y)/\(file)"
        case .style(let version, let file): "styles/\(version)/\(file)"
        }
    }

    /// A number as lists write it: digits without a leading zero.
    private static func number(_ text: String) -> Int32? {
        guard (1...10).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            text == "0" || !text.hasPrefix("0")
        else { return nil }
        return Int32(text)
    }

    private static func isName(_ text: String) -> Bool { !text.contains("/") && CatalogIndex.isInside(text) }
}
