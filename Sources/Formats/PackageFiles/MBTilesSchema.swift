/// The tables of MBTiles 1.3 files.
///
/// The package itself stores bodies once (planetiler's dialect); every MBTiles reader and CARTO's client read it through the
/// view `tiles`.
package enum MBTilesSchema {
    /// "MPBX", the application id of MBTiles files.
    package static let applicationID: UInt32 = 0x4D50_4258

    /// The table of names and values, which every dialect has.
    package static let metadataTable = "CREATE TABLE metadata (name TEXT, value TEXT)"
    /// The index on the names, which packages have.
    ///
    /// Small files do not have it: it takes a page, and no reader needs it.
    package static let metadataIndex = "CREATE UNIQUE INDEX metadata_name ON metadata (name)"

    /// Both.
    package static let metadata = [metadataTable, metadataIndex]

    /// The package's own dialect.
    package static let deduplicated = [
        """
        CREATE TABLE tiles_shallow (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data_id INTEGER, \
        PRIMARY KEY (zoom_level, tile_column, tile_row)) WITHOUT ROWID
        """,
        "CREATE TABLE tiles_data (tile_data_id INTEGER PRIMARY KEY, tile_data BLOB)",
        """
        CREATE VIEW tiles AS SELECT tiles_shallow.zoom_level AS zoom_level, tiles_shallow.tile_column AS tile_column, \
        tiles_shallow.tile_row AS tile_row, tiles_data.tile_data AS tile_data FROM tiles_shallow \
        JOIN tiles_data ON tiles_shallow.tile_data_id = tiles_data.tile_data_id
        """,
    ]

    /// One table, as the specification shows it.
    package static let flat = [
        "CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB)",
        "CREATE UNIQUE INDEX tile_index ON tiles (zoom_level, tile_column, tile_row)",
    ]

    /// Bodies named by the upper-case hexadecimal MD5 of their bytes.
    package static let normalized = [
        """
        CREATE TABLE map (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_id TEXT, \
        PRIMARY KEY (zoom_level, tile_column, tile_row)) WITHOUT ROWID
        """,
        "CREATE TABLE images (tile_data BLOB, tile_id TEXT)",
        """
        CREATE VIEW tiles AS SELECT map.zoom_level AS zoom_level, map.tile_column AS tile_column, map.tile_row AS tile_row, \
        images.tile_data AS tile_data FROM map JOIN images ON images.tile_id = map.tile_id
        """,
        """
        CREATE VIEW tiles_with_hash AS SELECT map.zoom_level AS zoom_level, map.tile_column AS tile_column, \
        map.tile_row AS tile_row, images.tile_data AS tile_data, images.tile_id AS tile_hash FROM map \
        JOIN images ON images.tile_id = map.tile_id
        """,
    ]
    /// Made after the rows: names come in no order, and SQLite sorts them in bounded memory.
    package static let normalizedIndex = "CREATE UNIQUE INDEX images_id ON images (tile_id)"
}
