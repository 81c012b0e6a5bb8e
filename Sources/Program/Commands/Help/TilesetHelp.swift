import Tilesets

/// `packhorse help tileset`: the keys of a tileset file, from the parser's table.
package enum TilesetHelp {
    /// The page, in lines of at most `columns` columns (at least 60).
    package static func lines(columns: Int) -> [String] {
        let width = min(100, max(60, columns))
        let text = """
            A tileset file describes where tiles come from and how to request them: YAML or JSON, passed with --tileset. Missing keys
            are read from the TileJSON document or from the archive that its url names. An unknown key is an error.
            """
        let placeholders = """
            Placeholders of a tile URL: {z} {x} {y}; {-y} counts from the south; {q} is the quadkey; {s} a
            subdomain; {key} and {language} as below. Instead of {z}, {x} and {y} a URL may contain only {q}.
            """
        var lines = HelpText.wrapped(text.replacing("\n", with: " "), width: width)
        lines += ["", "Example:", ""] + example.map { "  " + $0 }
        lines += [""] + HelpText.wrapped(placeholders.replacing("\n", with: " "), width: width) + ["", "Keys:"]
        for key in TilesetKey.all {
            lines.append("  \(key.name): \(key.value)")
            lines += HelpText.wrapped(key.meaning, width: width, indent: 6)
        }
        return lines
    }

    /// The table of `docs/tilesets.md`, which a test compares with the file.
    package static var markdown: [String] {
        ["| key | value | meaning |", "|---|---|---|"]
            + TilesetKey.all.map { "| `\($0.name)` | \($0.value) | \($0.meaning) |" }
    }

    private static let example = [
        "id: streets", "url: https://tiles.example.com/streets/{z}/{x}/{y}.pbf", "format: pbf", "zoom: 0-14",
        "attribution: © OpenStreetMap contributors", "headers:", "  Authorization: Bearer ${TILES_TOKEN}",
        "politeness:", "  concurrency: 8", "  requests_per_second: 100", "  contact: maps@example.com",
    ]
}
