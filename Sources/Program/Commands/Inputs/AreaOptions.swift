import ArgumentParser
internal import ClusterClient
internal import CommandSupport
import Errors
import Foundation
import Regions
internal import TextFormats
import Tiles

/// The options for areas: region ids or names, a box, a GeoJSON file, points with a radius.
struct AreaOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "Regions by id or name (EE, \"New Zealand\", US-CA), or one box: \"bbox(west,south,east,north)\".",
            valueName: "areas"))
    var words: [String] = []

    /// The areas; a box whose numbers are arguments of their own is one.
    private var areas: [String] {
        let whole = words.joined(separator: " ")
        return words.count > 1 && (try? BoundingBox(parsing: whole)) != nil ? [whole] : words
    }

    @Option(help: "A GeoJSON file; selects every tile that its geometry touches.")
    var geojson: String?

    @Option(help: "A CSV file with columns for longitude and latitude; selects every tile within --radius of a point.")
    var points: String?

    @Option(help: AreaOptions.areaHelp) var area: String?

    @Option(help: "Distance around each point, for example 2km, 500m or 1.5mi. Default: 1km.")
    var radius: String?

    @Flag(help: "Include all regions below each given region: one package each, every tile fetched once.")
    var recursive = false

    @Option(
        help:
            "A YAML or JSON list of packages, each with region, bbox, geojson or points, and optionally id and names.")
    var packages: String?

    @Option(help: "The package's id, instead of one derived from the area (one area only).")
    var id: String?

    @OptionGroup var regions: RegionFolderOptions

    func validate() throws {
        if areas.count > 1, let box = areas.first(where: AreaReader.isBox) {
            throw ValidationError("'\(box)' is a box; submit it as a separate job.")
        }
        if radius != nil, file?.format.takesRadius != true { throw ValidationError("--radius needs --points.") }
        if let area, AreaFormat(path: area) == nil {
            throw ValidationError("'\(area)' has no known ending; known are \(Self.endings).")
        }
        if recursive, areas.isEmpty || areas.contains(where: AreaReader.isBox) {
            throw ValidationError("--recursive is only for regions; in a list of packages set it in the entry.")
        }
        let ways = [!areas.isEmpty, geojson != nil, points != nil, area != nil, packages != nil].filter { $0 }.count
        guard ways == 1 else {
            throw ValidationError(
                ways == 0
                    ? "Give an area: a region (EE), \"bbox(24.5,59.3,25.0,59.5)\", --geojson FILE, --points FILE.csv, --area FILE or --packages FILE."
                    : "Give only one of: regions, a box, --geojson, --points, --area, --packages.")
        }
    }

    /// The file with an area, if one is named.
    private var file: (path: String, format: AreaFormat)? {
        for (path, kind) in [(geojson, "geojson"), (points, "points")] {
            if let path, let format = AreaFormat(kind: kind) { return (path, format) }
        }
        return area.flatMap { path in AreaFormat(path: path).map { (path, $0) } }
    }

    /// Reads the areas.
    ///
    /// - Throws: ``CLIError``: unknown region (66), unreadable file (66), malformed box or file (64, 65).
    func read() throws -> [Area] {
        var found: [Area]
        if let file {
            found = [try AreaReader.file(URL(filePath: file.path), file.format, radius: radius)]
        } else if let packages {
            found = try PackagesFile(URL(filePath: packages), tree: { try regions.tree }).areas()
        } else if recursive {
            let tree = try regions.tree
            var seen: Set<String> = []
            found = try areas.flatMap { try AreaReader.recursive($0, in: tree) }.filter { seen.insert($0.id).inserted }
        } else if let box = areas.first, AreaReader.isBox(box) {
            found = [try AreaReader.box(box)]  // It is the only area: see validate().
        } else {
            let tree = try regions.tree
            found = try areas.map { try AreaReader.named($0, in: tree) }
        }
        if let id {
            guard found.count == 1, Area.fileSafe(id) == id else {
                throw CLIError(
                    .usage,
                    "--id '\(id)' needs exactly one area, and may contain only letters, digits, '-', '_' and '.'")
            }
            found[0] = found[0].renamed(id)
        }
        return found
    }
}

extension AreaOptions {
    private static var endings: String { AreaFormat.all.flatMap(\.endings).map { ".\($0)" }.joined(separator: ", ") }

    fileprivate static var areaHelp: ArgumentHelp {
        ArgumentHelp("A file with an area, whose name tells its format: \(endings).", valueName: "file")
    }

    /// The label of a job with these areas; `nil` = derived from the areas' names.
    func label(_ areas: [Area]) -> String? {
        if let packages {
            return "\(URL(filePath: packages).lastPathComponent) (\(Units.count(areas.count, of: "package")))"
        }
        guard recursive, let first = areas.first else { return nil }
        let below = areas.count - self.areas.count
        let named = self.areas.count == 1 ? first.label : self.areas.joined(separator: ", ")
        return below > 0 ? "\(named) and \(Units.count(below, of: "region")) below" : named
    }
}
