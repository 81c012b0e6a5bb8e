import TileBodies

/// A format of tiles that other programs know and this build does not, for messages.
public struct ForeignFormat: Sendable, Hashable {
    /// What messages call it: `AVIF`.
    public let name: String

    /// Words of metadata, ends of addresses and media types, lower case.
    private static let names: [String: String] = [
        "avif": "AVIF", "image/avif": "AVIF", "mlt": "MLT (MapLibre Tile)",
        "application/vnd.maplibre-vector-tile": "MLT (MapLibre Tile)",
        "application/vnd.maplibre-tile": "MLT (MapLibre Tile)", "jxl": "JPEG XL", "image/jxl": "JPEG XL", "gif": "GIF",
        "image/gif": "GIF", "tif": "TIFF", "tiff": "TIFF", "image/tiff": "TIFF", "heic": "HEIC", "image/heic": "HEIC",
        "bmp": "BMP", "svg": "SVG", "lerc": "LERC", "geojson": "GeoJSON", "topojson": "TopoJSON",
        "quantized-mesh": "quantized mesh", "terrain": "quantized mesh", "b3dm": "3D Tiles", "glb": "3D Tiles",
    ]

    /// The format of a word of metadata; `nil` for a word that is unknown or that a `TileFormat` has.
    public init?(word: String) {
        guard TileFormat(word: word) == nil, let name = Self.names[word.lowercased()] else { return nil }
        self.name = name
    }

    /// The format that the path of an address ends in; `nil` for none.
    init?(ofAddress address: String) {
        let path = address.prefix { $0 != "?" && $0 != "#" }
        guard let dot = path.lastIndex(of: "."), let format = Self(word: String(path[dot...].dropFirst())) else {
            return nil
        }
        self = format
    }

    /// The format with this number in the header of PMTiles; `nil` for one that is unknown or that a `TileFormat` has.
    ///
    /// Source: the PMTiles version 3 specification, section 3: 5 is AVIF, 6 is MLT.
    public init?(pmtilesType: UInt8) {
        guard TileFormat(pmtilesType: pmtilesType) == nil, let word = [5: "avif", 6: "mlt"][pmtilesType] else {
            return nil
        }
        self.init(word: word)
    }
}
