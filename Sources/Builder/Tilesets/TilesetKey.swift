internal import TileBodies
internal import Tiles

/// One key of a tileset file, for the parser and for the reference.
///
/// The parser takes its known keys from ``all``, and `packhorse help tileset` and `docs/tilesets.md` show the same list.
public struct TilesetKey: Sendable {
    /// The key; a key inside of a mapping with the mapping's name: `politeness.contact`.
    public let name: String
    /// What may stand there.
    public let value: String
    /// What it does, and its default.
    public let meaning: String
    /// Whether its value is a part of the canonical form; false for what only concerns publishing.
    package let reachesWorkers: Bool

    private init(_ name: String, value: String, meaning: String, reachesWorkers: Bool = true) {
        (self.name, self.value, self.meaning, self.reachesWorkers) = (name, value, meaning, reachesWorkers)
    }

    /// The key of a tileset file that sets a member of the canonical form; the member itself when none does.
    public static func name(ofMember member: String) -> String {
        let seconds = "Seconds"
        let key =
            member.hasSuffix(seconds)
            ? "timeouts.\(member.dropLast(seconds.count))"
            : member.map { $0.isUppercase ? "_\($0.lowercased())" : "\($0)" }.joined()
        return all.map(\.name).first { $0 == key || $0.hasSuffix(".\(key)") } ?? member
    }

    /// The words of the tile formats, with the other endings of their files: `pbf (or mvt), png`.
    private static let formats = TileFormat.allCases.map { format in
        let others = format.traits.suffixes.filter { $0 != format.rawValue }
        return others.isEmpty ? format.rawValue : "\(format.rawValue) (or \(others.joined(separator: ", ")))"
    }.joined(separator: ", ")

