internal import Errors
internal import Foundation
internal import GRDB
internal import TileBodies
internal import Tiles

/// An MBTiles file of any dialect, also CARTO's with its preset dictionary.
final class MBTilesSource: PackageSource {
    let rows: [String: String]
    let format: TileFormat
    let coding = BodyCoding.identity
    let isOwn: Bool
    let isSealed: Bool
    var namesBodies: Bool { access == .number }
    private let path: String
    private let database: Database
    private let access: Access
    private let lookup: Statement
    private let dictionary: [UInt8]?

    /// How a body is looked up.
    private enum Access {
        /// By its number in `tiles_data`.
        case number
        /// By the row of a table `tiles`.
        case row
        /// By zoom, column and row through a view.
        case place
    }

    static func open<Result>(_ url: URL, _ body: (any PackageSource) throws -> Result) throws -> Result {
        try reading(url) {
            try PackageDatabase.reading(url) { database in
                let source = try MBTilesSource(url, database)
                // Errors of `body` are passed on unchanged: it may use SQLite for its own files.
                return Swift.Result { try body(source) }
            }
        }.get()
    }

    private init(_ url: URL, _ database: Database) throws {
        path = url.path
        self.database = database
        let types = try Row.fetchAll(database, sql: "SELECT name, type FROM sqlite_schema").reduce(
            into: [String: String]()
        ) { types, row in
            guard let name = String.fromDatabaseValue(row[0]) else { return }
            types[name] = String.fromDatabaseValue(row[1])
        }
        for table in ["tiles", "metadata"] where types[table] == nil {
            throw PackagesError(.badSource, "'\(url.path)' is not an MBTiles file: it has no table '\(table)'.")
        }
        (rows, dictionary) = try Self.metadata(database, path)
        guard rows[PatchSchema.before] == nil else {
            throw PatchSchema.refusal(url.path)
        }
        isSealed = try SQLiteSeal.isThere(in: "metadata", database)
        format = try Self.format(rows["format"], path)
        isOwn = isSealed && rows["agg_tiles_hash"] != nil
        if isOwn, types["tiles_shallow"] != nil, types["tiles_data"] != nil {
            access = .number
        } else if types["tiles"] == "table", Self.hasRowNumbers(database) {
            access = .row
        } else {
            access = .place
        }
        let sql =
            switch access {
            case .number: "SELECT tile_data FROM tiles_data WHERE tile_data_id = ?"
            // Some writers leave bodies as TEXT; their bytes are the same.
            case .row: "SELECT CAST(tile_data AS BLOB) FROM tiles WHERE rowid = ?"
            case .place:
                "SELECT CAST(tile_data AS BLOB) FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ?"
            }
        lookup = try database.makeStatement(sql: sql)
        try checkPlan(sql)
        // The package's own tables are read row by row, so missing bodies are found there; a view would skip them.
        if access != .number, let lost = try LostBodies.count(database), lost > 0 {
            throw PackagesError(
                .badSource, "'\(path)' is damaged: the bodies of \(lost) tiles are missing. Fetch or build it again.")
        }
    }

    /// Checks a file's seal; reads all its bytes.
    static func seal(of url: URL) throws -> VerifyReport.Seal {
        var report = VerifyReport(path: url.path, size: 0, kind: "MBTiles")
        try PackageDatabase.reading(url) { database in
            try reading(url) { try SQLiteSeal.check(url, table: "metadata", in: database, into: &report) }
        }
        return report.seal
    }

    func bodyLimit() throws -> UInt64 {
        try Self.reading(URL(filePath: path)) {
            let table = access == .number ? "tiles_data" : "tiles"
            return UInt64(max(0, try Int64.fetchOne(database, sql: "SELECT count(*) FROM \(table)") ?? 0))
        }
    }

    func tiles(_ each: (TileID, UInt64, UInt64) throws -> Void) throws {
        let sql =
            switch access {
            case .number: "SELECT zoom_level, tile_column, tile_row, tile_data_id FROM tiles_shallow"
            case .row: "SELECT zoom_level, tile_column, tile_row, rowid FROM tiles"
            case .place: "SELECT zoom_level, tile_column, tile_row, 0 FROM tiles"
            }
        try Self.reading(URL(filePath: path)) {
            let cursor = try Row.fetchCursor(database, sql: sql)
            while let row = try cursor.next() {
                let numbers = (0..<4).map { index -> Int64? in
                    let value: DatabaseValue = row[index]
                    guard case .int64(let number) = value.storage else { return nil }
                    return number
                }
                guard let zoom = numbers[0], let column = numbers[1], let tmsRow = numbers[2],
                    let number = numbers[3], 0...Int64(TileID.maxZoom) ~= zoom,
                    let tile = TileID(zoom: Int(zoom), x: Int(column), tmsY: Int(tmsRow))
                else {
                    let text = row.databaseValues.prefix(3).map(\.description).joined(separator: "/")
                    throw PackagesError(.badSource, "'\(path)' has a tile \(text), which does not exist.")
                }
                try each(tile, UInt64(bitPattern: number), 0)
            }
        }
    }

