internal import GRDB

/// The meaning of a SQLite error for a file that is only read.
///
/// Source: sqlite.org/rescode.html.
package enum SQLiteFault: Sendable, Hashable {
    /// Another program holds a lock on the file, or is about to change it. Try again later.
    case busy
    /// The file, or a file that SQLite needs next to it, cannot be opened or read now. That says nothing about its
    /// content.
    case unreadable
    /// The content is not what it must be.
    case damaged

    /// The fault behind an error; `damaged` for errors that are not from SQLite.
    package init(_ error: any Error) {
        guard let error = error as? DatabaseError else {
            self = .damaged
            return
        }
        switch error.extendedResultCode {
        // A page that the header counts is after the end of the file.
        case .SQLITE_IOERR_SHORT_READ, .SQLITE_IOERR_CORRUPTFS:
            self = .damaged
            return
        default: break
        }
        self =
            switch error.resultCode {
            case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL: .busy
            case .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH, .SQLITE_READONLY, .SQLITE_NOMEM,
                .SQLITE_NOLFS, .SQLITE_INTERRUPT:
                .unreadable
            default: .damaged
            }
    }

    /// One sentence with a remedy for a file that is busy or cannot be read; `nil` for one that is damaged.
    package static func explanation(_ error: any Error, path: String) -> String? {
        let said = (error as? DatabaseError)?.message ?? "\(error)"
        switch SQLiteFault(error) {
        case .busy:
            return """
                '\(path)' is locked by another program (SQLite: \(said)); waited \(Int(AnySQLiteFile.patience)) s. \
                Try again when that program has finished writing.
                """
        case .unreadable where (error as? DatabaseError)?.resultCode == .SQLITE_READONLY:
            return """
                '\(path)' was not closed by the program that wrote it (SQLite: \(said)). \
                Close that program, or let SQLite finish the change: sqlite3 '\(path)' 'PRAGMA quick_check'
                """
        case .unreadable:
            return """
                '\(path)' cannot be read (SQLite: \(said)). \
                Check its permissions, those of its folder, the disk, and the limit of open files.
                """
        case .damaged: return nil
        }
    }
}
