internal import Foundation
internal import GRDB

/// An MBTiles file of any dialect opened for reading: its tiles in the order of the hash, its metadata as text.
///
/// Nothing the file says is believed: what does not fit is refused with the file's name.
struct PackageFile {
    private let database: Database
    private let blame: Blame
    var path: String { blame.path }

    /// Whose fault an unreadable file is.
    struct Blame {
        let path: String
        let code: PackagesError.Code

        func refusal(_ why: String, cause: (any Error)? = nil) -> PackagesError {
            let kind = code == .badPatch ? "a patch" : "an MBTiles file"
            return PackagesError(code, "'\(path)' cannot be read as \(kind): \(why).", cause: cause)
        }

        /// Lets SQLite's complaints name the file.
        func naming<Result>(_ body: () throws -> Result) throws -> Result {
            do { return try body() } catch let error as DatabaseError {
                if error.resultCode == .SQLITE_FULL { throw PackagesError.wrapping(error, path: path) }
                throw refusal(error.message ?? "SQLite error \(error.resultCode.rawValue)", cause: error)
            }
        }
    }

    /// Opens a file that nobody changes meanwhile, for as long as `body` runs.
    ///
    /// - Throws: `code` for a file that is no MBTiles, was cut, or was not closed cleanly; `io`.
    static func read<Result>(
        _ url: URL, refusing code: PackagesError.Code = .badSource, _ body: (PackageFile) throws -> Result
    ) throws -> Result {
        let blame = Blame(path: url.path, code: code)
        try checkHeader(url, blame)
        var configuration = Configuration()
        configuration.readonly = true
        configuration.prepareDatabase { database in
            try database.execute(
                sql:
                    "PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF; PRAGMA mmap_size = 0; PRAGMA cache_size = -8192"
            )
        }
        let queue = try blame.naming { try DatabaseQueue(path: url.path, configuration: configuration) }
        defer { try? queue.close() }
        return try queue.read { database in
            let file = PackageFile(database: database, blame: blame)
            let names = try blame.naming {
                try String.fetchSet(database, sql: "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")
            }
            for needed in ["tiles", "metadata"] where !names.contains(needed) {
                throw file.refusal("it has no table '\(needed)', so it is no MBTiles file")
            }
            return try body(file)
        }
    }

    /// The tiles, ascending by zoom, column and TMS row.
    ///
    /// - Parameter deletions: Whether a body may be NULL, as in patches.
    func tiles(deletions: Bool = false) throws -> TileRows {
        let cursor = try blame.naming {
            try Row.fetchCursor(
                database,
                sql: """
                    SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles
                    ORDER BY zoom_level, tile_column, tile_row
                    """)
        }
        return TileRows(cursor, self, deletions: deletions)
    }

    /// The number of rows of `tiles`.
    func count() throws -> UInt64 {
        try blame.naming { UInt64(try Int64.fetchOne(database, sql: "SELECT count(*) FROM tiles") ?? 0) }
    }

    /// The metadata by name; numbers, which many files have, as their text.
    func metadata() throws -> [String: String] {
        var values: [String: String] = [:]
        try blame.naming {
            let rows = try Row.fetchCursor(database, sql: "SELECT name, value FROM metadata")
            while let row = try rows.next() {
                let (name, value): (DatabaseValue, DatabaseValue) = (row[0], row[1])
                guard case .string(let key) = name.storage else {
                    throw refusal("a name in its metadata is not text")
                }
                let text: String
                switch value.storage {
                case .string(let string): text = string
                case .int64(let number): text = String(number)
                case .double(let number): text = String(number)
                case .null: text = ""
                case .blob: throw refusal("its metadata row '\(key.prefix(64))' is a BLOB")
                }
                guard values.updateValue(text, forKey: key) == nil else {
                    throw refusal("its metadata has '\(key.prefix(64))' twice")
                }
            }
        }
        return values
    }

    /// An error with the file's name.
    func refusal(_ why: String) -> PackagesError { blame.refusal(why) }

    func naming<Result>(_ body: () throws -> Result) throws -> Result { try blame.naming(body) }

    private static func checkHeader(_ url: URL, _ blame: Blame) throws {
        let size: UInt64
        let head: [UInt8]
        do {
            let handle = try FileHandle(forReadingFrom: url)
            defer { try? handle.close() }
            head = [UInt8](try handle.read(upToCount: 100) ?? Data())
            size = try handle.seekToEnd()
        } catch {
            throw PackagesError(.io, "Cannot read '\(url.path)': \(error.localizedDescription)", cause: error)
        }
        guard let header = SQLiteFileHeader(head) else {
            throw blame.refusal("it does not begin like a SQLite database")
        }
        guard UInt64(header.pages) * UInt64(header.pageSize) <= size else {
            throw blame.refusal("it was cut: \(size) bytes instead of \(header.pages) pages of \(header.pageSize)")
        }
        let open = ["-wal", "-journal"].contains { FileManager.default.fileExists(atPath: url.path + $0) }
        guard !header.usesWAL, !open else {
            throw blame.refusal(
                "a program still writes it or did not close it; run 'PRAGMA journal_mode = DELETE' on it with sqlite3")
        }
    }
}
