import Errors
internal import TextFormats
public import Tiles

extension PackScheme {
    /// The member of a TileJSON document, and of the metadata of an archive, with the grouping of tiles into packs.
    ///
    /// A vendor-specific key of Packhorse: Mapbox's guide says that its TileJSON defines the scheme, but not the key's
    /// name.
    public static let sourceKey = "packhorse:tile_packs"

    /// Reads bands: a text such as `0-5@0,6-10@6`, a name such as `mapbox`, or a list of `{"minzoom": 0, "maxzoom": 5, "index_zoom": 0}`.
    ///
    /// Without `index_zoom`, the index tiles of a band's packs are at its first zoom.
    /// - Throws: `TilesError` `bad-zoom`.
    init(bands value: JSONValue) throws(TilesError) {
        switch value {
        case .string(let text): try self.init(parsing: text)
        case .array(let items) where 1...23 ~= items.count:
            var parts: [String] = []
            for item in items { parts.append(try Self.band(item)) }
            try self.init(parsing: parts.joined(separator: ","))
        default:
            throw TilesError(
                .badZoom,
                "Bands of tile packs are 'standard', 'mapbox', a text such as 0-5@0,6-10@6, or a list of objects with minzoom and maxzoom."
            )
        }
    }

    private static func band(_ value: JSONValue) throws(TilesError) -> String {
        guard case .object(let members) = value, let low = zoom(members["minzoom"]),
            let high = zoom(members["maxzoom"]),
            let index = members["index_zoom"].map({ zoom($0) }) ?? low
        else {
            throw TilesError(.badZoom, "A band of tile packs needs minzoom and maxzoom, whole numbers of 0 to 22.")
        }
        return "\(low)-\(high)@\(index)"
    }

    private static func zoom(_ value: JSONValue?) -> Int? {
        guard case .number(let number)? = value, let zoom = Int(exactly: number), 0...TileID.maxZoom ~= zoom else {
            return nil
        }
        return zoom
    }
}
