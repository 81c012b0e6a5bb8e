import AreaFiles
internal import ClusterClient
internal import CommandSupport
import Errors
import Foundation
import Regions
internal import TextFormats
import Tiles

/// Converts the user's input into areas.
enum AreaReader {
    /// A region by id or name, a town by name, or `bbox(west,south,east,north)`.
    ///
    /// - Throws: ``CLIError`` 66 for an unknown name, and for one of several towns.
    static func named(_ text: String, in tree: @autoclosure () throws -> RegionTree) throws -> Area {
        if isBox(text) { return try box(text) }
        let tree = try tree()
        return try TownReader.area(text, in: tree) ?? .region(find(text, in: tree), in: tree)
    }

    /// A region by id or name, with a note when other regions or towns have this name.
    static func find(_ text: String, in tree: RegionTree) throws -> Region {
        let region: Region
        do throws(RegionsError) { region = try tree.find(text) } catch {
            guard error.code == .unknownRegion else { throw error }
            if FileManager.default.fileExists(atPath: text) {
                throw CLIError(
                    .noInput, "there is no region '\(text)'",
                    hint:
                        "it is a file: write --area '\(text)' for its areas, or --route '\(text)' --margin 1km for the surroundings of its lines"
                )
            }
            try TownReader.note(text, in: tree)
            throw error
        }
        if let others = tree.otherMeanings(of: text) { Console.note("note: \(others)") }
        return region
    }

    /// A region and all regions below it, parents first.
    static func recursive(_ text: String, in tree: RegionTree) throws -> [Area] {
        func below(_ region: Region) -> [Area] {
            [.region(region, in: tree)] + tree.children(of: region.id).flatMap(below)
        }
        return below(try find(text, in: tree))
    }

    /// Whether a text is meant as a box: `bbox(…)`, something in brackets, or four numbers.
    static func isBox(_ text: String) -> Bool {
        let numbers = text.split { ",; ".contains($0) }
        let start = text.drop(while: \.isWhitespace)
        return start.lowercased().hasPrefix("bbox") || start.first.map("[({".contains) == true
            || numbers.count > 2 && numbers.allSatisfy { Double($0) != nil }
    }

    static func box(_ text: String) throws -> Area {
        let box = try BoundingBox(parsing: text)
        let area = try Area.box(box)
        if box.crossesAntimeridian, box.width > 180 {
            Console.note(
                "note: west exceeds east, so this box spans \(Int(box.width)) degrees across the antimeridian"
            )
        }
        return area
    }

    /// What of a file becomes an area.
    struct FileWishes {
        /// `nil` = the format that its content has.
        var format: AreaFormat?
        /// A distance around points, such as `2km`, only for a format that takes it.
        ///
        /// `nil` = 1 km.
        var radius: String?
        /// Whether waypoints of GPX and places of KML count.
        var waypoints = false
        /// Whether only lines count: tracks and routes.
        var isRoute = false
    }

    /// A file with an area; `-` is standard input.
    ///
    /// - Throws: ``CLIError`` 65 with line or feature, 66, 77, 74, 64 for a radius that the format does not take.
    static func file(_ path: String, in folder: URL? = nil, _ wishes: FileWishes) throws -> Area {
        let source = try AreaSource(path, in: folder)
        let (format, sink) = try source.read(
            wishes.format, AreaSink.Wishes(waypoints: wishes.waypoints, isRoute: wishes.isRoute))
        var shape = sink.shape
        var (label, name) = (source.label, source.title)
        if let legs = sink.longLegs, wishes.isRoute {
            let count = legs.count == 1 ? "an edge" : "\(Units.count(legs.count)) edges, the first"
            Console.warning(
                "'\(source.name)': \(count) at line \(legs.line), \(Int(legs.kilometers)) km long, is straight on the map; the shortest way on the globe lies elsewhere: add positions where that matters"
            )
        }
        if format.takesRadius, !wishes.isRoute {
            let count = Units.count(shape.points.count, of: "point")
            (label, name) = ("\(count) of \(label)", "\(count) of \(name)")
            shape = shape.circled(radiusMeters: try Units.meters(wishes.radius ?? "1km"))
        } else if wishes.radius != nil {
            throw CLIError(
                .usage, "'\(source.name)' is \(format.name), and a radius is only for a table of points",
                hint: "use --margin")
        } else if let edges = shape.longEdges {
            Console.warning("'\(source.name)': \(edges.explanation)")
        }
        guard let bounds = shape.bounds else {
            throw CLIError(.badData, "'\(source.name)' contains no coordinates")
        }
        return .shape(
            Area.Kind(format), titled: source.stem, name: name, label: label, bounds: bounds, shape)
    }
}

/// A file with an area, or standard input.
struct AreaSource {
    /// `nil` = standard input.
    let file: URL?
    /// For messages.
    let name: String
    /// For people: the last part of the name.
    let label: String
    /// What becomes an id: the last part of the name without its extension.
    let stem: String
    /// What the package is called.
    var title: String { file == nil ? label : stem }

    /// - Parameter folder: What the path is relative to; `nil` = the current folder.
    init(_ path: String, in folder: URL? = nil) throws {
        guard path != "-" else {
            (file, name, label, stem) = (nil, "standard input", "standard input", "stdin")
            return
        }
        let url = folder.map { URL(filePath: path, relativeTo: $0).absoluteURL } ?? URL(filePath: path)
        (file, name, label) = (url, url.path, url.lastPathComponent)
        stem = url.deletingPathExtension().lastPathComponent
    }

    /// Reads it whole; prints what the user should know of it.
    ///
    /// - Throws: ``CLIError`` 65 with line or feature, 66, 77, 74.
    func read(_ format: AreaFormat?, _ wishes: AreaSink.Wishes) throws -> (AreaFormat, AreaSink) {
        let input: AreaInput
        if let file {
            input = AreaInput(try InputFile.open(file), file: file)
        } else {
            input = AreaInput(FileHandle.standardInput)
        }
        var known = format
        do throws(AreaFileError) {
            let format = if let format { format } else { try AreaFormat(of: input) }
            known = format
            let sink = try format.read(input, wishes)
            for remark in sink.remarks { Console.warning("'\(name)': \(remark)") }
            return (format, sink)
        } catch {
            throw CLIError(
                error.exitStatus,
                "'\(name)' cannot be read as \(known?.name ?? "an area"): \(Sentence.inner(error.message))",
                hint: error.hint ?? format.flatMap(otherFormat))
        }
    }

    /// The remedy for a file whose content is of another format than an option says.
    private func otherFormat(than named: AreaFormat) -> String? {
        // A file that cannot be read again has no hint.
        guard let file, let handle = try? InputFile.open(file), let found = try? AreaFormat(of: AreaInput(handle)),
            found.kind != named.kind
        else { return nil }
        return "its content is \(found.name): use --area"
    }
}
