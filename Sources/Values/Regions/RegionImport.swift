public import Foundation
package import Tiles

/// Imports finer boundaries, or additional regions, from a file into a folder of the user.
///
/// ``RegionTree/load(imports:)`` combines the folder with the embedded tree. The user who imports a file is responsible
/// for its licence.
public enum RegionImport {
    /// How to read the file.
    public struct Options: Sendable {
        /// `.country` or `.region` to take only those; `nil` takes both.
        public var level: Region.Kind?
        /// The property that holds the id; `nil` tries the usual ones.
        public var idKey: String?
        /// The property that holds the name; `nil` tries the usual ones.
        public var nameKey: String?
        /// Whether a region that the tree or the folder has already gets the new boundary.
        public var replace: Bool
        /// The id of the one region that all features make; `nil` = each feature has its own.
        public var id: String?
        /// The region above new ones whose ids are no ISO codes; `nil` = the world.
        public var parent: String?

        /// The defaults take every level, the usual keys, and refuse to replace.
        public init(
            level: Region.Kind? = nil, idKey: String? = nil, nameKey: String? = nil, replace: Bool = false,
            id: String? = nil, parent: String? = nil
        ) {
            self.id = id
            self.parent = parent
            self.level = level
            self.idKey = idKey
            self.nameKey = nameKey
            self.replace = replace
        }
    }

    /// What an import did.
    public struct Report: Sendable {
        /// Ids the tree did not have, sorted.
        public var added: [String] = []
        /// Ids whose boundary is a new one, sorted.
        public var replaced: [String] = []
        /// One message for each skipped feature.
        public var skipped: [String] = []
        /// One text for each region whose boundary can be read in two ways.
        public var warnings: [String] = []
    }

    /// Imports features of a file.
    ///
    /// Everything is checked before the first file is written. Features with the same id become one region. Blocks for the time it takes to
    /// write the files.
    ///
    /// - Parameters:
    ///   - features: What the file holds, in degrees (WGS 84).
    ///   - file: Where they come from. A file of one feature without an id has the id that is its name.
    ///   - folder: The import folder; made when missing.
    ///   - tree: The tree as it is now, imports included (``RegionTree/load(imports:)``).
    /// - Throws: ``RegionsError`` `.badImport`, `.alreadyPresent` (nothing was written) or `.fileFailed` (regions written before it stay).
    package static func run(
        _ features: [AreaFeature], of file: URL, into folder: URL, options: Options, tree: RegionTree
    ) throws(RegionsError) -> Report {
        var report = Report()
        let keys = ImportKeys(options: options, alpha2: tree.alpha2)
        guard features.contains(where: { !$0.geometry.polygons.isEmpty }) else {
            throw RegionsError(
                .badImport,
                "'\(file.path)' has no polygon: a region needs an area, and the file has only lines, points or empty geometries. "
                    + "Close its lines into polygons; to get tiles along lines use --route FILE.")
        }
        let fileID = try id(of: features, in: file, options)
        var geometries: [String: Geometry] = [:]
        var properties: [String: [String: JSONText]] = [:]
        for (number, feature) in features.enumerated() {
            let found = feature.properties
            guard let id = options.id == nil ? keys.id(of: found) ?? keys.ownID(of: feature) ?? fileID : fileID else {
                report.skipped.append("Feature \(number + 1) has no id.")
                continue
            }
            guard options.id == nil || !feature.geometry.polygons.isEmpty else { continue }
            guard !feature.geometry.polygons.isEmpty else {
                let what = feature.geometry.isEmpty ? "geometry" : "polygon, only lines or points"
                report.skipped.append("Feature \(number + 1) (\(id)) has no \(what).")
                continue
            }
            if let level = options.level, level != kind(of: id) {
                report.skipped.append("Feature \(number + 1) (\(id)) is a \(kind(of: id).rawValue).")
                continue
            }
            geometries[id, default: Geometry()].polygons += feature.geometry.polygons
            if properties[id] == nil { properties[id] = found }
        }
        guard !geometries.isEmpty else { throw nothingFound(in: features, keys: keys, file: file) }
        var files: [ImportFile] = []
        for (id, geometry) in geometries.sorted(by: { $0.key < $1.key }) {
            let old = tree[id]
            if old != nil, !options.replace {
                throw RegionsError(
                    .alreadyPresent,
                    "The tree already has \(id). Nothing was written. Use --replace to use the boundary of the file.",
                    suggestions: [id])
            }
            // An id that is no code must not take the name of another region.
            if old == nil, !ImportKeys.isID(id), let named = try? tree.find(id) {
                throw RegionsError(
                    .alreadyPresent,
                    "'\(id)' is already a name of \(named.id) (\(named.name("en"))). Nothing was written. Choose another id: --as ID.",
                    suggestions: [named.id])
            }
            let parent = try parent(of: id, options, in: tree)
            let names = keys.names(of: properties[id] ?? [:], known: old?.names ?? [:], id: id)
            files.append(try ImportFile(id: id, kind: kind(of: id), parentID: parent, names: names, geometry: geometry))
            if old == nil { report.added.append(id) } else { report.replaced.append(id) }
        }
        for file in files { try file.write(into: folder) }
        report.warnings = files.compactMap { file in file.longEdges.map { "\(file.id): \($0.explanation)" } }
        return report
    }

