import ArgumentParser
import Foundation
import Regions
import Tiles

/// The ways to say which area: region ids or names, a box, a GeoJSON file, points with a radius.
struct AreaOptions: ParsableArguments {
    @Argument(help: "Regions by id or name (EE, \"New Zealand\", US-CA), or one box: \"bbox(west,south,east,north)\".")
    var areas: [String] = []

    @Option(help: "A GeoJSON file: every tile that its geometry touches.")
    var geojson: String?

    @Option(help: "A CSV file with columns for longitude and latitude: every tile within --radius of a point.")
    var points: String?

    @Option(help: "Distance round each point, for example 2km, 500m or 1.5mi. Default: 1km.")
    var radius: String?

    @Flag(help: "Of each region named, all regions below it too: a package each, every tile fetched once.")
    var recursive = false

    @Option(
        help:
            "A YAML or JSON list of packages, each with region, bbox, geojson or points, and if you like id and names.")
    var packages: String?

    @Option(help: "The package's id, instead of one made from the area (one area only).")
    var id: String?

    @OptionGroup var regions: RegionFolderOptions

    func validate() throws {
        if areas.count > 1, let box = areas.first(where: AreaReader.isBox) {
            throw ValidationError("'\(box)' is a box; submit it in a job of its own.")
        }
        if radius != nil, points == nil { throw ValidationError("--radius belongs to --points.") }
        if recursive, areas.isEmpty || areas.contains(where: AreaReader.isBox) {
            throw ValidationError("--recursive belongs to regions; in a list of packages it is written at the entry.")
        }
        let ways = [!areas.isEmpty, geojson != nil, points != nil, packages != nil].filter { $0 }.count
        guard ways == 1 else {
            throw ValidationError(
                ways == 0
                    ? "Name an area: a region (EE), \"bbox(24.5,59.3,25.0,59.5)\", --geojson FILE, --points FILE.csv or --packages FILE."
                    : "Give regions or a box, --geojson, --points, or --packages: one of them, not several.")
        }
    }

    /// Reads the areas.
    ///
    /// - Throws: ``CLIError``: unknown region (66), unreadable file (66), malformed box or file (64, 65).
    func read() throws -> [Area] {
        var found: [Area]
        if let geojson {
            found = [try AreaReader.geoJSON(file: URL(filePath: geojson))]
        } else if let points {
            found = [try AreaReader.points(file: URL(filePath: points), radiusMeters: Units.meters(radius ?? "1km"))]
        } else if let packages {
            found = try PackagesFile(URL(filePath: packages), tree: { try regions.tree }).areas()
        } else if recursive {
            let tree = try regions.tree
            var seen: Set<String> = []
            found = try areas.flatMap { try AreaReader.recursive($0, in: tree) }.filter { seen.insert($0.id).inserted }
        } else if let box = areas.first, AreaReader.isBox(box) {
            found = [try AreaReader.box(box)]  // It stands alone: see validate().
        } else {
            let tree = try regions.tree
            found = try areas.map { try AreaReader.named($0, in: tree) }
        }
        if let id {
            guard found.count == 1, Area.fileSafe(id) == id else {
                throw CLIError(.usage, "--id '\(id)' needs one area and only letters, digits, '-', '_' and '.'")
            }
            found[0] = found[0].renamed(id)
        }
        return found
    }
}

extension AreaOptions {
    /// What a job of these areas is called; `nil` = by the names of its areas.
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
