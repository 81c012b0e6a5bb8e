/// One package of `packages.json`, as clients see it.
///
/// Keys and types are those CARTO's client reads (formats/carto.md §2): whole numbers, no nulls, every member present.
/// `sha256` and `agg_tiles_hash` are extra keys, which that client passes over.
public struct CatalogEntry: Sendable, Hashable, Codable {
    /// The package's id, unique in the list.
    public let id: String
    /// Counts from 1; another version means other bytes.
    public let version: Int32
    /// Exact bytes of the file.
    public let size: Int64
    /// Absolute address of the file.
    public let url: String
    /// The package's tiles: CARTO's text, a colon, the deepest zoom.
    public let tileMask: String
    /// Name paths by language: `name_en` is "Europe/Northern Europe/Estonia".
    public let metainfo: [String: String]
    /// SHA-256 of the file, 64 lower-case hexadecimal digits.
    public let sha256: String
    /// The file's `agg_tiles_hash`: equal for equal tiles.
    public let tilesHash: String

    private enum CodingKeys: String, CodingKey {
        case id
        case version
        case size
        case url
        case tileMask = "tile_mask"
        case metainfo
        case sha256
        case tilesHash = "agg_tiles_hash"
    }

    /// Where the file lies in the catalog folder.
    public var path: String { CatalogEntry.path(id, version) }

    static func path(_ id: String, _ version: Int32) -> String { "packages/\(version)/\(id).mbtiles" }
}

/// All of `packages.json`.
struct CatalogList: Codable, Equatable {
    var packages: [CatalogEntry] = []
    var schema: String?
    var metainfo: [String: String]?
}
