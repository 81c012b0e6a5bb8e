import Errors
import Foundation

extension SourceRow {
    /// The address of a WMTS's capabilities and a layer: `wmts:https://maps.example.com/wmts#roads`.
    static let readWMTS: @Sendable ([String], URL) throws(TilesetsError) -> [String]? = {
        (texts, _) throws(TilesetsError) in
        let word = "wmts:"
        guard let first = texts.first, first.lowercased().hasPrefix(word) else { return nil }
        let address = String(first.dropFirst(word.count))
        guard texts.count == 1, isWeb(address[...]), !address.lowercased().hasPrefix("s3:") else {
            throw TilesetsError(
                .badValue,
                "'url' with wmts: must be one address of capabilities and a layer: wmts:https://HOST/PATH#LAYER.")
        }
        try HostPolicy.check(address)
        return [address]
    }

    /// The address of a service of ArcGIS: its path ends with `/MapServer`, `/ImageServer` or `/VectorTileServer`.
    static let readArcGIS: @Sendable ([String], URL) throws(TilesetsError) -> [String]? = {
        (texts, _) throws(TilesetsError) in
        guard let first = texts.first, texts.count == 1, isWeb(first[...]), !first.contains("{z}") else { return nil }
        let path = path(ofURL: first).lowercased()
        let end = path.hasSuffix("/") ? path.dropLast() : path[...]
        guard ["/mapserver", "/imageserver", "/vectortileserver"].contains(where: end.hasSuffix) else { return nil }
        try HostPolicy.check(first)
        return [first]
    }

    /// The check of a source whose document takes its place.
    static let refuseUnread: @Sendable (Tileset) throws(TilesetsError) -> Void = { (tileset) throws(TilesetsError) in
        throw TilesetsError(.missingKey, "Tileset '\(tileset.id)': its document was not read.")
    }
}
