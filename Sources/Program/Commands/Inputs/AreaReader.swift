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
            throw CLIError(.usage, "'\(text)' \(BoundingBox.liesBeyond)")
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
        return area(
            Area.Kind(format), id: Area.fileSafe(file.deletingPathExtension().lastPathComponent), label: label,
            bounds: bounds, shape: MercatorShape(geometry))
    }

    private static func area(
        _ kind: Area.Kind, id: String, label: String, bounds: BoundingBox, shape: MercatorShape
    ) -> Area {
        Area(
            kind: kind, id: id, label: label, names: ["en": label], bounds: bounds,
            mask: { TileMask(covering: shape, maxZoom: $0) })
    }
}
