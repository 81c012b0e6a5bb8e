internal import Errors
package import Foundation
internal import GRDB
internal import SQLiteFiles
package import Tiles

/// An MBTiles file of any dialect opened for reading: its tiles in the order of the hash, its metadata as text.
///
/// The file is not trusted: invalid content is refused with an error that names the file.
package struct PackageFile {
    private let database: Database
    private let blame: Blame
    private let hasDeltas: Bool
    private let isDeduplicated: Bool
    private let dialect: MBTilesDialect
    /// Whether it has a seal; then the seal is valid.
    package private(set) var isSealed = false
    package var path: String { blame.path }

    /// Makes the errors for an unreadable file.
    package struct Blame {
        package let path: String
        package let code: PackagesError.Code

        package func refusal(_ why: String, cause: (any Error)? = nil) -> PackagesError {
            let kind = code == .badPatch ? "a patch" : "an MBTiles file"
            return PackagesError(code, "'\(path)' cannot be read as \(kind): \(why).", cause: cause)
        }

        /// Adds the file's name to SQLite's errors.
        package func naming<Result>(_ body: () throws -> Result) throws -> Result {
            do { return try body() } catch let error as DatabaseError {
                if error.resultCode == .SQLITE_FULL { throw PackagesError.wrapping(error, path: path) }
                throw PackagesError.passing(error, path: path)
                    ?? refusal(error.message ?? "SQLite error \(error.resultCode.rawValue)", cause: error)
            }
        }
    }

    /// Opens a file while `body` runs; no other program may change it meanwhile.
    ///
    /// - Throws: `code` for a file that is not MBTiles, is truncated, or was not closed cleanly; `io`.
    package static func read<Output>(
        _ url: URL, refusing code: PackagesError.Code = .badSource, _ body: (PackageFile) throws -> Output
    ) throws -> Output {
        let blame = Blame(path: url.path, code: code)
        let isStamped = try checkHeader(url, blame)
        // Errors of `body` are passed on unchanged; only SQLite errors about this file get its name.
        return try opening(url, blame: blame) { database in
            let names = try blame.naming {
                try String.fetchSet(
                    database, sql: "SELECT lower(name) FROM sqlite_schema WHERE type IN ('table', 'view')")
            }
            let dialect = try blame.naming { try MBTilesDialect(database) }
            do throws(ArchiveError) { try dialect.checkKey(url.path) } catch { throw PackagesError(error) }
            var file = PackageFile(
                database: database, blame: blame, hasDeltas: names.contains("tile_deltas"),
                isDeduplicated: names.isSuperset(of: ["tiles_shallow", "tiles_data"]), dialect: dialect)
            for needed in ["tiles", "metadata"] where !names.contains(needed) {
                throw file.refusal("it has no table '\(needed)', so it is not an MBTiles file")
            }
            file.isSealed = try blame.naming { try file.checkSeal(url, isStamped: isStamped) }
            return Result { try body(file) }
        }.get()
    }

    private static func opening<Output>(
        _ url: URL, blame: Blame, _ body: (Database) throws -> Output
    ) throws -> Output {
        do {
            return try PackageDatabase.reading(url, body)
        } catch let error as DatabaseError {
            throw blame.refusal(error.message ?? "SQLite error \(error.resultCode.rawValue)", cause: error)
        }
    }

    /// Checks the seal of a file that Packhorse wrote; third-party files have no seal.
    private func checkSeal(_ url: URL, isStamped: Bool) throws -> Bool {
        var report = VerifyReport(path: path, size: 0, kind: "MBTiles")
        try SQLiteSeal.check(url, table: "metadata", in: database, into: &report)
        guard report.seal != .broken, report.seal == .valid || !isStamped else {
            throw refusal("it is damaged: its seal is broken. Download it again")
        }
        return report.seal == .valid
    }

    /// The tiles, ascending by zoom, column and TMS row.
    package func tiles() throws -> TileRows {
        let sql = "SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles ORDER BY 1, 2, 3"
        return TileRows(try blame.naming { try Row.fetchCursor(database, sql: sql) }, self, deletions: false)
    }

    /// The rows of a patch, ascending likewise: bodies, deletions and deltas.
    package func changes() throws -> TileRows {
        var sql = "SELECT zoom_level, tile_column, tile_row, tile_data, 0 FROM tiles"
        if hasDeltas { sql += " UNION ALL SELECT zoom_level, tile_column, tile_row, tile_delta, 1 FROM tile_deltas" }
        let ordered = sql + " ORDER BY 1, 2, 3"
        return TileRows(try blame.naming { try Row.fetchCursor(database, sql: ordered) }, self, deletions: true)
    }

    /// The tiles of one column within some rows, ascending.
    package func tiles(zoom: Int, column: Int, rows: ClosedRange<Int>) throws -> TileRows {
        let cursor = try blame.naming {
            let statement = try database.cachedStatement(sql: Self.columnSQL)
            return try Row.fetchCursor(
                statement, arguments: [zoom, column, rows.lowerBound, rows.upperBound])
        }
        return TileRows(cursor, self, deletions: false)
    }

    private static let columnSQL = """
        SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles
        WHERE zoom_level = ? AND tile_column = ? AND tile_row BETWEEN ? AND ? ORDER BY tile_row
        """

    /// Refuses a file in which each look-up would read the whole table.
    ///
    /// - Throws: `unsupported`.
    package func checkIndex() throws {
        guard let connection = database.sqliteConnection,
            let slow = try blame.naming({ try QueryPlan(of: Self.columnSQL, on: connection).slowStep })
        else { return }
        throw PackagesError(
            .unsupported,
            "'\(path)' has no index for its tiles (\(slow)); convert it to mbtiles with 'packhorse convert'.")
    }

    /// Calls `each` for the coordinates of all tiles, in any order.
    package func places(_ each: (TileID) throws -> Void) throws {
        let cursor = try blame.naming {
            try Row.fetchCursor(database, sql: "SELECT zoom_level, tile_column, tile_row FROM tiles")
        }
        while let row = try blame.naming({ try cursor.next() }) {
            guard let zoom = Int.fromDatabaseValue(row[0]), let column = Int.fromDatabaseValue(row[1]),
                let tmsRow = Int.fromDatabaseValue(row[2]),
                let tile = TileID(zoom: zoom, x: column, tmsY: tmsRow)
            else { throw refusal("a row of 'tiles' has invalid coordinates") }
            try each(tile)
        }
    }

    /// The number of rows of `tiles`.
    package func count() throws -> UInt64 {
        try blame.naming { UInt64(try Int64.fetchOne(database, sql: "SELECT count(*) FROM tiles") ?? 0) }
    }

    /// The metadata by name without the seal; numbers, which many files have, as their text.
    package func metadata() throws -> [String: String] {
        var values: [String: String] = [:]
        try blame.naming {
            let rows = try Row.fetchCursor(database, sql: "SELECT name, value FROM metadata")
            while let row = try rows.next() {
                let (name, value): (DatabaseValue, DatabaseValue) = (row[0], row[1])
                guard case .string(let key) = name.storage else {
                    throw refusal("a name in its metadata is not text")
                }
                guard key != SQLiteSeal.name else { continue }
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

    /// A body as any reader understands it.
    func decoded(_ body: [UInt8]) throws -> [UInt8] {
        do throws(ArchiveError) { return try dialect.decoded(body) } catch { throw refusal(error.message) }
    }

    /// An error with the file's name.
    package func refusal(_ why: String) -> PackagesError { blame.refusal(why) }

    package func naming<Result>(_ body: () throws -> Result) throws -> Result { try blame.naming(body) }

    /// - Returns: Whether the header has the mark of the files that Packhorse writes.
    private static func checkHeader(_ url: URL, _ blame: Blame) throws -> Bool {
        let head = try FileHead(url)
        guard !ArchiveKind.isGeoPackage(head.bytes) else { throw blame.refusal("it is \(ArchiveKind.geoPackageWords)") }
        guard let header = SQLiteFileHeader(head.bytes) else {
            throw blame.refusal("it does not begin with a SQLite header")
        }
        guard UInt64(header.pages) * UInt64(header.pageSize) <= head.size else {
            throw blame.refusal(
                "it is truncated: \(head.size) bytes instead of \(header.pages) pages of \(header.pageSize)")
        }
        let open = ["-wal", "-journal"].contains { AnySQLiteFile.hasChanges(url, $0) }
        guard !header.usesWAL, !open else {
            throw blame.refusal(
                "another program is writing it or did not close it; run: \(AnySQLiteFile.closingCommand(url.path))")
        }
        return SQLiteSeal.isStamped(head.bytes)
    }
}
