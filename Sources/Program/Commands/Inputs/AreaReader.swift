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
        return .region(try tree.find(text), in: tree)
    }

    /// A region and all regions below it, parents first.
    static func recursive(_ text: String, in tree: RegionTree) throws -> [Area] {
        func below(_ region: Region) -> [Area] {
            [.region(region, in: tree)] + tree.children(of: region.id).flatMap(below)
        }
        return below(try tree.find(text))
    }

    /// Whether a text is a box: `bbox(…)`, or four numbers.
    static func isBox(_ text: String) -> Bool {
        let parts = text.split(separator: ",")
        return text.lowercased().hasPrefix("bbox")
            || parts.count == 4 && parts.allSatisfy { Double($0.trimmingCharacters(in: .whitespaces)) != nil }
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

    static func geoJSON(file: URL) throws -> Area {
        let bytes = [UInt8](try InputFile.read(file))
        let geometry: Geometry
        do throws(TilesError) { geometry = try Geometry(geoJSON: bytes) } catch {
            throw CLIError(.badData, "'\(file.path)' cannot be read as GeoJSON: \(error.message)")
        }
        if let point = geometry.points.first(where: { abs($0.latitude) > BoundingBox.maxLatitude }) {
            throw CLIError(
                .badData,
                "'\(file.path)' has the point [\(point.longitude), \(point.latitude)], which \(PointsFile.liesBeyond)")
        }
        guard let bounds = geometry.boundingBox else {
            throw CLIError(
                .badData, "'\(file.path)' contains no coordinates; expected a GeoJSON geometry, feature or collection")
        }
        if let edges = geometry.longEdges {
            Console.warning("'\(file.path)': \(edges.explanation)")
        }
        return .shape(.geojson, named: stem(file), label: file.lastPathComponent, bounds: bounds, geometry)
    }

    static func points(file: URL, radiusMeters: Double) throws -> Area {
        let points = try PointsFile(text: String(decoding: InputFile.read(file), as: UTF8.self), name: file.path).points
        let circles = Geometry.circles(points: points, radiusMeters: radiusMeters)
        guard let bounds = circles.boundingBox else {
            throw CLIError(.badData, "'\(file.path)' contains no points")
        }
        let label = "\(Units.count(points.count, of: "point")) of \(file.lastPathComponent)"
        return .shape(.points, named: stem(file), label: label, bounds: bounds, circles)
    }

    private static func stem(_ file: URL) -> String { file.deletingPathExtension().lastPathComponent }
}
