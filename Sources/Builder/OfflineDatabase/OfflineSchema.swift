/// The tables of MapLibre Native's offline database, schema version 6, and our own table for the seal.
///
/// - Source: MapLibre Native's offline code, schema version 6. Clients merge by position, so the order of columns is
///   part of it; a database of any other version is refused, or emptied when it is the client's own.
enum OfflineSchema {
    static let version = 6
    /// Clients set this value, and rewrite the whole file if it differs.
    static let autoVacuum = 2
    /// A table of Packhorse; clients ignore unknown tables.
    static let sealed = "packhorse"

    /// A column, as in the output of `PRAGMA table_info`.
    struct Column: Hashable {
        let name: String
        let type: String
        let isRequired: Bool
        let fallback: String?
        let isKey: Bool
    }

    private static let cached = """
        expires INTEGER, modified INTEGER, etag TEXT, data BLOB, compressed INTEGER NOT NULL DEFAULT 0, \
        accessed INTEGER NOT NULL, must_revalidate INTEGER NOT NULL DEFAULT 0
        """

    static let statements = [
        "CREATE TABLE \(sealed) (name TEXT, value TEXT)",
        """
        CREATE TABLE resources (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, url TEXT NOT NULL, kind INTEGER NOT NULL, \
        \(cached), UNIQUE (url))
        """,
        """
        CREATE TABLE tiles (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, url_template TEXT NOT NULL, \
        pixel_ratio INTEGER NOT NULL, z INTEGER NOT NULL, x INTEGER NOT NULL, y INTEGER NOT NULL, \
        \(cached), UNIQUE (url_template, pixel_ratio, z, x, y))
        """,
        """
        CREATE TABLE regions (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, definition TEXT NOT NULL, description BLOB)
        """,
        """
        CREATE TABLE region_resources (region_id INTEGER NOT NULL REFERENCES regions (id) ON DELETE CASCADE, \
        resource_id INTEGER NOT NULL REFERENCES resources (id), UNIQUE (region_id, resource_id))
        """,
        """
        CREATE TABLE region_tiles (region_id INTEGER NOT NULL REFERENCES regions (id) ON DELETE CASCADE, \
        tile_id INTEGER NOT NULL REFERENCES tiles (id), UNIQUE (region_id, tile_id))
        """,
        "CREATE INDEX resources_accessed ON resources (accessed)",
        "CREATE INDEX tiles_accessed ON tiles (accessed)",
        "CREATE INDEX region_resources_resource_id ON region_resources (resource_id)",
        "CREATE INDEX region_tiles_tile_id ON region_tiles (tile_id)",
    ]

    private static func column(
        _ name: String, _ type: String = "INTEGER", required: Bool = false, fallback: String? = nil, key: Bool = false
    ) -> Column {
        Column(name: name, type: type, isRequired: required, fallback: fallback, isKey: key)
    }

    private static let id = column("id", required: true, key: true)
    private static let cachedColumns = [
        column("expires"), column("modified"), column("etag", "TEXT"), column("data", "BLOB"),
        column("compressed", required: true, fallback: "0"), column("accessed", required: true),
        column("must_revalidate", required: true, fallback: "0"),
    ]

    /// What a client expects to find.
    static let columns: [String: [Column]] = [
        "resources": [id, column("url", "TEXT", required: true), column("kind", required: true)] + cachedColumns,
        "tiles": [id, column("url_template", "TEXT", required: true)]
            + ["pixel_ratio", "z", "x", "y"].map { column($0, required: true) } + cachedColumns,
        "regions": [id, column("definition", "TEXT", required: true), column("description", "BLOB")],
        "region_resources": [column("region_id", required: true), column("resource_id", required: true)],
        "region_tiles": [column("region_id", required: true), column("tile_id", required: true)],
    ]

    /// Columns that must be unique together, by table.
    static let unique = [
        "resources": ["url"], "tiles": ["url_template", "pixel_ratio", "z", "x", "y"],
        "region_resources": ["region_id", "resource_id"], "region_tiles": ["region_id", "tile_id"],
    ]

    /// Index names, their tables and columns.
    static let indexes = [
        ("resources_accessed", "resources", "accessed"), ("tiles_accessed", "tiles", "accessed"),
        ("region_resources_resource_id", "region_resources", "resource_id"),
        ("region_tiles_tile_id", "region_tiles", "tile_id"),
    ]
}
