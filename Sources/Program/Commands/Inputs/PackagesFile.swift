import AreaFiles
internal import ClusterClient
internal import CommandSupport
import Errors
import Foundation
import PackageFiles
import Packages
import Regions
import TextFormats
import Tiles
internal import Tilesets

/// A list of packages in a file: YAML or JSON, a list, or a mapping with `packages`.
///
///     - region: EE
///     - region: DE
///       recursive: true
///     - id: tallinn
///       bbox: 24.5,59.3,25.0,59.5
///       names: {en: Tallinn, ru: Таллин}
///     - geojson: park.geojson
///     - points: huts.csv
///       radius: 2km
///       formats: [mbtiles, pmtiles]
///     - region: CA
///       max_file: 4GB
///     - id: baltics
///       union: [EE, LV, {area: lithuania.poly, margin: 2km}]
///       minus: [{region: EE-37}]
///
/// An area within `union`, `and` or `minus` is a region or box as text, or a mapping like an entry, without `id`, `names`, `formats`
/// and `max_file`.
/// Paths are relative to the file. Errors name the entry.
struct PackagesFile {
    /// What names an area.
    private static let ways = ["region", "bbox", "area", "route", "geojson", "points", "union"]
    private static let waysText = ways.dropLast().joined(separator: ", ") + " or " + (ways.last ?? "")
    private static let areaKeys = ways + ["radius", "waypoints", "margin", "and", "minus"]
    private static let keys = areaKeys + ["recursive", "id", "names", "formats", "max_file"]
    /// Areas within areas are at most so deep.
    private static let maxDepth = 8
    /// The largest number of packages in a submission.
    private static let maxEntries = 4_096

    private let name: String
    private let folder: URL
    private let entries: [JSONValue]
    private let tree: () throws -> RegionTree

    /// Reads the file, but not the files that it names.
    ///
    /// - Throws: ``CLIError`` 65, 66, 74, 77; `TilesetsError` `bad-syntax`.
    init(_ file: URL, tree: @escaping () throws -> RegionTree) throws {
        name = file.lastPathComponent
        folder = file.deletingLastPathComponent()
        self.tree = tree
        let text = String(decoding: try InputFile.read(file), as: UTF8.self)
        let document: JSONValue
        do {
            // Read as text, because YAML interprets Norway's NO as a boolean.
            document = try JSONValue(yaml: text, name: name, what: "List of packages", asText: true)
        } catch {
            throw CLIError(.badData, error.message, hint: error.hint)
        }
        switch document {
        case .array(let list): entries = list
        case .object(let object):
            guard case .array(let list)? = object["packages"], object.count == 1 else {
                throw CLIError(.badData, "'\(name)' is a mapping; expected a list of packages, or one key 'packages'")
            }
            entries = list
        case .null, .bool, .number, .string:
            throw CLIError(.badData, "'\(name)' contains \(document.kind); expected a list of packages")
        }
        guard !entries.isEmpty else { throw CLIError(.badData, "'\(name)' lists no package") }
        guard entries.count <= Self.maxEntries else {
            throw CLIError(
                .badData,
                "'\(name)' lists \(Units.count(entries.count)) packages; the limit for one job is \(Units.count(Self.maxEntries))",
                hint: "split the list; jobs of one tileset that run at the same time still fetch each tile once")
        }
    }

    /// The label of a job with the packages of a file.
    static func label(_ file: URL, count: Int) -> String {
        "\(file.lastPathComponent) (\(Units.count(count, of: "package")))"
    }

    /// The packages, in the order of the file.
    ///
    /// - Throws: ``CLIError`` naming the entry.
    func areas() throws -> [Area] {
        let tree = try tree()
        var found: [Area] = []
        for (index, entry) in entries.enumerated() {
            do {
                found += try areas(of: entry, tree)
            } catch {
                let known = ErrorTranslation.cliError(error) ?? CLIError(.badData, "\(error)")
                // Wrong content of a file is bad data, not wrong usage.
                let status = known.status == .usage ? ExitStatus.badData : known.status
                throw CLIError(
                    status, "'\(name)' entry \(index + 1)\(Self.title(entry)): \(Sentence.inner(known.message))",
                    hint: known.hint)
            }
        }
        let twice = Dictionary(grouping: found.indices) { found[$0].id.lowercased() }.filter { $1.count > 1 }
        guard let first = twice.values.compactMap(\.first).min() else { return found }
        throw CLIError(
            .badData, "'\(name)' contains the package '\(found[first].id)' twice", hint: "give one of them another 'id'"
        )
    }

