import ArgumentParser
internal import ClusterClient
internal import CommandSupport
internal import TextFormats
import Tiles

/// `packhorse mask`: the tile mask of an area.
struct MaskCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mask",
        abstract: "Print the tile mask of an area in CARTO's format, or its tiles.",
        discussion: """
            Examples:
              packhorse mask EE
              packhorse mask EE --zoom 10 --format url
              packhorse mask "bbox(24.5,59.3,25.0,59.5)" --zoom 12 --format tiles
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, url, counts, tiles
    }

    @OptionGroup var area: AreaOptions
    @Option(
        help: ArgumentHelp(
            "The deepest zoom, 0 to \(TileID.maxZoom); 0-14 means the same as 14. Default: 14.", valueName: "zoom"),
        transform: Self.deepestZoom)
    var zoom = 14
    @Option(
        help:
            "text: base64 mask with its zoom; url: the same for a URL; counts: tiles per zoom; tiles: z/x/y lines of --zoom."
    )
    var format: Format = .text
    @Flag(help: "Print the mask and the tiles per zoom as JSON.") var json = false

    @Flag(help: "Widen the area to whole tile packs, as 'submit --tile-packs' does.") var tilePacks = false
    @Option(
        help:
            "The bands of --tile-packs: zooms@zoom of the index tile. Default: standard, which is \(PackScheme.standard); mapbox is \(PackScheme.mapbox)."
    )
    var bands: String?

    /// Masks always begin at zoom 0.
    private static func deepestZoom(_ text: String) throws -> Int {
        guard let zoom = Int(text.hasPrefix("0-") ? String(text.dropFirst(2)) : text),
            (0...TileID.maxZoom).contains(zoom)
        else { throw ValidationError("expected a zoom within 0...\(TileID.maxZoom), or 0 and the deepest one: 0-14") }
        return zoom
    }

    func validate() throws {
        guard tilePacks || bands == nil else { throw ValidationError("--bands needs --tile-packs.") }
    }

    func run() throws {
        let span = ZoomRange(min: 0, max: zoom) ?? .all
        guard let exact = TileMask(union: try area.read().map({ try $0.mask(in: span) })) else { return }
        let scheme: PackScheme = try bands.map { try PackScheme(parsing: $0) } ?? .standard
        let mask = tilePacks ? scheme.widened(exact, zooms: span) : exact
        if json { return Console.result(try JSONText.pretty(MaskView(mask, zoom: zoom))) }
        switch format {
        case .text: Console.result(mask.cartoWire)
        case .url: Console.result(mask.cartoURLText)
        case .counts: ZoomTable.lines(mask, zooms: 0...zoom).forEach(Console.result)
        case .tiles: for tile in mask.tiles(atZoom: zoom, under: .root) { Console.result("\(tile)") }
        }
    }
}

/// A mask as JSON.
private struct MaskView: Encodable {
    struct Zoom: Encodable {
        let zoom: Int
        let tiles: UInt64
    }
    let mask: String
    let url: String
    let zooms: [Zoom]
    let tiles: UInt64

    init(_ mask: TileMask, zoom: Int) {
        self.mask = mask.cartoWire
        url = mask.cartoURLText
        zooms = (0...zoom).map { Zoom(zoom: $0, tiles: mask.count(atZoom: $0)) }
        tiles = zooms.reduce(0) { $0 + $1.tiles }
    }
}

/// Tiles per zoom, with the sum.
enum ZoomTable {
    static func lines(_ mask: TileMask, zooms: ClosedRange<Int>) -> [String] {
        var table = Table("zoom", "tiles")
        var sum: UInt64 = 0
        for zoom in zooms {
            let count = mask.count(atZoom: zoom)
            sum += count
            table.add("\(zoom)", Units.count(count))
        }
        table.add("all", Units.count(sum))
        return table.lines
    }
}
