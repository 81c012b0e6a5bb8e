internal import Foundation
internal import GRDBSQLite

/// One open MBTiles file with its prepared look-up.
///
/// Opened with `immutable=1`: no locks, no side files, and an unlinked file stays readable. Used by one thread at a time:
/// ``HandleSlots`` lends it.
final class MBTilesHandle {
    /// The longest body that is read, as stored.
    static let maxBody: Int32 = 64 << 20

    private let database: OpaquePointer
    private let lookUp: OpaquePointer

    /// Opens a file of any dialect.
    ///
    /// - Throws: ``TileFileError`` for a missing file, one that is no MBTiles file, and one in which a look-up would read
    ///   more than a path of an index.
    init(path: String) throws(TileFileError) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI
        let code = sqlite3_open_v2(Self.address(path), &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            let text = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "SQLite error \(code)"
            sqlite3_close(opened)
            throw TileFileError(text: text, isMissing: access(path, F_OK) != 0)
        }
        do throws(TileFileError) {
            try Self.run(opened, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0")
            sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, Self.maxBody)
            try Self.checkPlan(opened)
            lookUp = try Self.prepare(
                opened, "SELECT tile_data FROM tiles WHERE zoom_level = ?1 AND tile_column = ?2 AND tile_row = ?3")
        } catch {
            sqlite3_close(opened)
            throw error
        }
        database = opened
    }

    deinit {
        sqlite3_finalize(lookUp)
        sqlite3_close(database)
    }

    /// The body of a tile, as stored; `nil` when the file has none.
    func body(zoom: Int, column: Int, tmsRow: Int) throws(TileFileError) -> Data? {
        sqlite3_bind_int64(lookUp, 1, Int64(zoom))
        sqlite3_bind_int64(lookUp, 2, Int64(column))
        sqlite3_bind_int64(lookUp, 3, Int64(tmsRow))
        defer { sqlite3_reset(lookUp) }
        switch sqlite3_step(lookUp) {
        case SQLITE_DONE: return nil
        case SQLITE_ROW:
            // A NULL body, or one of another type than BLOB and text, has no bytes.
            guard let bytes = sqlite3_column_blob(lookUp, 0) else { return Data() }
            return Data(bytes: bytes, count: Int(sqlite3_column_bytes(lookUp, 0)))
        default: throw Self.failure(database)
        }
    }

    /// A value of the metadata.
    func metadata(_ name: String) throws(TileFileError) -> String? {
        let statement = try Self.prepare(database, "SELECT CAST(value AS TEXT) FROM metadata WHERE name = ?1 LIMIT 1")
        defer { sqlite3_finalize(statement) }
        // -1: the C string ends at its zero; SQLite copies it.
        sqlite3_bind_text(statement, 1, name, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
        switch sqlite3_step(statement) {
        case SQLITE_DONE: return nil
        case SQLITE_ROW: return sqlite3_column_text(statement, 0).map { String(cString: $0) }
        default: throw Self.failure(database)
        }
    }

    /// Refuses a view that computes its rows, and a table without an index.
    private static func checkPlan(_ database: OpaquePointer) throws(TileFileError) {
        let sql = """
            EXPLAIN QUERY PLAN SELECT tile_data FROM tiles WHERE zoom_level = 1 AND tile_column = 1 AND tile_row = 1
            """
        let statement = try prepare(database, sql)
        defer { sqlite3_finalize(statement) }
        var code = sqlite3_step(statement)
        while code == SQLITE_ROW {
            let detail = sqlite3_column_text(statement, 3).map { String(cString: $0) } ?? ""
            guard detail.hasPrefix("SEARCH"), !detail.contains("AUTOMATIC") else {
                throw TileFileError(text: "a look-up would read the whole file (\(detail.prefix(80)))")
            }
            code = sqlite3_step(statement)
        }
        guard code == SQLITE_DONE else { throw failure(database) }
    }

    private static func prepare(_ database: OpaquePointer, _ sql: String) throws(TileFileError) -> OpaquePointer {
        var statement: OpaquePointer?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        guard sqlite3_prepare_v3(database, sql, -1, flags, &statement, nil) == SQLITE_OK, let statement else {
            throw failure(database)
        }
        return statement
    }

    private static func run(_ database: OpaquePointer, _ sql: String) throws(TileFileError) {
        guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else { throw failure(database) }
    }

    private static func failure(_ database: OpaquePointer) -> TileFileError {
        TileFileError(text: String(cString: sqlite3_errmsg(database)))
    }

    /// The path as a URI with `immutable=1`: every byte that has a meaning in a URI is escaped.
    private static func address(_ path: String) -> String {
        var text = "file:"
        for byte in path.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2F, 0x2D, 0x2E, 0x5F:
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default: text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        return text + "?immutable=1"
    }
}
