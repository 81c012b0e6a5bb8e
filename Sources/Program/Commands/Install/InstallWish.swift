import CatalogFormat

/// One object that should be installed.
enum InstallWish: Hashable, Sendable {
    case package(String, group: String?, language: String?, format: String)
    case packs(String, group: String?, language: String?)
    case style(String)

    /// Everything that is installed in a folder, with its original options.
    static func installed(in folder: InstallFolder) throws -> [InstallWish] {
        let record = try folder.record()
        return record.packages.map { .package($0.id, group: $0.group, language: $0.language, format: $0.format) }
            + (record.regions ?? []).map { .packs($0.id, group: $0.group, language: $0.language) }
            + (record.styles ?? []).map { .style($0.id) }
    }

    /// Whether a catalog has it in exactly this channel and form.
    ///
    /// If not, the installed files are not changed.
    func isThere(in index: CatalogIndex) -> Bool {
        func package(_ id: String, group: String?, language: String?) -> CatalogIndex.Package? {
            // A catalog has no edition with an invalid name.
            (try? CatalogEdition(group: group, language: language)).flatMap { index.package(id, in: $0) }
        }
        switch self {
        case .package(let id, let group, let language, let format):
            return package(id, group: group, language: language)?.versions.first?.file(format) != nil
        case .packs(let id, let group, let language):
            return package(id, group: group, language: language)?.tilePacks != nil
        case .style(let id): return index.styles?.contains { $0.id == id } ?? false
        }
    }

    /// Text for people: `EE (terrain, de) as mbtiles`.
    var name: String {
        func named(_ id: String, _ parts: [String?]) -> String {
            let parts = parts.compactMap(\.self)
            return parts.isEmpty ? "'\(id)'" : "'\(id)' (\(parts.joined(separator: ", ")))"
        }
        return switch self {
        case .package(let id, let group, let language, let format): "\(named(id, [group, language])) as \(format)"
        case .packs(let id, let group, let language): "\(named(id, [group, language])) as tile packs"
        case .style(let id): "style '\(id)'"
        }
    }
}
