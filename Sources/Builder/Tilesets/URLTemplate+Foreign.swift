import Errors
internal import TextFormats

/// Placeholders of other programs, and braces as browsers copy them.
extension URLTemplate {
    /// A text whose percent-encoded braces around a known placeholder are plain: browsers copy `%7Bz%7D` for `{z}`.
    static func withPlainBraces(_ text: String) -> String {
        guard text.contains("%7") else { return text }
        var plain = text
        for name in known {
            for (open, close) in [("%7B", "%7D"), ("%7b", "%7d")] {
                plain = plain.replacing(open + name + close, with: "{\(name)}")
            }
        }
        return plain
    }

    /// The error for a placeholder that Packhorse does not know.
    static func unknown(_ name: String) -> TilesetsError {
        let shown = String(name.prefix(40))
        func error(_ words: String) -> TilesetsError {
            TilesetsError(.badTemplate, "A tile URL has the unknown placeholder {\(shown)}\(words)")
        }
        let plain = name.lowercased()
        if plain == "r" || plain == "ratio" || plain == "retina" || plain == "@2x" {
            return error(
                ": the mark of tiles of double resolution in Leaflet and MapLibre; leave it out, or write @2x in its place for such tiles."
            )
        }
        if Int(plain) != nil {
            return error(
                ": placeholders have names, not numbers; write {z}, {x} and {y} where zoom, column and row belong.")
        }
        if plain.hasPrefix("bbox") || plain == "width" || plain == "height" {
            return error(": it is of a WMS, which draws boxes; use a server of tiles, with {z}, {x} and {y}.")
        }
        if plain.hasPrefix("switch:") || plain == "a-c" || plain.contains(",") {
            return error(": write {s} and name what it stands for in 'subdomains'.")
        }
        if let ours = otherNames[plain] { return error("; write {\(ours)}.") }
        if plain.contains("key") || plain.contains("token") {
            return error("; write {key} and name its environment variable in the tileset file: key: ${NAME}.")
        }
        let nearest = Nearest.word(to: name, among: known).map { "; did you mean {\($0)}?" }
        return error(nearest ?? "; there are \(known.map { "{\($0)}" }.joined(separator: " ")).")
    }

    /// Our placeholders, in the order of the reference.
    static let known = ["z", "x", "y", "-y", "q", "s", "language", "key"]

    /// What other programs call them, lower case: WMTS, JOSM, OpenLayers, GDAL, QGIS.
    private static let otherNames = [
        "zoom": "z", "level": "z", "tilematrix": "z", "tile_matrix": "z", "col": "x", "column": "x", "tilecol": "x",
        "tile_col": "x", "row": "y", "tilerow": "y", "tile_row": "y", "!y": "-y", "tmsy": "-y", "inverty": "-y",
        "yinverted": "-y", "quadkey": "q", "quad": "q", "subdomain": "s", "switch": "s", "lang": "language",
        "locale": "language", "culture": "language", "$z": "z", "$x": "x", "$y": "y",
    ]
}
