package import Foundation
package import GRDB
internal import GRDBSQLite

/// Opens SQLite files from untrusted sources.
package enum AnySQLiteFile {
    /// How long a read waits for another program's lock, in seconds.
    ///
    /// Longer than a writer's usual transaction, much shorter than a lease (60 s), which must not end meanwhile.
    package static let patience = 5.0

    /// Opens a file for reading.
    ///
    /// Nothing in it runs with side effects, and it is read without leaving files next to it, on a read-only disk too.
    /// What SQLite keeps in memory is limited to 4 MiB.
    ///
    /// - Throws: ``ComputedView``; `DatabaseError` for a file that is not SQLite, or has a damaged schema, or is locked
    ///   by another program for longer than ``patience``: ``SQLiteFault`` distinguishes these.
    package static func open(_ url: URL) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(patience)
        configuration.prepareDatabase { database in
            try database.execute(
                sql:
                    "PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF; PRAGMA mmap_size = 0; PRAGMA cache_size = -4096"
            )
        }
        // A file name is not a URI: it is opened as it is, whatever characters it has. But one that was closed in WAL
        // mode would get files next to it, and could not be opened where none can be made.
        let path = isClosedWAL(url) ? url.absoluteURL.absoluteString + "?immutable=1" : url.path
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        do {
            try queue.read { try ComputedView.check($0, url.path) }
        } catch {
            // The connection is given up; the first error is reported.
            try? queue.close()
            throw error
        }
        return queue
    }

    /// Reads a database that is all in memory, and was written by this program.
    ///
    /// SQLite reads the bytes where they are, and does not change them.
    ///
    /// - Parameter path: Names the file in errors.
    /// - Throws: ``ComputedView``, `DatabaseError`, and what `body` throws.
    package static func read<Result>(
        _ bytes: [UInt8], path: String, _ body: (Database) throws -> Result
    ) throws -> Result {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF")
        }
        return try bytes.withUnsafeBytes { raw in
            let queue = try DatabaseQueue(named: nil, configuration: configuration)
            // Nothing was written: closing it cannot lose data.
            defer { try? queue.close() }
            return try queue.inDatabase { database in
                let start = raw.bindMemory(to: UInt8.self).baseAddress.map { UnsafeMutablePointer(mutating: $0) }
                let code = sqlite3_deserialize(
                    database.sqliteConnection, "main", start, Int64(raw.count), Int64(raw.count),
                    UInt32(SQLITE_DESERIALIZE_READONLY))
                guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
                try ComputedView.check(database, path)
                return try body(database)
            }
        }
    }

    /// Whether a file next to a database has changes that are not in the database yet; an empty one has none.
    ///
    /// - Parameter suffix: `-wal` or `-journal`.
    package static func hasChanges(_ url: URL, _ suffix: String) -> Bool {
        // One that cannot be inspected is not there.
        let attributes = try? FileManager.default.attributesOfItem(atPath: url.path + suffix)
        return ((attributes?[.size] as? NSNumber)?.uint64Value ?? 0) > 0
    }

    /// The command that brings the changes of a write-ahead log into the file, and leaves no file next to it.
    package static func closingCommand(_ path: String) -> String {
        "sqlite3 '\(path)' 'PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode=DELETE;'"
    }

    /// Whether a file was closed in WAL mode: it is read with `immutable=1`.
    package static func isClosedWAL(_ url: URL) -> Bool {
        guard !hasChanges(url, "-wal") else { return false }
        // What cannot be read here fails when SQLite opens it, with the cause.
        guard let handle = try? FileHandle(forReadingFrom: url) else { return false }
        // The file was only read: closing it cannot lose data.
        defer { try? handle.close() }
        // What cannot be read here fails when SQLite opens it, with the cause.
        return (try? handle.read(upToCount: 100)).flatMap { SQLiteFileHeader([UInt8]($0)) }?.usesWAL ?? false
    }
}
