internal import Foundation
internal import TileBodies

/// The metadata of a package for CARTO's (Nutiteq's) mobile SDK and its fork Massif Maps.
///
/// What the client needs: a table `metadata`, `tiles` with a unique index, rows counted from the south, gzip bodies,
/// rollback-journal mode, and neither `nutikeysha1` (encryption, with a publicly known key) nor `shared_zlib_dict`
/// (with it no other program can read the file).
///
/// CARTO's own packager also removes a leaf tile whose bytes equal its parent's, since the client falls back to the
/// parent. We keep such tiles: a package imported from a file gets its mask from the rows that are there, so it would
/// lose the sea tiles. Also, all forms of a package hold the same tiles, so one mask and one hash are valid for all of
/// them.
enum CartoMetadata {
    /// The formats of tiles that the SDK reads (`all/native/graphics/Bitmap.cpp` in CartoDB/mobile-sdk for pictures); it takes every other body
    /// for a Mapbox vector tile.
    static let formats: Set<TileFormat> = [.mvt, .png, .jpeg, .webp]

    /// The main layers of the SDK's built-in version 2 styles.
    private static let streets: Set<String> = ["transportation", "water", "place"]

    /// The rows as CARTO's packager names them: `format` is `mbvt` for vector tiles; `schema` is the tileset's value,
    /// or `carto.streets` if its layers are those that the built-in styles read.
    static func rows(_ rows: [String: String]) -> [String: String] {
        var rows = rows
        if rows["format"] == "pbf" {
            rows["format"] = "mbvt"
            if rows["schema"] == nil, layers(rows["json"]).isSuperset(of: streets) { rows["schema"] = "carto.streets" }
        }
        for (name, value) in [("type", "baselayer"), ("version", "1.0"), ("description", rows["name"] ?? "")]
        where rows[name] == nil {
            rows[name] = value
        }
        return rows
    }

    private static func layers(_ json: String?) -> Set<String> {
        // Metadata that is no JSON names no layers.
        guard let json, let value = try? JSONSerialization.jsonObject(with: Data(json.utf8)),
            let layers = (value as? [String: Any])?["vector_layers"] as? [[String: Any]]
        else { return [] }
        return Set(layers.compactMap { $0["id"] as? String })
    }
}
