internal import ClusterClient
internal import CommandSupport
import Errors
import Foundation
import Regions
internal import TextFormats
import Tiles

/// Converts the user's input into areas.
enum AreaReader {
    /// A region by id or name, or `bbox(west,south,east,north)`.
    static func named(_ text: String, in tree: @autoclosure () throws -> RegionTree) throws -> Area {
        if isBox(text) { return try box(text) }
        let tree = try tree()
        return .region(try find(text, in: tree), in: tree)
    }

    /// A region by id or name, with a note when other regions have this name.
    static func find(_ text: String, in tree: RegionTree) throws -> Region {
        let region = try tree.find(text)
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

    /// A file with an area.
    ///
    /// - Parameter radius: Around points, such as `2km`; only for a format that takes it. `nil` = 1 km.
    static func file(_ file: URL, _ format: AreaFormat, radius: String?) throws -> Area {
        let bytes = [UInt8](try InputFile.read(file))
        var geometry: Geometry
        do throws(TilesError) { geometry = try format.geometry(of: bytes) } catch {
            throw CLIError(
                .badData, "'\(file.path)' cannot be read as \(format.name): \(error.message)", hint: error.hint)
        }
        var label = file.lastPathComponent
        if format.takesRadius {
            label = "\(Units.count(geometry.points.count, of: "point")) of \(label)"
            geometry = .circles(points: geometry.points, radiusMeters: try Units.meters(radius ?? "1km"))
        } else if let edges = geometry.longEdges {
            Console.warning("'\(file.path)': \(edges.explanation)")
        }
        guard let bounds = geometry.boundingBox else {
            throw CLIError(.badData, "'\(file.path)' contains no coordinates")
        }
        let stem = file.deletingPathExtension().lastPathComponent
        return .shape(Area.Kind(format), named: stem, label: label, bounds: bounds, geometry)
    }
}
