public import Foundation
internal import Tiles

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

        /// The defaults take every level, the usual keys, and refuse to replace.
        public init(level: Region.Kind? = nil, idKey: String? = nil, nameKey: String? = nil, replace: Bool = false) {
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

    /// Imports a file of any ``AreaFormat``: GeoJSON if its name does not say another one.
    ///
    /// Everything is checked before the first file is written. Features with the same id become one region. Blocks for the time it takes to
    /// read and write the files.
    ///
    /// - Parameters:
    ///   - file: The file, at most 512 MiB, in degrees (WGS 84).
    ///   - folder: The import folder; made when missing.
    ///   - tree: The tree as it is now, imports included (``RegionTree/load(imports:)``).
    /// - Throws: ``RegionsError`` `.badImport`, `.alreadyPresent` (nothing was written) or `.fileFailed` (regions written before it stay).
    public static func run(_ file: URL, into folder: URL, options: Options, tree: RegionTree) throws(RegionsError)
        -> Report
    {
        var report = Report()
        let keys = ImportKeys(options: options, alpha2: tree.alpha2)
        let features = try AreaFile.features(of: file)
        // In a format without properties a file has the name of its region.
        let stem = file.deletingPathExtension().lastPathComponent.uppercased()
        let fileID = features.count == 1 && features[0].properties.isEmpty && ImportKeys.isID(stem) ? stem : nil
        var geometries: [String: Geometry] = [:]
        var properties: [String: [String: JSONText]] = [:]
        for (number, feature) in features.enumerated() {
            let found = feature.properties
            guard let id = keys.id(of: found) ?? fileID else {
                report.skipped.append("Feature \(number + 1) has no id.")
                continue
            }
            guard !feature.geometry.isEmpty else {
                report.skipped.append("Feature \(number + 1) (\(id)) has no geometry.")
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
            let parent = try parent(of: id, in: tree)
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
        guard ImportKeys.isID(id), FileManager.default.fileExists(atPath: url.path) else {
            throw RegionsError(.unknownRegion, "'\(folder.path)' has no imported region '\(id)'.")
        }
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            throw RegionsError(.fileFailed, "Cannot remove '\(url.path)': \(error.localizedDescription)", cause: error)
        }
    }

    private static func kind(of id: String) -> Region.Kind { id.contains("-") ? .region : .country }

    private static func nothingFound(in features: [AreaFeature], keys: ImportKeys, file: URL) -> RegionsError {
        let seen = Set(features.prefix(1000).flatMap(\.properties.keys)).sorted()
            .prefix(40)
        let list = seen.isEmpty ? "no properties at all" : "the properties " + seen.joined(separator: ", ")
        return RegionsError(
            .badImport,
            "None of the \(features.count) features of '\(file.path)' gives an ISO 3166 id with a geometry. "
                + "Looked at \(keys.idKeys.joined(separator: ", ")); found \(list). Name the one with the id: --id KEY."
        )
    }

    private static func parent(of id: String, in tree: RegionTree) throws(RegionsError) -> String {
        if let known = tree[id]?.parentID { return known }
        let country = String(id.prefix(2))
        guard kind(of: id) == .region, let parent = tree[country], parent.kind == .country else {
            throw RegionsError(
                .badImport, "\(country) is not a country of ISO 3166-1. Ids look like EE or EE-37.",
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
