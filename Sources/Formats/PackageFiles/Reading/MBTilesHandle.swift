package import Foundation
internal import GRDBSQLite
package import Tiles

/// One open MBTiles file with its prepared look-ups.
///
/// Used by one thread at a time: ``HandleSlots`` lends it.
package final class MBTilesHandle {
    private static let sql = "SELECT tile_data FROM tiles WHERE zoom_level = ?1 AND tile_column = ?2 AND tile_row = ?3"
    private static let answerSQL = "SELECT status, expires FROM tile_http WHERE place = ?1"

    private let database: ReadOnlyDatabase
    private let lookUp: OpaquePointer
    /// What the server said about a tile; `nil` for a file without the table `tile_http`.
    private let answers: OpaquePointer?

    /// Opens a file of any dialect.
    ///
    /// - Parameter isProbed: Whether such a handle was made of the same bytes before they were installed: then the plans
    ///   of the look-ups are not asked for again. That takes as long as the rest.
    /// - Throws: ``TileFileError`` for a missing file, one that is no MBTiles file, and one in which a look-up would read
    ///   more than a path of an index.
    package init(path: String, isUnchanging: Bool = true, isProbed: Bool = false) throws(TileFileError) {
        database = try ReadOnlyDatabase(path: path, isUnchanging: isUnchanging)
        let hasAnswers = database.hasTable("tile_http")
        if !isProbed {
            try database.requireSearch(Self.sql)
            if hasAnswers { try database.requireSearch(Self.answerSQL) }
        }
        lookUp = try database.prepare(Self.sql)
        guard hasAnswers else {
            answers = nil
            return
        }
        do throws(TileFileError) { answers = try database.prepare(Self.answerSQL) } catch {
            sqlite3_finalize(lookUp)
            throw error
        }
    }

    deinit {
        sqlite3_finalize(lookUp)
        sqlite3_finalize(answers)
    }

    /// What the file has for a tile.
    ///
    /// In a file without `tile_http` a tile that is not there is empty: a package is complete.
    package func find(_ tile: TileID) throws(TileFileError) -> StoredTile<Data> {
        let body = try body(zoom: tile.zoom, column: tile.x, tmsRow: tile.tmsY)
        guard let answers else { return body.map { .body($0, expires: nil) } ?? .empty }
        sqlite3_bind_int64(answers, 1, Int64(clamping: tile.hilbertID))
        defer { sqlite3_reset(answers) }
        switch sqlite3_step(answers) {
        case SQLITE_DONE: return body.map { .body($0, expires: nil) } ?? .absent
        case SQLITE_ROW:
            if let body { return .body(body, expires: ReadOnlyDatabase.time(1, answers)) }
            return [204, 404, 410].contains(sqlite3_column_int(answers, 0)) ? .empty : .absent
        default: throw database.failure()
        }
    }

    /// The body of a tile, as stored; `nil` when the file has none.
    package func body(zoom: Int, column: Int, tmsRow: Int) throws(TileFileError) -> Data? {
        sqlite3_bind_int64(lookUp, 1, Int64(zoom))
        sqlite3_bind_int64(lookUp, 2, Int64(column))
        sqlite3_bind_int64(lookUp, 3, Int64(tmsRow))
        defer { sqlite3_reset(lookUp) }
        switch sqlite3_step(lookUp) {
        case SQLITE_DONE: return nil
        case SQLITE_ROW:
            let bytes = ReadOnlyDatabase.bytes(0, lookUp)
            return bytes.isEmpty ? nil : bytes
        default: throw database.failure()
        }
    }

    /// A value of the metadata.
    package func metadata(_ name: String) throws(TileFileError) -> String? {
        let statement = try database.prepare("SELECT CAST(value AS TEXT) FROM metadata WHERE name = ?1 LIMIT 1")
        defer { sqlite3_finalize(statement) }
        ReadOnlyDatabase.bind(name, at: 1, in: statement)
        switch sqlite3_step(statement) {
        case SQLITE_DONE: return nil
        case SQLITE_ROW: return ReadOnlyDatabase.text(0, statement)
        default: throw database.failure()
        }
    }
}
