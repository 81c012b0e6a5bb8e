package import Foundation
internal import GRDBSQLite

/// One SQLite file of any maker, opened for reading; used by one thread at a time.
package final class ReadOnlyDatabase {
    /// The longest value that is read.
    package static let maxBody: Int32 = 64 << 20

    package let pointer: OpaquePointer

    /// Opens a file.
    ///
    /// - Parameter isUnchanging: Opened with `immutable=1`: no locks, no side files, and an unlinked file stays readable.
    ///   A file that another program may write must not be opened so.
    /// - Throws: ``TileFileError`` for a missing file and one that is not SQLite.
    package init(path: String, isUnchanging: Bool) throws(TileFileError) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI
        let code = sqlite3_open_v2(Self.address(path, isUnchanging), &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            let text = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "SQLite error \(code)"
            sqlite3_close(opened)
            throw TileFileError(text: text, isMissing: access(path, F_OK) != 0)
        }
        pointer = opened
        sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, Self.maxBody)
        // Unit: milliseconds.
        sqlite3_busy_timeout(opened, 1_000)
        let sql = "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0"
        guard sqlite3_exec(opened, sql, nil, nil, nil) == SQLITE_OK else { throw failure() }
    }

    deinit { sqlite3_close(pointer) }

    /// A statement, which the caller finalizes before the database is released.
    package func prepare(_ sql: String) throws(TileFileError) -> OpaquePointer {
        var statement: OpaquePointer?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        guard sqlite3_prepare_v3(pointer, sql, -1, flags, &statement, nil) == SQLITE_OK, let statement else {
            throw failure()
        }
        return statement
    }

    /// Refuses a query that would read more than a path of an index: a view that computes its rows, or a table without
    /// an index.
    package func requireSearch(_ sql: String) throws(TileFileError) {
        let statement = try prepare("EXPLAIN QUERY PLAN " + sql)
        defer { sqlite3_finalize(statement) }
        var code = sqlite3_step(statement)
        while code == SQLITE_ROW {
            let detail = sqlite3_column_text(statement, 3).map { String(cString: $0) } ?? ""
            guard detail.hasPrefix("SEARCH"), !detail.contains("AUTOMATIC") else {
                throw TileFileError(text: "a look-up would read the whole file (\(detail.prefix(80)))")
            }
            code = sqlite3_step(statement)
        }
        guard code == SQLITE_DONE else { throw failure() }
    }

    /// Whether the file has a table; `false` also when its schema cannot be read.
    package func hasTable(_ name: String) -> Bool {
        sqlite3_table_column_metadata(pointer, "main", name, nil, nil, nil, nil, nil, nil) == SQLITE_OK
    }

    /// The error of the last call.
    package func failure() -> TileFileError { TileFileError(text: String(cString: sqlite3_errmsg(pointer))) }

    /// Binds a text, which SQLite copies.
    package static func bind(_ text: String, at number: Int32, in statement: OpaquePointer) {
        // -1: the C string ends at its zero.
        sqlite3_bind_text(statement, number, text, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
    }

    /// The bytes of a BLOB or a text; no bytes for any other value.
    package static func bytes(_ column: Int32, _ statement: OpaquePointer) -> Data {
        guard let bytes = sqlite3_column_blob(statement, column) else { return Data() }
        return Data(bytes: bytes, count: Int(sqlite3_column_bytes(statement, column)))
    }

    /// A text; `nil` for NULL.
    package static func text(_ column: Int32, _ statement: OpaquePointer) -> String? {
        sqlite3_column_text(statement, column).map { String(cString: $0) }
    }

    /// A time in seconds since 1970; `nil` for NULL.
    package static func time(_ column: Int32, _ statement: OpaquePointer) -> Date? {
        guard sqlite3_column_type(statement, column) != SQLITE_NULL else { return nil }
        return Date(timeIntervalSince1970: sqlite3_column_double(statement, column))
    }

    /// The path as a URI: every byte that has a meaning in a URI is escaped.
    private static func address(_ path: String, _ isUnchanging: Bool) -> String {
        var text = "file:"
        for byte in path.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2F, 0x2D, 0x2E, 0x5F:
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default: text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        return text + (isUnchanging ? "?immutable=1" : "?mode=ro")
    }
}
