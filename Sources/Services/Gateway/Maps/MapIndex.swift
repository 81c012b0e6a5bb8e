internal import CatalogFormat

/// The packages of a catalog as sources of tiles.
struct MapIndex: Sendable {
    /// What a path below `/tiles` names; `@` and `~` cannot occur in ids.
    enum Source: Sendable, Hashable {
        case version(id: String, Int32)
        case newest(id: String)
        /// All packages of a tileset as one map.
        case tileset(String)

        /// Reads `ID@V`, `ID` or `~TILESET`.
        init?(_ text: String) {
            if text.hasPrefix("~") {
                guard text.utf8.count > 1 else { return nil }
                self = .tileset(String(text.dropFirst()))
            } else if let at = text.firstIndex(of: "@") {
                let number = text[text.index(after: at)...]
                guard number.first != "0", number.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                    let version = Int32(number), at > text.startIndex
                else { return nil }
                self = .version(id: String(text[..<at]), version)
            } else {
                guard !text.isEmpty else { return nil }
                self = .newest(id: text)
            }
        }
    }

    private struct Key: Hashable {
        let edition: String
        let name: String
    }

    /// Newest version first.
    private var packages: [Key: [MapVersion]] = [:]
    /// Packages in parts by the id of the whole: all versions of all parts, by their numbers.
    private var parts: [Key: [MapVersion]] = [:]
    /// The newest versions, newest data first.
    private var tilesets: [Key: [MapVersion]] = [:]

    init(_ index: CatalogIndex) {
        for package in index.packages {
            let versions = package.versions.compactMap { MapVersion(package, $0) }
            packages[Key(edition: package.edition, name: package.id)] = versions
            if let whole = package.part?.of {
                parts[Key(edition: package.edition, name: whole), default: []] += versions
            }
            guard let newest = versions.first, let tileset = newest.version.tileset else { continue }
            tilesets[Key(edition: package.edition, name: tileset), default: []].append(newest)
        }
        for key in parts.keys { parts[key]?.sort { $0.partNumber < $1.partNumber } }
        for key in tilesets.keys {
            tilesets[key]?.sort {
                let (left, right) = ($0.version.dataDate ?? "", $1.version.dataDate ?? "")
                return left == right ? $0.package.id < $1.package.id : left > right
            }
        }
    }

    /// The versions that a source consists of; empty when there is no such.
    ///
    /// - Parameter edition: The path of the edition, `""` or ending in a slash.
    func versions(_ source: Source, edition: String) -> [MapVersion] {
        switch source {
        case .version(let id, let number):
            packages[Key(edition: edition, name: id), default: []].filter { $0.version.version == number }
        case .newest(let id): Array(packages[Key(edition: edition, name: id), default: []].prefix(1))
        case .tileset(let name): tilesets[Key(edition: edition, name: name), default: []]
        }
    }

    /// The packages that a source of tiles consists of: as ``versions(_:edition:)``, or all parts of a package in parts.
    ///
    /// Parts are known of their newest version only: an earlier one may have had more of them.
    func maps(_ source: Source, edition: String) -> [MapVersion] {
        let whole = versions(source, edition: edition)
        guard whole.isEmpty else { return whole }
        switch source {
        case .version(let id, let number):
            let parts = newestParts(of: id, edition)
            return parts.first?.version.version == number ? parts : []
        case .newest(let id): return newestParts(of: id, edition)
        case .tileset: return []
        }
    }

    /// Empty when one is missing.
    private func newestParts(of id: String, _ edition: String) -> [MapVersion] {
        let all = parts[Key(edition: edition, name: id), default: []]
        let newest = all.map(\.version.version).max()
        let found = all.filter { $0.version.version == newest }
        return found.map(\.partNumber) == Array(1...max(1, found.first?.package.part?.count ?? 0)) ? found : []
    }

    /// The names of the tilesets of an edition, sorted.
    func tilesets(edition: String) -> [String] {
        tilesets.keys.filter { $0.edition == edition }.map(\.name).sorted()
    }
}
