import TileBodies

/// A format of tiles that other programs know and this build does not, for messages.
public struct ForeignFormat: Sendable, Hashable {
    /// What messages call it: `JPEG XL`.
    public let name: String

    /// Words of metadata, ends of addresses and media types, lower case.
    private static let names: [String: String] = [
        "jxl": "JPEG XL", "image/jxl": "JPEG XL", "gif": "GIF",
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
}