    func body(_ record: TileRecord, of tile: TileID) throws -> [UInt8] {
        try Self.reading(URL(filePath: path)) {
            let arguments: StatementArguments =
                access == .place
                ? [tile.zoom, tile.x, tile.tmsY] : [Int64(bitPattern: record.reference)]
            guard let row = try Row.fetchOne(lookup, arguments: arguments) else {
                throw PackagesError(.badSource, "'\(path)' has tile \(tile), but its body is missing.")
            }
            let value: DatabaseValue = row[0]
            guard case .blob(let data) = value.storage else {
                throw PackagesError(.badSource, "Tile \(tile) of '\(path)' has no body, or its body is not a BLOB.")
            }
            guard let dictionary, !data.isEmpty else { return [UInt8](data) }
            do throws(TileBodiesError) {
                return try PresetDictionary.decompress([UInt8](data), dictionary: dictionary)
            } catch {
                throw PackagesError(
                    .badSource, "Tile \(tile) of '\(path)' cannot be unpacked: \(error.message).", cause: error)
            }
        }
    }

    private static func metadata(
        _ database: Database, _ path: String
    ) throws -> (rows: [String: String], dictionary: [UInt8]?) {
        var rows: [String: String] = [:]
        var dictionary: [UInt8]?
        let cursor = try Row.fetchCursor(database, sql: "SELECT name, value FROM metadata LIMIT 10000")
        while let row = try cursor.next() {
            guard let name = String.fromDatabaseValue(row[0]) else { continue }
            let value: DatabaseValue = row[1]
            switch (name, value.storage) {
            case (SQLiteSeal.name, _): continue
            case ("nutikeysha1", _):
                throw PackagesError(
                    .unsupported, "'\(path)' is encrypted with a key from CARTO; only unencrypted packages can be read."
                )
            case ("shared_zlib_dict", .blob(let data)): dictionary = [UInt8](data)
            case (_, .string(let text)): rows[name] = text
            case (_, .int64(let number)): rows[name] = String(number)
            case (_, .double(let number)): rows[name] = String(number)
            default: continue
            }
        }
        return (rows, dictionary)
    }

    private static func format(_ text: String?, _ path: String) throws -> TileFormat {
        guard let format = text.flatMap(TileFormat.init(word:)) else {
            throw PackagesError(
                .badSource,
                "'\(path)' has the tile format '\((text ?? "").prefix(40))'; supported are \(TileFormat.knownWords). "
                    + "Correct the row 'format' of its metadata.")
        }
        return format
    }

    private static func hasRowNumbers(_ database: Database) -> Bool {
        // A table WITHOUT ROWID, or a view, has no row numbers.
        (try? database.makeStatement(sql: "SELECT rowid FROM tiles LIMIT 1")) != nil
    }

    /// Refuses a file in which each look-up would scan the whole table: reading it would take far too long.
    private func checkPlan(_ sql: String) throws {
        let plan = try Row.fetchAll(
            database, sql: "EXPLAIN QUERY PLAN \(sql)",
            arguments: StatementArguments(Array(repeating: 0, count: sql.filter { $0 == "?" }.count)))
        let steps = plan.compactMap { row -> String? in row["detail"] }
        guard let slow = steps.first(where: { $0.contains("SCAN") || $0.contains("AUTOMATIC") }) else { return }
        throw PackagesError(
            .unsupported,
            "'\(path)' has no index for its tiles (\(slow)); make one on zoom_level, tile_column and tile_row.")
    }

    private static func reading<Result>(_ url: URL, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            if let passing = PackagesError.passing(error, path: url.path) { throw passing }
            let isBroken = [.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_IOERR].contains(error.resultCode)
            throw PackagesError(
                .badSource,
                "'\(url.path)' cannot be read: \(error.message ?? "error \(error.resultCode)")."
                    + (isBroken ? " It is damaged or truncated; download or build it again." : ""), cause: error)
        }
    }
}
