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
        return area(try tree.find(text), in: tree)
    }

    /// A region and all regions below it, parents first.
    static func recursive(_ text: String, in tree: RegionTree) throws -> [Area] {
        func below(_ region: Region) -> [Area] {
            [area(region, in: tree)] + tree.children(of: region.id).flatMap(below)
        }
        return below(try tree.find(text))
    }

    private static func area(_ region: Region, in tree: RegionTree) -> Area {
        Area(
            kind: .region, id: region.id, label: region.name("en"), names: tree.localizedPaths(of: region.id),
            bounds: region.bounds, mask: { tree.mask(of: region.id, maxZoom: $0) }, nodes: imported(region, in: tree))
    }

    /// A region and its ancestors, the widest first, as far as they were imported: the catalog's tree does not have
    /// them.
    static func imported(_ region: Region, in tree: RegionTree) -> [Region] {
        var found: [Region] = []
        var next: Region? = region
        while let one = next, found.count < 5 {
            if one.isImported { found.append(one) }
            next = tree.parent(of: one.id)
        }
        return found.reversed()
    }

    /// Whether a text is a box: `bbox(…)`, or four numbers.
    static func isBox(_ text: String) -> Bool {
        let parts = text.split(separator: ",")
        return text.lowercased().hasPrefix("bbox")
            || parts.count == 4 && parts.allSatisfy { Double($0.trimmingCharacters(in: .whitespaces)) != nil }
    }

    static func box(_ text: String) throws -> Area {
        let box = try BoundingBox(parsing: text)
        // Latitudes were limited to the map: a box that consists only of its edge was outside.
        guard box.south < BoundingBox.maxLatitude, box.north > -BoundingBox.maxLatitude else {
            throw CLIError(.usage, "'\(text)' \(PointsFile.liesBeyond)")
        }
        if box.crossesAntimeridian, box.width > 180 {
            Console.note(
                "note: west exceeds east, so this box spans \(Int(box.width)) degrees across the antimeridian"
            )
        }
        let id = Area.fileSafe("bbox_\(box.west)_\(box.south)_\(box.east)_\(box.north)")
        let shape = MercatorShape(box)
        return area(.bbox, id: id, label: text, bounds: box, shape: shape)
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
        let shape = MercatorShape(geometry)
        guard !TileMask(covering: shape, maxZoom: 0).isEmpty else {
            throw CLIError(.badData, "'\(file.path)' \(PointsFile.liesBeyond)")
        }
        if let edges = geometry.longEdges {
            Console.warning("'\(file.path)': \(edges.explanation)")
        }
        return area(
            .geojson, id: stem(file), label: file.lastPathComponent, bounds: bounds, shape: shape)
    }

    static func points(file: URL, radiusMeters: Double) throws -> Area {
        let points = try PointsFile(text: String(decoding: InputFile.read(file), as: UTF8.self), name: file.path).points
        let circles = Geometry.circles(points: points, radiusMeters: radiusMeters)
        guard let bounds = circles.boundingBox else {
            throw CLIError(.badData, "'\(file.path)' contains no points")
        }
        let label = "\(Units.count(points.count, of: "point")) of \(file.lastPathComponent)"
        return area(.points, id: stem(file), label: label, bounds: bounds, shape: MercatorShape(circles))
    }

    private static func stem(_ file: URL) -> String {
        Area.fileSafe(file.deletingPathExtension().lastPathComponent)
    }

    private static func area(
        _ kind: Area.Kind, id: String, label: String, bounds: BoundingBox, shape: MercatorShape
    ) -> Area {
        Area(
            kind: kind, id: id, label: label, names: ["en": label], bounds: bounds,
            mask: { TileMask(covering: shape, maxZoom: $0) })
    }
}
