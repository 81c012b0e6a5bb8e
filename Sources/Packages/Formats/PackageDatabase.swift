package import Foundation
package import GRDB
internal import Shards

/// SQLite files whose bytes depend on nothing but what is written into them, and in which order.
package enum PackageDatabase {
    /// Bytes of a page.
    ///
    /// Bodies of 5–60 KB take overflow pages of which only the last is partly empty.
    package static let pageSize = 4_096

    /// Makes a new file: runs `body` in one transaction without a journal, closes the file, and seals it.
    ///
    /// A crash leaves a file without a valid seal. `body` must put the seal's row first into the table `sealed`, with
    /// ``SQLiteSeal/insert(into:_:)``; `nil` leaves the file without a seal.
    ///
    /// - Parameter pageSize: Bytes of a page; smaller ones waste less behind each body and take longer.
    package static func write<Result>(
        _ url: URL, sealed table: String?, pageSize: Int = pageSize, _ body: (Database) throws -> Result
    ) throws -> Result {
        let (result, root) = try fill(url, sealed: table, pageSize: pageSize, body)
        if let root { try SQLiteSeal.apply(to: url, rootPage: root) }
        return result
    }

    /// The same, but for the seal, which is the caller's to apply.
    ///
    /// - Returns: What `body` returned, and the page at which the sealed table begins.
    static func fill<Result>(
        _ url: URL, sealed table: String?, pageSize: Int = pageSize, _ body: (Database) throws -> Result
    ) throws -> (Result, sealed: Int?) {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { database in
            try database.execute(
                sql: """
                    PRAGMA page_size = \(pageSize);
                    PRAGMA auto_vacuum = NONE;
                    PRAGMA encoding = 'UTF-8';
                    PRAGMA locking_mode = EXCLUSIVE;
                    PRAGMA synchronous = OFF;
                    PRAGMA cache_size = -16384;
                    """)
            // What is moved within pages leaves no trace that would tell versions of SQLite apart; see SQLiteGaps.
            _ = try Row.fetchAll(database, sql: "PRAGMA secure_delete = \(table == nil ? "OFF" : "ON")")
            _ = try Row.fetchAll(database, sql: "PRAGMA journal_mode = OFF")
        }
        let queue = try DatabaseQueue(path: url.path, configuration: configuration)
        defer { try? queue.close() }
        let (result, root, roots) = try queue.write { database in
            (
                try body(database), try table.map { try SQLiteSeal.rootPage(of: $0, database) },
                try Int.fetchAll(database, sql: "SELECT rootpage FROM sqlite_schema WHERE rootpage > 0")
            )
        }
        try queue.close()
        if table != nil {
            let file = try FileDescriptor(changing: url)
            try SQLiteGaps.zero(in: file, roots: roots)
            try file.close()
        }
        return (result, root)
    }

    private static func usesWAL(_ url: URL) -> Bool {
        guard let handle = try? FileHandle(forReadingFrom: url) else { return false }
        defer { try? handle.close() }
        return (try? handle.read(upToCount: 100)).flatMap { SQLiteFileHeader([UInt8]($0)) }?.usesWAL ?? false
    }

    /// Opens a file of anybody's for reading; nothing in it runs with side effects.
    package static func reading<Result>(_ url: URL, _ body: (Database) throws -> Result) throws -> Result {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.prepareDatabase { database in
            try database.execute(
                sql:
                    "PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF; PRAGMA mmap_size = 0; PRAGMA cache_size = -4096"
            )
        }
        // A file name is not a URI: it is opened as it is, whatever characters it has. But one that was closed in WAL mode would get files
        // beside it, and could not be opened where none can be made.
        let isClosed = !FileManager.default.fileExists(atPath: url.path + "-wal")
        let path = isClosed && usesWAL(url) ? url.absoluteURL.absoluteString + "?immutable=1" : url.path
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        return try queue.read(body)
    }
}
