internal import Tiles
internal import WebRequests

/// What a path below `/tiles` asks for.
struct TileRequest: Sendable, Hashable {
    var source: MapIndex.Source
    /// The path of the edition.
    var edition: String
    var tile: TileID
    /// `pbf`, `png`; `nil` when the path has no extension.
    var suffix: String?
    /// `mbtiles` or `pmtiles`; `nil` takes what is there.
    var format: String?

    /// Whether the answer never changes.
    var isFixed: Bool { if case .version = source { true } else { false } }

    /// Reads the parameters of the route.
    ///
    /// - Throws: ``Problem`` `not-found` for what is no source, `no-such-tile`.
    init(_ routed: RoutedRequest) throws(Problem) {
        let (name, path) = (routed["name"], routed.path)
        guard let source = MapIndex.Source(name) else {
            throw Problem(.notFound, "'\(name.prefix(60))' is not ID@VERSION, ID or ~TILESET.")
        }
        let row = routed["y"].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let zoom = Self.number(routed["z"]), let x = Self.number(routed["x"]),
            let y = Self.number(row.first.map(String.init) ?? ""), let tile = TileID(zoom: zoom, x: x, y: y)
        else { throw Problem(.noSuchTile, "The path does not end in ZOOM/COLUMN/ROW of a tile.") }
        self.source = source
        self.tile = tile
        let parameters = path.parameters
        edition = try Self.edition(parameters.first { $0.name == "edition" }?.value)
        suffix = row.count > 1 ? String(row[1]) : nil
        format = parameters.first { $0.name == "format" }?.value
        guard format == nil || format == "mbtiles" || format == "pmtiles" else {
            throw Problem(.badParameter, "format is mbtiles or pmtiles.")
        }
    }

    /// The parameter `edition`: `de`, `groups/terrain`, with or without a slash at the end.
    static func edition(_ path: RequestPath) throws(Problem) -> String { try edition(path.parameter("edition")) }

    private static func edition(_ text: String?) throws(Problem) -> String {
        guard let text, !text.isEmpty else { return "" }
        guard text.utf8.count <= 100 else { throw Problem(.badParameter, "edition is too long.") }
        return text.hasSuffix("/") ? text : text + "/"
    }

    private static func number(_ text: String) -> Int? {
        guard 1...8 ~= text.utf8.count, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }
}
