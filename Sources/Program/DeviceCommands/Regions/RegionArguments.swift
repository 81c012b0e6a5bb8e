import AreaFiles
import ArgumentParser
internal import CommandSupport
import Errors
import Foundation
import OfflineMaps
import Regions
internal import TextFormats
import Tiles

/// A region: where, which zooms, and from where.
struct RegionArguments: ParsableArguments {
    @Option(parsing: .unconditional, help: ArgumentHelp("A box in degrees.", valueName: "west,south,east,north"))
    var box: String?
    @Option(help: ArgumentHelp("A region of the world by id or name: EE.", valueName: "name")) var of: String?
    @Option(help: "A GeoJSON file: every tile that its geometry touches.") var geojson: String?
    @Option(help: "A CSV file with longitude and latitude: every tile within --radius of a point.") var points: String?
    @Option(help: "Distance around each point: 2km, 500m, 1.5mi. Default: 1km.") var radius: String?
    @Option(help: "Zooms.") var zoom = "0-14"
    @Option(help: ArgumentHelp("A tileset of the catalog, by its id; may be repeated.", valueName: "id"))
    var tileset: [String] = []
    @Option(help: ArgumentHelp("Tiles of a server, one request each, with {z}, {x} and {y}.", valueName: "template"))
    var tiles: String?
    @Option(help: ArgumentHelp("A style, and all that it needs.", valueName: "address")) var styleUrl: String?
    @Option(help: "How many seconds a tile of --tiles may take.") var timeout = 10
    @Flag(help: "Also the glyphs of Chinese, Japanese and Korean characters.") var ideographs = false

    /// Whether the command line has no area.
    var isEmpty: Bool { box == nil && of == nil && geojson == nil && points == nil }
    /// Whether tiles come from the catalog.
    var needsCatalog: Bool { !tileset.isEmpty }

    func validate() throws {
        guard [box, of, geojson, points].compactMap({ $0 }).count <= 1 else {
            throw ValidationError("Give only one of --box, --of, --geojson and --points.")
        }
        guard radius == nil || points != nil else { throw ValidationError("--radius needs --points.") }
        guard (1...600).contains(timeout) else { throw ValidationError("--timeout must be between 1 and 600.") }
        guard isEmpty || !tileset.isEmpty || tiles != nil || styleUrl != nil else {
            throw ValidationError("Give a source: --tileset ID, --tiles TEMPLATE or --style-url ADDRESS.")
        }
    }

    /// The region.
    ///
    /// - Throws: ``CLIError`` 64, 65, 66; `TilesError`, `RegionsError`.
    func definition() throws -> RegionDefinition {
        let zooms = try ZoomRange(parsing: zoom)
        var sources: [SourceDescriptor] = tileset.map { .tileset($0) }
        if let tiles {
            var source = OnlineSource(id: tiles, template: tiles)
            source.timeout = .seconds(timeout)
            sources.append(.online(source))
        }
        if let styleUrl {
            guard let url = URL(string: styleUrl), url.host() != nil else {
                throw CLIError(.usage, "'\(styleUrl)' is no address")
            }
            sources.append(.style(url))
        }
        var region = RegionDefinition(try area(zooms), zooms: zooms, sources: sources)
        region.ideographs = ideographs
        return region
    }

    private func area(_ zooms: ZoomRange) throws -> StoreArea {
        if let box { return .box(try BoundingBox(parsing: box)) }
        if let of {
            let tree = try RegionTree.embedded()
            let region = try tree.find(of)
            if let others = tree.otherMeanings(of: of) { Console.note("note: \(others)") }
            return .mask(tree.mask(of: region.id, maxZoom: zooms.max))
        }
        guard let path = geojson ?? points, let format = AreaFormat(kind: points == nil ? "geojson" : "points") else {
            throw CLIError(.usage, "no area is named", hint: "give --box, --of, --geojson or --points")
        }
        let file = URL(filePath: path)
        let bytes = [UInt8](try InputFile.read(file))
        let geometry: Geometry
        do throws(AreaFileError) { geometry = try format.geometry(of: bytes) } catch {
            throw CLIError(
                .badData, "'\(file.path)' cannot be read as \(format.name): \(Sentence.inner(error.message))",
                hint: error.hint)
        }
        guard format.takesRadius else { return .geometry(geometry) }
        return .around(geometry.points, meters: try Units.meters(radius ?? "1km"))
    }
}