    /// Every key, in the order of the reference.
    public static let all = [
        TilesetKey(
            "url", value: "text, or a list of texts",
            meaning:
                "Required, or archives: \(SourceScheme.words); several tile URLs as a list. Relative paths start at the folder of the tileset file."
        ),
        TilesetKey(
            "archives", value: "a list, or the address of an index",
            meaning:
                "In place of url: several archives, a list of mappings with url, zoom and cell_zoom. {z}, {x} and {y} in a url stand for a tile of cell_zoom, and the archive has the tiles below it. An archive that does not exist has no tiles. An index is a document such as download_urls.json of Mapterhorn."
        ),
        TilesetKey(
            "latest", value: "a preset, an address, or a mapping",
            meaning:
                "In place of url: a source whose address changes with each build. A preset (\(LatestPreset.all.map(\.name).joined(separator: ", "))), the URL of a TileJSON whose tile addresses have a date, the URL of an archive with {date}, or a mapping of the keys below. Each job is made of the newest build; id stays its identity.",
            reachesWorkers: false),
        TilesetKey(
            "latest.index", value: "a URL", meaning: "A JSON list of builds, one object each.", reachesWorkers: false),
        TilesetKey(
            "latest.text", value: "a URL",
            meaning: "A text whose first word names the build; it needs latest.url.", reachesWorkers: false),
        TilesetKey(
            "latest.tilejson", value: "a URL", meaning: "A TileJSON whose tile addresses have a date.",
            reachesWorkers: false),
        TilesetKey(
            "latest.archives", value: "a URL",
            meaning: "An index of archives with a version, such as download_urls.json of Mapterhorn.",
            reachesWorkers: false),
        TilesetKey(
            "latest.url", value: "a URL",
            meaning:
                "The address of a build. {build} stands for its name in the index or text. {date}, without a document, is looked for backwards from today, at most ten days; {date:yyyy-mm-dd} writes it otherwise, {date:yyyy-mm} means months. Default: the key of an index is an address.",
            reachesWorkers: false),
        TilesetKey(
            "latest.items", value: "text",
            meaning: "The member of an index that is the list. Default: its only list.", reachesWorkers: false),
        TilesetKey(
            "latest.key", value: "text", meaning: "The member that names a build. Default: key.", reachesWorkers: false),
        TilesetKey(
            "latest.order", value: "text",
            meaning:
                "The member by which the newest build is the greatest; digits count as numbers. Default: latest.key.",
            reachesWorkers: false),
        TilesetKey(
            "latest.size", value: "text",
            meaning: "The member with the bytes of the archive: an archive of another size is refused. Default: none.",
            reachesWorkers: false),
        TilesetKey(
            "latest.md5", value: "text",
            meaning:
                "The member with the MD5 of the archive: an archive whose ETag is another MD5 is refused. Default: none.",
            reachesWorkers: false),
        TilesetKey(
            "latest.match", value: "a mapping of members to values",
            meaning: "Only such builds count: {version: 4} takes 4 and 4.15.2. Default: all.", reachesWorkers: false),
        TilesetKey(
            "id", value: "letters, digits, - _ .",
            meaning:
                "Names the tileset in jobs, packages and tile packs. Default: the name of the archive, else of the tileset file."
        ),
        TilesetKey("name", value: "text", meaning: "A title. Default: from the source."),
        TilesetKey("description", value: "text", meaning: "Goes into packages. Default: from the source."),
        TilesetKey(
            "attribution", value: "text", meaning: "Goes into packages and the catalog. Default: from the source."),
        TilesetKey(
            "format", value: formats,
            meaning: "The format of the tiles. Default: from the source, else the ending of the URL."),
        TilesetKey(
            "zoom", value: "0-14, or one number",
            meaning: "The zooms that the source has. Default: from the source, else 0-22."),
        TilesetKey("minzoom", value: "0 to \(TileID.maxZoom)", meaning: "The same as zoom with maxzoom. Default: 0."),
        TilesetKey("maxzoom", value: "0 to \(TileID.maxZoom)", meaning: "See minzoom; not together with zoom."),
        TilesetKey(
            "bounds", value: "[west, south, east, north]",
            meaning: "Degrees, as a list or text. Default: from the source."),
        TilesetKey(
            "scheme", value: "xyz or tms",
            meaning: "How {y} counts: from the north (xyz) or from the south (tms). Default: xyz."),
        TilesetKey(
            "subdomains", value: "text, or a list of texts", meaning: "What {s} stands for, in turn. Default: a, b, c."),
        TilesetKey(
            "headers", value: "a mapping of names to texts",
            meaning: "Sent with every request. Secrets as \"Bearer ${NAME}\", from the environment of the workers."),
        TilesetKey(
            "key", value: "${NAME}",
            meaning: "The environment variable of the workers whose value {key} stands for in the URL."),
        TilesetKey(
            "language", value: "a language code",
            meaning: "What {language} stands for. Without it, --language names one or several."),
        TilesetKey(
            "group", value: "letters, digits, - _",
            meaning: "The data group of its packages, for example terrain. Default: none, which is the base map.",
            reachesWorkers: false),
        TilesetKey(
            "tile_packs", value: "standard, mapbox, 0-5@0,6-10@6, or a list",
            meaning:
                "The bands of tile packs: zooms@zoom of the index tile; in a list each with minzoom, maxzoom and index_zoom. Default: packhorse:tile_packs of the source, else standard.",
            reachesWorkers: false),
        TilesetKey(
            "layers", value: "text, or a list of texts",
            meaning: "The layers that vector tiles keep; tiles without any of them are empty. Default: all layers."),
        TilesetKey(
            "encoding", value: "terrarium or mapbox",
            meaning:
                "How pictures encode heights (terrain). They must be PNG or lossless WebP. Default: from the source, else no heights."
        ),
        TilesetKey(
            "tile_size", value: "256 or 512",
            meaning:
                "Width and height of pictures in pixels: a picture of another size is refused. {width} and {height} of a URL stand for it, and {ratio} is @2x for 512. Default: the size at which the source says tiles are shown, else 256 in URLs; then pictures of any size are taken."
        ),
        TilesetKey(
            "overfetch", value: "0 to 1",
            meaning:
                "Of an archive on a web server: bytes between the tiles that are also fetched to save requests, as a share of the tiles' bytes. Default: 0.05."
        ),
        TilesetKey(
            "sync", value: "true or false",
            meaning:
                "Whether a PMTiles archive on a web server has a list of its blocks beside it: its address with .sync, as pmtiles makesync writes it. Of the next build only the tiles in changed blocks are then requested. A list that is missing or wrong is not used. Default: false."
        ),
        TilesetKey(
            "empty_statuses", value: "a status of 400 to 499, or a list",
            meaning:
                "Statuses by which the server says that there is no such tile, besides 404 and 410: [403] for a bucket without the right to list. A wrong key then gives empty tiles too. Default: none."
        ),
        TilesetKey(
            "reject", value: "a list of digests, or of mappings with sha256 and means",
            meaning:
                "Bodies that are no tiles, by the SHA-256 that inspect and estimate show. means: empty (no tile there, as of a digest alone) or refused (the tile fails with rejected-body). Default: none."
        ),
        TilesetKey("http2", value: "true or false", meaning: "Ask for HTTP/2 over TLS. Default: false."),
        TilesetKey(
            "max_tile_bytes", value: "1 to 268435456", meaning: "A larger answer is refused. Bytes. Default: 16777216."),
        TilesetKey(
            "politeness", value: "a mapping", meaning: "How the server is treated. It holds for all workers together."),
        TilesetKey("politeness.concurrency", value: "1 to 256", meaning: "Requests at once. Default: 8."),
        TilesetKey(
            "politeness.requests_per_second", value: "0.01 to 100000",
            meaning: "Requests per second at most. Default: no limit."),
        TilesetKey(
            "politeness.bytes_per_second", value: "10000 to 1000000000000",
            meaning: "Bytes of answers per second at most, headers not counted. Default: no limit."),
        TilesetKey(
            "politeness.user_agent", value: "text",
            meaning: "The User-Agent header. Default: Packhorse with its version and the contact."),
        TilesetKey(
            "politeness.contact", value: "a mail address or URL",
            meaning: "Who runs the job, for the server's operators. Required for public hosts."),
        TilesetKey("timeouts", value: "a mapping", meaning: "In seconds."),
        TilesetKey("timeouts.connect", value: "0.1 to 600", meaning: "Until a connection is established. Default: 10."),
        TilesetKey("timeouts.total", value: "0.1 to 3600", meaning: "For a whole request. Default: 60."),
        TilesetKey("timeouts.stall", value: "1 to 600", meaning: "Without progress. Default: 20."),
    ]

    /// Names of the keys at the top of the file, or inside of a mapping.
    static func names(in mapping: String? = nil) -> [String] {
        guard let mapping else { return all.map(\.name).filter { !$0.contains(".") } }
        return all.map(\.name).filter { $0.hasPrefix(mapping + ".") }.map { String($0.dropFirst(mapping.count + 1)) }
    }
}
