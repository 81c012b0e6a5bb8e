/// The tables of a package: MBTiles 1.3 with bodies stored once (planetiler's dialect), which every MBTiles reader and CARTO's
/// client read through the view `tiles`.
enum MBTilesSchema {
    /// "MPBX", the application id of MBTiles files.
    static let applicationID: UInt32 = 0x4D50_4258
    /// Bytes of a page.
    ///
    /// Bodies of 5–60 KB take overflow pages of which only the last is partly empty.
    static let pageSize = 4_096

    static let statements = [
        "CREATE TABLE metadata (name TEXT, value TEXT)",
        "CREATE UNIQUE INDEX metadata_name ON metadata (name)",
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
}