    private static func title(_ entry: JSONValue) -> String {
        guard case .object(let fields) = entry else { return "" }
        for key in ["id"] + ways {
            if case .string(let text)? = fields[key] { return " ('\(text.prefix(60))')" }
        }
        return ""
    }

    private func areas(of entry: JSONValue, _ tree: RegionTree) throws -> [Area] {
        // A plain text is a region.
        if case .string(let text) = entry {
            let area = try AreaReader.named(text, in: tree)
            try TownReader.check([area], example: "'region: \(text)' with 'margin: 20km'")
            return [area]
        }
        guard case .object(let fields) = entry else {
            throw CLIError(.badData, "it is \(entry.kind); expected a mapping with \(Self.waysText)")
        }
        for key in fields.keys.sorted() where !Self.keys.contains(key) {
            throw CLIError(.badData, "unknown key '\(key)'; the keys are \(Self.keys.joined(separator: ", "))")
        }
        let way = try way(fields)
        let isRecursive = try flag("recursive", fields)
        let found: [Area]
        if way == "region", isRecursive {
            let all = try AreaReader.recursive(try text(way, fields), in: tree)
            found = try all.map { try adjusted($0, by: fields, in: tree, depth: 0) }
        } else {
            found = [try area(way, of: fields, in: tree, depth: 0)]
        }
        if fields["id"] == nil, ["union", "and", "minus"].contains(where: { fields[$0] != nil }) {
            throw CLIError(.badData, "it is a set of areas and has no 'id'")
        }
        guard way == "region" || !isRecursive else { throw CLIError(.badData, "'recursive' is only for a region") }
        try TownReader.check(found, example: "a margin to it, for example 'margin: 20km'")
        let formats = try formats(fields)
        let maxFile = try fields["max_file"].map { _ in try Self.fileSize(text("max_file", fields)) }
        return try named(found, fields).map { area in
            var area = area
            (area.formats, area.maxFile) = (formats, maxFile)
            return area
        }
    }

    /// The one key that names an area.
    private func way(_ fields: [String: JSONValue]) throws -> String {
        let ways = Self.ways.filter { fields[$0] != nil }
        guard ways.count == 1, let way = ways.first else {
            throw CLIError(
                .badData,
                ways.isEmpty
                    ? "it has no \(Self.waysText)"
                    : "it has \(ways.joined(separator: " and ")); use only one of them")
        }
        return way
    }

    /// The area that a key names, with margin and sets.
    private func area(
        _ way: String, of fields: [String: JSONValue], in tree: RegionTree, depth: Int
    ) throws -> Area {
        let found: Area
        let waypoints = try flag("waypoints", fields)
        let radius = fields["radius"] == nil ? nil : try text("radius", fields)
        switch way {
        case "region": found = try AreaReader.named(try text(way, fields), in: tree)
        case "bbox": found = try AreaReader.box(listed(way, fields))
        case "union":
            guard let union = Area.merged(try parts(way, of: fields, in: tree, depth: depth)) else {
                throw CLIError(.badData, "'union' lists no area")
            }
            found = union
        default:
            let path = try text(way, fields)
            guard path != "-" else { throw CLIError(.badData, "'\(way)' is '-'; a list names files") }
            found = try AreaReader.file(
                path, in: folder,
                .init(
                    format: way == "area" || way == "route" ? nil : AreaFormat(kind: way), radius: radius,
                    waypoints: waypoints, isRoute: way == "route"))
        }
        return try adjusted(found, by: fields, in: tree, depth: depth)
    }

    /// An area with its margin, cut to what `and` lists, without what `minus` lists.
    private func adjusted(
        _ area: Area, by fields: [String: JSONValue], in tree: RegionTree, depth: Int
    ) throws -> Area {
        var area = area
        if fields["margin"] != nil { area = area.widened(by: try Margin(parsing: listed("margin", fields))) }
        return area.cut(
            to: try parts("and", of: fields, in: tree, depth: depth),
            without: try parts("minus", of: fields, in: tree, depth: depth))
    }

