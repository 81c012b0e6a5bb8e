import AreaFiles
import ArgumentParser
internal import ClusterClient
internal import CommandSupport
import Errors
import Foundation
import Regions
internal import TextFormats
import Tiles

/// The options for areas: region ids or names, boxes, files, points with a radius, sets and margins.
struct AreaOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "Regions by id or name (EE, \"New Zealand\", US-CA), towns (\"Tartu, EE\", with --margin), or one box: \"bbox(west,south,east,north)\".",
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

    @Option(parsing: .unconditionalSingleValue, help: AreaOptions.areaHelp) var area: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A file with tracks or routes (GPX, KML and others); selects every tile within --margin of a line. May be repeated; '-' is standard input.",
            valueName: "file"))
    var route: [String] = []

    @Flag(help: "Also take the waypoints and single places of the files of --area and --route.")
    var waypoints = false

    @Option(
        help:
            "Widen every area by a distance, 0 to 10,000 km: 5km; with less from some zooms on: 5km,14:500m.")
    var margin: String?

    @Option(help: "Distance around each point, for example 2km, 500m or 1.5mi. Default: 1km.")
    var radius: String?

    @Flag(help: "Make one package of all given areas: regions, boxes and files.")
    var merge = false

    @Flag(help: "Include all regions below each given region: one package each, every tile fetched once.")
    var recursive = false

    @Option(
        help:
            "A YAML or JSON list of packages, each with region, bbox, area, route, geojson, points or union, and optionally id, names, margin, and, minus."
    )
    var packages: String?

    @Option(help: "The package's id, instead of one derived from the area (one area only).")
    var id: String?

    @OptionGroup var regions: RegionFolderOptions

    func validate() throws {
        if areas.count > 1, !merge, let box = areas.first(where: AreaReader.isBox) {
            throw ValidationError("'\(box)' is a box; submit it as a separate job, or add --merge.")
        }
        if radius != nil, points == nil, area.isEmpty { throw ValidationError("--radius needs --points.") }
        if waypoints, area.isEmpty, route.isEmpty { throw ValidationError("--waypoints needs --area or --route.") }
        if recursive, areas.isEmpty || areas.contains(where: AreaReader.isBox) {
            throw ValidationError("--recursive is only for regions; in a list of packages set it in the entry.")
        }
        if merge, packages != nil || recursive {
            throw ValidationError("--merge is for named areas; in a list of packages use union.")
        }
        if margin != nil, packages != nil {
            throw ValidationError("--margin is for named areas; in a list of packages set margin in the entry.")
        }
        guard (area + route).count(where: { $0 == "-" }) <= 1 else {
            throw ValidationError("Standard input can be read only once.")
        }
        let ways = [
            !areas.isEmpty, geojson != nil, points != nil, !area.isEmpty, !route.isEmpty, packages != nil,
        ].count { $0 }
        guard ways == 1 || ways > 1 && merge else {
            if let stray { throw ValidationError(stray) }
            throw ValidationError(
                ways == 0
                    ? "Give an area: a region (EE), \"bbox(24.5,59.3,25.0,59.5)\", --area FILE, --route FILE, --geojson FILE, --points FILE.csv or --packages FILE."
                    : "Give only one of: regions, a box, --area, --route, --geojson, --points, --packages; or add --merge to make one package of several."
            )
        }
    }

    /// Why words beside an option with a file are no areas: often the rest of a name that needs quotes; `nil` without both.
    private var stray: String? {
        let named = [
            ("--geojson", geojson.map { [$0] } ?? []), ("--points", points.map { [$0] } ?? []), ("--area", area),
            ("--route", route), ("--packages", packages.map { [$0] } ?? []),
        ].flatMap { option, files in files.map { (option: option, file: $0) } }
        guard let word = words.first, !AreaReader.isBox(word), let (option, file) = named.first else { return nil }
        for (option, file) in named {
            for first in words.indices {
                for end in first..<words.count {
                    let whole = ([file] + words[first...end]).joined(separator: " ")
                    guard FileKind.isThere(URL(filePath: whole)) else { continue }
                    return
                        "'\(words[first])' was read as a region, but there is a file '\(whole)': put its name in quotes, \(option) \(ShellText.quoted(whole))."
                }
            }
        }
        return
            "'\(word)' was read as a region, and \(option) '\(file)' is given too. Give only one of them, or add --merge to make one package of both; a name with spaces needs quotes."
    }

    /// Reads the areas.
    ///
    /// - Throws: ``CLIError``: unknown region (66), unreadable file (66), malformed box or file (64, 65).
    func read() throws -> [Area] {
        // Before a file of minutes is read.
        let margin = try margin.map { try Margin(parsing: $0) }
        noteMetres()
        var found: [Area] = []
        if let packages {
            found = try PackagesFile(URL(filePath: packages), tree: { try regions.tree }).areas()
        } else if recursive {
            let tree = try regions.tree
            var seen: Set<String> = []
            found = try areas.flatMap { try AreaReader.recursive($0, in: tree) }.filter { seen.insert($0.id).inserted }
        } else {
            // A box needs no tree.
            let tree = try areas.allSatisfy(AreaReader.isBox) ? nil : regions.tree
            found = try areas.map { try AreaReader.named($0, in: tree ?? regions.tree) }
        }
        found += try files()
        if let margin { found = found.map { $0.widened(by: margin) } }
        try TownReader.check(found, example: "a margin, for example --margin 20km")
        if merge, let one = Area.merged(found) { found = [one] }
        if let id {
            guard found.count == 1 else {
                throw CLIError(
                    .usage, "--id '\(id)' needs exactly one area, and there are \(Units.count(found.count))",
                    hint: "add --merge to make one package of all areas")
            }
            guard Area.fileSafe(id) == id else {
                throw CLIError(
                    .usage,
                    "--id '\(id)' is no id: it has 1 to 100 letters of a to z, digits, '-', '_' and '.', and no '.' at its beginning",
                    hint: Area.suggestedID(for: id).map { "write --id \($0)" })
            }
            found[0] = found[0].renamed(id)
        }
        return found
    }

    /// Says that a distance without a unit is in metres, because some people mean kilometres.
    private func noteMetres() {
        for (name, text) in [("--margin", self.margin), ("--radius", radius)] {
            guard let text, text.last?.isNumber == true else { continue }
            Console.note("note: \(name) \(text) is in metres; write km behind it for kilometres")
        }
    }

    /// The areas of files.
    private func files() throws -> [Area] {
        var found: [Area] = []
        for (path, kind) in [(geojson, "geojson"), (points, "points")] {
            guard let path else { continue }
            found.append(
                try AreaReader.file(
                    path, .init(format: AreaFormat(kind: kind), radius: kind == "points" ? radius : nil)))
        }
        for path in area {
            found.append(
                try AreaReader.file(path, .init(radius: points == nil ? radius : nil, waypoints: waypoints)))
        }
        for path in route {
            found.append(try AreaReader.file(path, .init(waypoints: waypoints, isRoute: true)))
        }
        return found
    }
}

extension AreaOptions {
    fileprivate static var areaHelp: ArgumentHelp {
        let formats = AreaFormat.all.map(\.name).joined(separator: ", ")
        return ArgumentHelp(
            "A file with an area, whose content tells its format: \(formats). May be repeated; '-' is standard input.",
            valueName: "file")
    }

    /// The label of a job with these areas; `nil` = derived from the areas' names.
    func label(_ areas: [Area]) -> String? {
        if let packages {
            return PackagesFile.label(URL(filePath: packages), count: areas.count)
        }
        guard recursive, let first = areas.first else { return nil }
        let below = areas.count - self.areas.count
        let named = self.areas.count == 1 ? first.label : self.areas.joined(separator: ", ")
        return below > 0 ? "\(named) and \(Units.count(below, of: "region")) below" : named
    }
}
