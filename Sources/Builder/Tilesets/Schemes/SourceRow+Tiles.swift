import Errors
import Foundation

extension SourceRow {
    /// Tile URLs: the first is a web address that names a tile.
    static let readTemplates: @Sendable ([String], URL) throws(TilesetsError) -> [String]? = {
        (texts, _) throws(TilesetsError) in
        guard let first = texts.first, namesTile(first), isWeb(first[...]), !first.lowercased().hasPrefix("s3://")
        else { return nil }
        return texts
    }

    private static func namesTile(_ text: String) -> Bool {
        ["{z}", "{z:", "{q}", "{quadkey}", "{bbox-epsg-3857}"].contains(where: text.contains)
    }

    /// The address of a TileJSON document: every other web address.
    static let readDocument: @Sendable ([String], URL) throws(TilesetsError) -> [String]? = {
        (texts, _) throws(TilesetsError) in
        guard let first = texts.first else { return nil }
        guard texts.count == 1 else {
            // Explains what the first one lacks.
            _ = try URLTemplate(first)
            return nil
        }
        let filled = first.replacing("{key}", with: "").replacing("{language}", with: "")
        // Other braces can only be meant as tile placeholders, and then some are missing.
        if filled.contains("{") { _ = try URLTemplate(first) }
        try refuseMapService(first)
        try HostPolicy.check(first)
        return [first]
    }

    /// The address of a map service as people copy it, which answers with no TileJSON.
    private static func refuseMapService(_ address: String) throws(TilesetsError) {
        let query = QueryText(address)
        let service = query["service"]?.lowercased()
        if service == "wmts" || path(ofURL: address).lowercased().hasSuffix("/wmtscapabilities.xml") {
            throw TilesetsError(
                .badValue, "The address is that of a WMTS; write wmts: before it, and # and a layer behind it.")
        }
        guard service != "wms", query["request"]?.lowercased() != "getmap" else {
            throw TilesetsError(
                .badValue,
                "The address is that of a WMS; write one with request=GetMap, and bbox={bbox-epsg-3857} for the box of a tile."
            )
        }
    }
}

extension Tileset {
    /// Checks tile URLs.
    func checkTemplates() throws(TilesetsError) {
        let texts = source.addresses
        guard !texts.isEmpty, texts.count <= 64, texts.allSatisfy({ $0.utf8.count <= 4_096 }) else {
            throw TilesetsError(.badValue, "Tileset '\(id)': 1...64 tile URLs of at most 4,096 bytes are needed.")
        }
        for template in try templates() {
            if template.needsLanguage, language == nil {
                throw TilesetsError(
                    .missingKey, "Tileset '\(id)': its url has {language}; add for example language: en.")
            }
            // {s} is checked by the template itself; one host is enough to know whether it is public.
            try checkAddress(template.text.replacing("{s}", with: "a"), needsKey: template.needsKey)
        }
    }
}