    /// The areas of a list; none when it is missing.
    private func parts(
        _ key: String, of fields: [String: JSONValue], in tree: RegionTree, depth: Int
    ) throws -> [Area] {
        guard let value = fields[key] else { return [] }
        guard depth < Self.maxDepth else { throw CLIError(.badData, "'\(key)' is nested deeper than \(Self.maxDepth)") }
        let items = if case .array(let items) = value { items } else { [value] }
        guard !items.isEmpty, items.count <= Self.maxEntries else {
            throw CLIError(
                .badData,
                "'\(key)' lists \(Units.count(items.count)) areas; expected 1 to \(Units.count(Self.maxEntries))")
        }
        return try items.map { item in
            if case .string(let text) = item { return try AreaReader.named(text, in: tree) }
            guard case .object(let fields) = item else {
                throw CLIError(
                    .badData, "'\(key)' has \(item.kind); expected a region, or a mapping with \(Self.waysText)")
            }
            for name in fields.keys.sorted() where !Self.areaKeys.contains(name) {
                throw CLIError(
                    .badData,
                    "'\(key)' has the unknown key '\(name)'; the keys are \(Self.areaKeys.joined(separator: ", "))")
            }
            return try area(try way(fields), of: fields, in: tree, depth: depth + 1)
        }
    }

    private func named(_ areas: [Area], _ fields: [String: JSONValue]) throws -> [Area] {
        guard fields["id"] != nil || fields["names"] != nil else { return areas }
        guard areas.count == 1, let only = areas.first else {
            throw CLIError(.badData, "'id' and 'names' need one package, not \(areas.count)")
        }
        var names: [String: String]?
        if let value = fields["names"] {
            guard case .object(let object) = value else {
                throw CLIError(.badData, "'names' is \(value.kind); expected a mapping of languages")
            }
            names = try Dictionary(uniqueKeysWithValues: object.keys.map { ($0, try text($0, object)) })
        }
        let id = fields["id"] == nil ? nil : try text("id", fields)
        if let id, Area.fileSafe(id) != id {
            throw CLIError(
                .badData, "'id' may contain only letters of a to z, digits, '-', '_' and '.', but no dot at the start",
                hint: Area.suggestedID(for: id).map { "write id: \($0)" })
        }
        return [only.renamed(id, names: names)]
    }

    private func text(_ key: String, _ fields: [String: JSONValue]) throws -> String {
        guard case .string(let text)? = fields[key] else {
            throw CLIError(.badData, "'\(key)' is \(fields[key]?.kind ?? "nothing"); expected text")
        }
        guard !text.isEmpty else { throw CLIError(.badData, "'\(key)' is empty; expected text") }
        return text
    }

    private func flag(_ key: String, _ fields: [String: JSONValue]) throws -> Bool {
        guard fields[key] != nil else { return false }
        switch try text(key, fields).lowercased() {
        case "true", "yes": return true
        case "false", "no": return false
        default: throw CLIError(.badData, "'\(key)' is neither true nor false")
        }
    }

    /// `formats: mbtiles,pmtiles`, or a list of words.
    private func formats(_ fields: [String: JSONValue]) throws -> [PackageFormat]? {
        guard fields["formats"] != nil else { return nil }
        return try PackageFormat.list(parsing: listed("formats", fields))
    }

    /// The largest size of a file, as `--max-file`.
    private static func fileSize(_ text: String) throws -> UInt64 {
        guard let size = Units.size(text) else {
            throw CLIError(
                .badData, "'max_file' is '\(text)', not a size; expected for example 4GB, 700MB or 4294967295")
        }
        guard size >= PackageParts.leastLimit else {
            throw CLIError(
                .badData, "'max_file' \(text) is too small for a package; the least is \(PackageParts.leastLimit) bytes"
            )
        }
        return size
    }

    /// Plain text, or a list joined by commas: `bbox: 1,2,3,4`, or a list of four numbers.
    private func listed(_ key: String, _ fields: [String: JSONValue]) throws -> String {
        guard case .array(let items)? = fields[key] else { return try text(key, fields) }
        return items.map { if case .string(let text) = $0 { text } else { "?" } }.joined(separator: ",")
    }
}