    /// Removes an imported region from the folder; the next load uses the embedded boundary again, if there is one.
    ///
    /// - Throws: ``RegionsError`` `.unknownRegion` when the folder has no such region, `.fileFailed`.
    public static func remove(_ id: String, from folder: URL) throws(RegionsError) {
        let id = id.uppercased()
        let url = folder.appendingPathComponent("\(id).\(ImportFile.suffix)")
        guard ImportKeys.isID(id) || ImportKeys.isOwnID(id), FileManager.default.fileExists(atPath: url.path) else {
            throw RegionsError(.unknownRegion, "'\(folder.path)' has no imported region '\(id)'.")
        }
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            throw RegionsError(.fileFailed, "Cannot remove '\(url.path)': \(error.localizedDescription)", cause: error)
        }
    }

    /// What an id may be, for messages.
    private static let idRule =
        "expected an ISO code such as EE or EE-37, or an id of your own: 3 to 64 letters, digits, '-', '_' and '.', beginning with a letter."

    private static func kind(of id: String) -> Region.Kind {
        ImportKeys.isID(id) && !id.contains("-") ? .country : .region
    }

    /// The id that a file gives its features: the one that the user names, else the name of the file when it has one feature without
    /// properties other than a name.
    private static func id(
        of features: [AreaFeature], in file: URL, _ options: Options
    ) throws(RegionsError) -> String? {
        if let named = options.id?.uppercased() {
            guard ImportKeys.isID(named) || ImportKeys.isOwnID(named) else {
                throw RegionsError(
                    .badImport,
                    "'\(named)' cannot be the id of a region; \(idRule)")
            }
            return named
        }
        let stem = file.deletingPathExtension().lastPathComponent.uppercased()
        let isOwn = ImportKeys.isOwnID(stem) && ["json", "geojson"].contains(file.pathExtension.lowercased()) == false
        guard features.count == 1, let only = features.first, ImportKeys.isID(stem) || isOwn,
            only.properties.isEmpty || isOwn && only.properties.keys.allSatisfy({ $0 == "name" })
        else { return nil }
        return stem
    }

    private static func nothingFound(in features: [AreaFeature], keys: ImportKeys, file: URL) -> RegionsError {
        let seen = Set(features.prefix(1000).flatMap(\.properties.keys)).sorted()
            .prefix(40)
        let list = seen.isEmpty ? "no properties at all" : "the properties " + seen.joined(separator: ", ")
        return RegionsError(
            .badImport,
            "None of the \(features.count) features of '\(file.path)' gives an ISO 3166 id with a polygon. "
                + "Looked at \(keys.idKeys.joined(separator: ", ")); found \(list). Name the one with the id: --id KEY, or give the region an id: --as ID."
        )
    }

    private static func parent(
        of id: String, _ options: Options, in tree: RegionTree
    ) throws(RegionsError) -> String {
        if let known = tree[id]?.parentID { return known }
        let country = String(id.prefix(2))
        if options.parent != nil || !ImportKeys.isID(id) {
            let parent = try tree.find(options.parent ?? "001")
            guard parent.kind < kind(of: id) else {
                throw RegionsError(.badImport, "\(parent.id) is a \(parent.kind.rawValue), so \(id) cannot be in it.")
            }
            return parent.id
        }
        guard kind(of: id) == .region, let parent = tree[country], parent.kind == .country else {
            throw RegionsError(
                .badImport,
                "'\(id)' cannot be the id of a region: \(country) is not a country of ISO 3166-1; \(idRule)"
                    + (options.id == nil && options.idKey == nil ? " Give it another one: --as ID." : ""),
                suggestions: tree.suggestions(for: id))
        }
        return parent.id
    }
}

extension RegionTree {
    /// From alpha-3 to alpha-2.
    var alpha2: [String: String] {
        Dictionary(
            nodes.compactMap { node in node.alpha3.map { ($0, node.region.id) } },
            uniquingKeysWith: { first, _ in first })
    }
}
