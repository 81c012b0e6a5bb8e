import Foundation
import GRDB
import GRDBSQLite

/// A copy of an open database, made in slices by SQLite's online backup.
///
/// The source stays usable between two slices. A change that its connection makes meanwhile also changes the pages that
/// are copied already. So the copy never starts again, and has the state of the end of the last slice.
///
/// The copy has no journal and is not flushed: a crash leaves a file that is of no use.
// Safe: owned by the queue of the source's connection. Every method is called there.
final class OnlineBackup: @unchecked Sendable {
    private var destination: OpaquePointer?
    private var backup: OpaquePointer?

    /// Starts a copy of `source` into a new file.
    ///
    /// - Throws: `DatabaseError`.
    init(of source: Database, into file: URL) throws {
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        do {
            try check(sqlite3_open_v2(file.path, &destination, flags, nil))
            try check(sqlite3_exec(destination, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF", nil, nil, nil))
            backup = sqlite3_backup_init(destination, "main", source.sqliteConnection, "main")
            guard backup != nil else { throw error(sqlite3_errcode(destination)) }
        } catch {
            close()
            throw error
        }
    }

    deinit { close() }

    /// Copies at most this many pages.
    ///
    /// - Returns: Whether the copy is complete.
    /// - Throws: `DatabaseError`.
    func copy(pages: Int32) throws -> Bool {
        let code = sqlite3_backup_step(backup, pages)
        guard code != SQLITE_DONE else { return true }
        try check(code)
        return false
    }

    /// Closes the copy.
    ///
    /// Must be called before the source is closed.
    func close() {
        sqlite3_backup_finish(backup)
        backup = nil
        sqlite3_close(destination)
        destination = nil
    }

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK else { throw error(code) }
    }

    private func error(_ code: Int32) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: code), message: destination.map { String(cString: sqlite3_errmsg($0)) })
    }
}
