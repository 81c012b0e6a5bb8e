internal import Errors
internal import GRDB

/// Finds tiles in a file that has no index on their places.
///
/// SQLite keeps it in a file without a name in the folder for temporary files (`TMPDIR`), for as long as the file is open:
/// about 40 bytes a tile, and the bodies too where `tiles` is a view or a table without row numbers.
enum TemporaryIndex {
    private static let place = "zoom_level, tile_column, tile_row"
    private static let isPlace = "p.zoom_level = ?1 AND p.tile_column = ?2 AND p.tile_row = ?3"

    /// The look-up of a body by zoom, column and row.
    ///
    /// - Throws: ``ArchiveError`` `unreadable` when there is no space for it.
    static func lookUp(in database: ReadOnlyDatabase) throws(ArchiveError) -> ReadStatement {
        // A view, and a table WITHOUT ROWID, have no row numbers.
        let hasNumbers =
            database.hasTable("tiles") && (try? database.prepare("SELECT rowid FROM tiles LIMIT 1")) != nil
        try make(
            "packhorse_tiles", of: "SELECT \(place), \(hasNumbers ? "rowid AS number" : "tile_data") FROM tiles",
            in: database)
        return try database.prepare(
            hasNumbers
                ? "SELECT t.tile_data FROM temp.packhorse_tiles p JOIN main.tiles t ON t.rowid = p.number WHERE \(isPlace)"
                : "SELECT p.tile_data FROM temp.packhorse_tiles p WHERE \(isPlace)")
    }

    /// Whether a dialect with a table of bodies names a tile, in place of a look-up that reads the whole table of places.
    static func naming(_ known: ReadStatement, in database: ReadOnlyDatabase) throws(ArchiveError) -> ReadStatement {
        guard let dialect = SplitDialect.all.first(where: { database.hasTable($0.places) }) else { return known }
        try make(
            "packhorse_names", of: "SELECT \(place) FROM main.\(dialect.places) WHERE \(dialect.key) IS NOT NULL",
            in: database)
        return try database.prepare("SELECT 1 FROM temp.packhorse_names p WHERE \(isPlace)")
    }

    private static func make(_ table: String, of rows: String, in database: ReadOnlyDatabase) throws(ArchiveError) {
        do throws(ArchiveError) {
            try database.execute(
                "CREATE TEMP TABLE \(table) AS \(rows); CREATE INDEX temp.\(table)_place ON \(table) (\(place))")
        } catch {
            guard (error.cause as? DatabaseError)?.resultCode.primaryResultCode == .SQLITE_FULL else { throw error }
            throw ArchiveError(
                .unreadable,
                "'\(database.path)' has no index for its tiles, and the disk has no space for a temporary one. Set TMPDIR to "
                    + "a folder with space, or make an index: sqlite3 '\(database.path)' '\(permanentSQL(for: database))'",
                cause: error)
        }
    }

    /// The statements that give the file the index that it lacks.
    static func permanentSQL(for database: ReadOnlyDatabase) -> String {
        guard !database.hasTable("tiles"),
            let dialect = SplitDialect.all.first(where: {
                database.hasTable($0.places) && database.hasTable($0.bodies)
            })
        else { return "CREATE INDEX tile_place ON \(scanned(database) ?? "tiles") (\(place));" }
        return "CREATE INDEX tile_place ON \(dialect.places) (\(place)); "
            + "CREATE INDEX tile_body ON \(dialect.bodies) (\(dialect.key));"
    }

    /// The table that a look-up reads whole.
    private static func scanned(_ database: ReadOnlyDatabase) -> String? {
        let sql = "SELECT tile_data FROM tiles WHERE zoom_level = 0 AND tile_column = 0 AND tile_row = 0"
        // "SCAN rows"; without a plan the usual name is as good.
        guard let name = (try? database.slowStep(of: sql))??.split(separator: " ").last.map(String.init),
            database.hasTable(name), name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") })
        else { return nil }
        return name
    }
}
