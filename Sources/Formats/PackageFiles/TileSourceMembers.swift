package import TextFormats
package import TileBodies

/// How a renderer reads tiles: the members `encoding` and `tileSize` of TileJSON and of sources of styles.
///
/// - Source: MapLibre style specification, sources `vector` (`encoding`: `mvt`, `mlt`) and `raster-dem` (`encoding`: `mapbox`, `terrarium`;
///   `tileSize`). MapLibre GL JS and Native take the same members of a TileJSON document.
package struct TileSourceMembers: Sendable, Hashable {
    /// What the tiles are.
    package let format: TileFormat?
    /// How the pictures encode heights; `nil` for tiles that are no heights.
    package let encoding: TerrainEncoding?
    /// The width and height at which pictures are shown, in pixels; `nil` where the file does not say it.
    package let tileSize: Int?

    /// Sizes that tiles have.
    private static let sizes = 64.0...4_096.0

    /// Takes them from the metadata of an archive.
    ///
    /// The size is a member of the row `json`: as a row of its own, MapLibre Native would take the text for a number and refuse the source.
    /// - Parameters:
    ///   - rows: The metadata as the rows of an MBTiles file.
    ///   - format: What the tiles are.
    package init(rows: [String: String], format: TileFormat?) {
        self.format = format
        encoding = rows["encoding"].flatMap(TerrainEncoding.init(rawValue:))
        guard let json = rows["json"], case .object(let object)? = JSONValue(json: Array(json.utf8)),
            case .number(let size)? = object["tileSize"], Self.sizes.contains(size), let whole = Int(exactly: size)
        else {
            tileSize = nil
            return
        }
        tileSize = whole
    }

    /// The member `encoding`; `nil` where renderers need none.
    package var sourceEncoding: String? {
        guard let format, format.traits.isVector else { return encoding?.rawValue }
        return format == .mlt ? format.rawValue : nil
    }

    /// The members of a TileJSON document.
    package var tileJSON: [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        members["encoding"] = sourceEncoding.map(JSONValue.string)
        if format?.traits.isVector != true { members["tileSize"] = tileSize.map { .number(Double($0)) } }
        return members
    }

    /// Corrects a source of a style that gets these tiles: what the style says of other tiles does not hold for them.
    package func correct(_ source: inout [String: JSONValue]) {
        guard let format else { return }
        if format.traits.isVector { source["encoding"] = nil }
        // Only sources of heights have an encoding of pictures.
        for (name, value) in tileJSON where source["type"] != .string("raster") || name != "encoding" {
            source[name] = value
        }
    }
}
