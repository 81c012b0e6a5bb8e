package import Errors
package import Foundation
internal import GRDB
internal import GRDBSQLite
internal import SQLiteFiles

/// One SQLite file of any maker, opened for reading; used by one thread at a time.
package final class ReadOnlyDatabase {
    /// The longest value that is read.
    package static let maxBody: Int32 = 64 << 20

    let connection: OpaquePointer
    let path: String

    /// Opens a file.
    ///
    /// - Throws: ``ArchiveError`` for a missing file, one that is not SQLite, and one whose `tiles` or `metadata` computes
    ///   its rows.
    package init(path: String, _ access: ArchiveAccess) throws(ArchiveError) {
        self.path = path
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI
        let code = sqlite3_open_v2(Self.address(path, access.isUnchanging), &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            let error = DatabaseError(
                resultCode: ResultCode(rawValue: code), message: opened.map { String(cString: sqlite3_errmsg($0)) })
            sqlite3_close(opened)
            throw ArchiveError(reading: error, path)
        }
        connection = opened
        sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, Self.maxBody)
        // Unit: milliseconds.
        sqlite3_busy_timeout(opened, access.isBatch ? Int32(AnySQLiteFile.patience * 1_000) : 1_000)
        try execute(
            "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0"
                + (access.isBatch ? "; PRAGMA cache_size = -4096" : ""))
        guard !access.isProbed else { return }
        var views: [String] = []
        let list = try prepare(ComputedView.viewsSQL)
        while try list.step() { if let name = list.text(0) { views.append(name) } }
        do { try ComputedView.check(connection, views: views, path) } catch {
            throw ArchiveError(reading: error, path)
        }
    }

    deinit { sqlite3_close(connection) }

    /// Runs statements without results.
    func execute(_ sql: String) throws(ArchiveError) {
        guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else { throw failure() }
    }

    /// A statement, to be run any number of times.
    package func prepare(_ sql: String) throws(ArchiveError) -> ReadStatement {
        var statement: OpaquePointer?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        guard sqlite3_prepare_v3(connection, sql, -1, flags, &statement, nil) == SQLITE_OK, let statement else {
            throw failure()
        }
        return ReadStatement(statement, of: self)
    }

    /// The step of a query that would read more than a path of an index; `nil` for a query without such a step.
    func slowStep(of sql: String) throws(ArchiveError) -> String? {
        do throws(DatabaseError) { return try QueryPlan(of: sql, on: connection).slowStep } catch {
            throw ArchiveError(reading: error, path)
        }
    }

    /// Refuses a query that would read more than a path of an index.
    ///
    /// - Throws: ``ArchiveError`` `unsupported`, with the command that makes the index.
    package func requireSearch(_ sql: String) throws(ArchiveError) {
        guard let slow = try slowStep(of: sql) else { return }
        throw ArchiveError(
            .unsupported,
            "'\(path)' has no index for its tiles, so each would be read from the whole file (\(slow.prefix(80))); "
                + "make one: sqlite3 '\(path)' '\(TemporaryIndex.permanentSQL(for: self))'")
    }

    /// Whether the file has a table; `false` also when its schema cannot be read.
    package func hasTable(_ name: String) -> Bool {
        sqlite3_table_column_metadata(connection, "main", name, nil, nil, nil, nil, nil, nil) == SQLITE_OK
    }

    /// The error of the last call.
    package func failure() -> ArchiveError {
        let code = ResultCode(rawValue: sqlite3_extended_errcode(connection))
        let error = DatabaseError(resultCode: code, message: String(cString: sqlite3_errmsg(connection)))
        return ArchiveError(reading: error, path)
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

/// A prepared statement of a ``ReadOnlyDatabase``.
package final class ReadStatement {
    private let pointer: OpaquePointer
    private let database: ReadOnlyDatabase

    init(_ pointer: OpaquePointer, of database: ReadOnlyDatabase) {
        self.pointer = pointer
        self.database = database
    }

    deinit { sqlite3_finalize(pointer) }

    /// Binds a whole number; the first parameter has the number 1.
    package func bind(_ value: Int64, at number: Int32) { sqlite3_bind_int64(pointer, number, value) }

    /// Binds a text, which SQLite copies.
    package func bind(_ text: String, at number: Int32) {
        // -1: the C string ends at its zero.
        sqlite3_bind_text(pointer, number, text, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
    }

    /// Goes to the next row; `false` after the last one.
    package func step() throws(ArchiveError) -> Bool {
        switch sqlite3_step(pointer) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw database.failure()
        }
    }

    /// Ends a run, so that the statement can be bound and run again.
    package func reset() { sqlite3_reset(pointer) }

    /// Whether a value is NULL.
    package func isNull(_ column: Int32) -> Bool { sqlite3_column_type(pointer, column) == SQLITE_NULL }

    /// A whole number; other values as SQLite converts them.
    package func int(_ column: Int32) -> Int32 { sqlite3_column_int(pointer, column) }

    /// A whole number; `nil` for a value of another type.
    func integer(_ column: Int32) -> Int64? {
        sqlite3_column_type(pointer, column) == SQLITE_INTEGER ? sqlite3_column_int64(pointer, column) : nil
    }

    /// The bytes of a BLOB or a text; no bytes for any other value.
    package func bytes(_ column: Int32) -> [UInt8] {
        guard let bytes = sqlite3_column_blob(pointer, column) else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(pointer, column))))
    }

    /// Whether a value is a BLOB or a text; some writers leave bodies as text.
    func hasBytes(_ column: Int32) -> Bool {
        [SQLITE_BLOB, SQLITE_TEXT].contains(sqlite3_column_type(pointer, column))
    }

    /// A text; `nil` for NULL.
    package func text(_ column: Int32) -> String? {
        sqlite3_column_text(pointer, column).map { String(cString: $0) }
    }

    /// A value of metadata as text: numbers, which many files have, as their text; `nil` for NULL and BLOB.
    func metadata(_ column: Int32) -> String? {
        switch sqlite3_column_type(pointer, column) {
        case SQLITE_TEXT: text(column)
        case SQLITE_INTEGER: String(sqlite3_column_int64(pointer, column))
        case SQLITE_FLOAT: String(sqlite3_column_double(pointer, column))
        default: nil
        }
    }

    /// A time in seconds since 1970; `nil` for NULL.
    package func time(_ column: Int32) -> Date? {
        isNull(column) ? nil : Date(timeIntervalSince1970: sqlite3_column_double(pointer, column))
    }
}

extension ArchiveError {
    /// Names what reading a SQLite file met.
    package init(reading error: any Error, _ path: String) {
        if let error = error as? ArchiveError {
            self = error
        } else if let view = error as? ComputedView {
            self.init(.badArchive, view.message, cause: view)
        } else if let explanation = SQLiteFault.explanation(error, path: path) {
            self.init(SQLiteFault(error) == .busy ? .busy : .unreadable, explanation, cause: error)
        } else if (error as? DatabaseError)?.resultCode.primaryResultCode == .SQLITE_NOTADB {
            self.init(
                .badArchive,
                "'\(path)' is not an MBTiles file, or its beginning is damaged: SQLite cannot read it. Check the name, or "
                    + "download or build it again.", cause: error)
        } else {
            let reason = (error as? DatabaseError)?.message ?? "\(error)"
            self.init(
                .badArchive, "'\(path)' is damaged: \(reason). Download or build it again.", cause: error)
        }
    }
}
