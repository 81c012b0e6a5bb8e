internal import Files
package import Foundation
package import GRDB
internal import SQLiteFiles

/// Writes SQLite files whose bytes depend only on the written data and its order.
package enum PackageDatabase {
    /// Bytes of a page.
    ///
    /// Bodies of 5–60 KB take overflow pages, and only the last one is partly empty.
    package static let pageSize = 4_096

    /// Makes a new file: runs `body` in one transaction without a journal, closes the file, and seals it.
    ///
    /// A crash leaves a file without a valid seal. `body` must put the seal's row first into the table `sealed`, with
    /// ``SQLiteSeal/insert(into:_:)``; `nil` leaves the file without a seal.
    ///
    /// - Parameter pageSize: Bytes of a page; smaller pages waste less space after each body and take longer.
    package static func write<Result>(
        _ url: URL, sealed table: String?, pageSize: Int = pageSize, _ body: (Database) throws -> Result
    ) throws -> Result {
        let (result, root) = try fill(url, sealed: table, pageSize: pageSize, body)
        if let root { try SQLiteSeal.apply(to: url, rootPage: root) }
        return result
    }

    /// Does the same without the seal, which the caller must apply.
    ///
    /// - Returns: What `body` returned, and the page at which the sealed table begins.
    package static func fill<Result>(
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
            // Data that is moved within pages leaves no traces, which would differ between SQLite versions; see
            // SQLiteGaps.
            _ = try Row.fetchAll(database, sql: "PRAGMA secure_delete = \(table == nil ? "OFF" : "ON")")
            _ = try Row.fetchAll(database, sql: "PRAGMA journal_mode = OFF")
        }
        let queue = try DatabaseQueue(path: url.path, configuration: configuration)
        // Only after an error, which is reported; without one the queue is closed below.
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

    /// Opens a file from an untrusted source for reading; nothing in it runs with side effects.
    ///
    /// - Throws: `PackagesError` `bad-source` for one whose `tiles` or `metadata` computes rows, `busy` for one that another program locks,
    ///   `io` for one that cannot be read now; `DatabaseError` for one whose content is at fault.
    package static func reading<Result>(_ url: URL, _ body: (Database) throws -> Result) throws -> Result {
        try passing(url.path) {
            let queue: DatabaseQueue
            do { queue = try AnySQLiteFile.open(url) } catch let error as ComputedView {
                throw PackagesError(.badSource, error.message, cause: error)
            }
            // The file was only read: closing it cannot lose data.
            defer { try? queue.close() }
            return try queue.read(body)
        }
    }

    /// Reads a sealed file, which may be in memory, in the same way.
    package static func reading<Result>(
        _ content: SealedContent, _ body: (Database) throws -> Result
    ) throws -> Result {
        switch content {
        case .file(let url): try reading(url, body)
        case .bytes(let bytes, let path): try passing(path) { try AnySQLiteFile.read(bytes, path: path, body) }
        }
    }

    private static func passing<Result>(_ path: String, _ work: () throws -> Result) throws -> Result {
        do { return try work() } catch let error as DatabaseError {
            throw PackagesError.passing(error, path: path) ?? error
        }
    }
}
