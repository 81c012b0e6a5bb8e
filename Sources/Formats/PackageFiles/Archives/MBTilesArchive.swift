package import Errors
internal import Foundation
internal import GRDBSQLite
package import TileBodies
package import Tiles

/// An open MBTiles file of any dialect with its prepared look-ups, also CARTO's with its preset dictionary.
package final class MBTilesArchive: TileArchive {
    private static let sql = "SELECT tile_data FROM tiles WHERE zoom_level = ?1 AND tile_column = ?2 AND tile_row = ?3"
    private static let answerSQL = "SELECT status, expires FROM tile_http WHERE place = ?1"

    package private(set) lazy var format: TileFormat? = sample.format
    package var otherKind: String? { sample.otherKind }
    private let database: ReadOnlyDatabase
    private let dialect: MBTilesDialect
    private let access: ArchiveAccess
    private let lookUp: ReadStatement
    /// What the server said about a tile; `nil` for a file without the table `tile_http`.
    private let answers: ReadStatement?
    /// Whether the file names a tile, for dialects with a separate table of bodies; only for jobs.
    private let naming: ReadStatement?
    private var rewriting: Rewriting?
    /// The first bodies of the file; what cannot be read of them is an error of the read that needs it.
    private lazy var sample = sampled()

    private var path: String { database.path }

    /// Opens a file.
    ///
    /// - Throws: ``ArchiveError`` for a missing file, one that is no MBTiles file or a patch, one that is encrypted, and,
    ///   for a renderer, one in which a look-up would read more than a path of an index.
    package init(path: String, _ access: ArchiveAccess) throws(ArchiveError) {
        self.access = access
        if !access.isProbed { try ArchiveKind.refuseGeoPackage(path) }
        database = try ReadOnlyDatabase(path: path, access)
        do throws(ArchiveError) { lookUp = try database.prepare(Self.sql) } catch {
            guard error.code == .badArchive else { throw error }
            throw ArchiveError(
                .badArchive,
                "'\(path)' is not an MBTiles file: it has no readable table or view 'tiles' (\(error.message))",
                cause: error)
        }
        dialect = try Self.dialect(database)
        try dialect.checkKey(path)
        guard !dialect.isPatch else { throw PatchSchema.refusal(path) }
        let hasAnswers = database.hasTable("tile_http")
        if !access.isProbed, !access.isBatch {
            try database.requireSearch(Self.sql)
            if hasAnswers { try database.requireSearch(Self.answerSQL) }
        }
        answers = hasAnswers ? try database.prepare(Self.answerSQL) : nil
        naming = access.isBatch ? try Self.naming(database) : nil
    }

    private static func dialect(_ database: ReadOnlyDatabase) throws(ArchiveError) -> MBTilesDialect {
        let hasMetadata = try database.prepare("SELECT 1 FROM sqlite_schema WHERE lower(name) = 'metadata' LIMIT 1")
        guard try hasMetadata.step() else { return MBTilesDialect() }
        return try MBTilesDialect(try database.prepare(MBTilesDialect.sql))
    }

    /// The query for the dialects that store bodies once, planetiler's and mbutil's; in them a named tile without a body
    /// is damage.
    private static func naming(_ database: ReadOnlyDatabase) throws(ArchiveError) -> ReadStatement? {
        guard !database.hasTable("tiles") else { return nil }
        for (table, body) in [("tiles_shallow", "tile_data_id"), ("map", "tile_id")] where database.hasTable(table) {
            let sql = """
                SELECT 1 FROM \(table) WHERE zoom_level = ?1 AND tile_column = ?2 AND tile_row = ?3 AND \(body) IS NOT NULL
                """
            // A table of that name with other columns is no such dialect.
            if let statement = try? database.prepare(sql) { return statement }
        }
        return nil
    }

    private func sampled() -> FormatSample {
        var sample = FormatSample(hint: dialect.format)
        guard let rows = try? database.prepare("SELECT tile_data FROM tiles LIMIT \(FormatSample.maxBodies)") else {
            return sample
        }
        while (try? rows.step()) == true {
            // A body that cannot be unpacked says nothing about the others.
            if rows.hasBytes(0), let body = try? decoded(rows.bytes(0)), !sample.add(body) { break }
        }
        return sample
    }

    /// A file without a table of metadata has no rows: its tiles say what they are.
    package func facts() throws(ArchiveError) -> ArchiveFacts {
        var rows: [String: String] = [:]
        if let statement = try? database.prepare("SELECT name, value FROM metadata LIMIT 10000") {
            while try statement.step() {
                if let name = statement.text(0), let value = statement.metadata(1) {
                    rows[name] = value.first == "\u{FEFF}" ? String(value.dropFirst()) : value
                }
            }
        }
        let isSealed = rows.removeValue(forKey: SQLiteSeal.name) != nil
        let isDeduplicated = database.hasTable("tiles_shallow") && database.hasTable("tiles_data")
        return ArchiveFacts(
            rows: rows, coding: .identity, isSealed: isSealed, namesBodies: isDeduplicated && dialect.dictionary == nil)
    }

    package func tileZooms() throws(ArchiveError) -> ZoomRange? {
        // SQLite finds one smallest or largest value at the end of an index, but not two at once, nor through a join.
        var table = "tiles"
        if !database.hasTable(table) {
            table =
                ["tiles_shallow", "map"].first { name in
                    (try? database.prepare("SELECT zoom_level FROM \(name) LIMIT 1")) != nil
                } ?? table
        }
        let sql = ["min", "max"].map { name in
            "(SELECT \(name)(zoom_level) FROM \(table) WHERE zoom_level BETWEEN 0 AND \(TileID.maxZoom))"
        }
        let statement = try database.prepare("SELECT " + sql.joined(separator: ", "))
        guard try statement.step(), let low = statement.integer(0), let high = statement.integer(1) else { return nil }
        return ZoomRange(min: Int(low), max: Int(high))
    }

    package func reading(_ body: () -> Void) throws(ArchiveError) {
        guard !access.isUnchanging else { return body() }
        try database.execute("BEGIN")
        body()
        try database.execute("COMMIT")
    }

    // MARK: - Look-ups

    /// In a file without `tile_http` a tile that is not there is empty: a package is complete.
    package func find(_ tile: TileID) throws(ArchiveError) -> StoredTile<TileBody> {
        let body = try body(of: tile)
        guard let answers else { return body.map { .body($0, expires: nil) } ?? .empty }
        answers.bind(Int64(clamping: tile.hilbertID), at: 1)
        defer { answers.reset() }
        guard try answers.step() else { return body.map { .body($0, expires: nil) } ?? .absent }
        if let body { return .body(body, expires: answers.time(1)) }
        return [204, 404, 410].contains(answers.int(0)) ? .empty : .absent
    }

    private func body(of tile: TileID) throws(ArchiveError) -> TileBody? {
        Self.bind(tile, in: lookUp)
        defer { lookUp.reset() }
        guard try lookUp.step(), try isAtBody(lookUp) else {
            guard let naming else { return nil }
            Self.bind(tile, in: naming)
            defer { naming.reset() }
            guard try naming.step() else { return nil }
            throw ArchiveError(.badArchive, "'\(path)' is damaged: it lists the tile but has no body for it")
        }
        let stored = lookUp.bytes(0)
        if access.isBatch { try checkRepetition(lookUp, of: tile, stored) }
        let bytes = try decoded(stored)
        return bytes.isEmpty ? nil : TileBody(bytes: bytes, coding: .identity, format: format(of: bytes))
    }

    /// What a body is: by its first bytes, or as most of the file.
    private func format(of bytes: [UInt8]) -> TileFormat? {
        bytes.withUnsafeBytes { bytes in
            if let stated = dialect.format, stated.traits.begins(bytes) { return stated }
            // Vector tiles of several encodings begin as gzip does.
            if let format, format.traits.begins(bytes) { return format }
            return TileFormat(beginning: bytes) ?? format
        }
    }

    /// Steps over rows without a body, which say nothing where the tile is repeated.
    private func isAtBody(_ rows: ReadStatement) throws(ArchiveError) -> Bool {
        while rows.isNull(0) { guard try rows.step() else { return false } }
        return true
    }

    /// Refuses a tile that the file has with several bodies; nothing says which of them is right.
    private func checkRepetition(_ rows: ReadStatement, of tile: TileID, _ body: [UInt8]) throws(ArchiveError) {
        while try rows.step() {
            guard rows.isNull(0) || rows.bytes(0) == body else { throw repeated(tile) }
        }
    }

    private static func bind(_ tile: TileID, in statement: ReadStatement) {
        statement.bind(Int64(tile.zoom), at: 1)
        statement.bind(Int64(tile.x), at: 2)
        statement.bind(Int64(tile.tmsY), at: 3)
    }

    private func decoded(_ bytes: [UInt8]) throws(ArchiveError) -> [UInt8] {
        guard bytes.count <= access.limit else {
            throw ArchiveError(
                .badArchive, "the tile has \(bytes.count) bytes; the limit is \(access.limit)")
        }
        return try dialect.decoded(bytes, limit: access.limit)
    }

    // MARK: - All tiles

    /// How bodies are looked up while all tiles are read.
    private struct Rewriting {
        let listSQL: String
        let bodySQL: String
        let bodyTable: String
        let body: ReadStatement
        let isByPlace: Bool
    }

    private func prepared() throws(ArchiveError) -> Rewriting {
        if let rewriting { return rewriting }
        let list: String
        var (body, table) = ("", "tiles")
        if try facts().goesByReference {
            list = "SELECT zoom_level, tile_column, tile_row, tile_data_id FROM tiles_shallow"
            (body, table) = ("SELECT tile_data FROM tiles_data WHERE tile_data_id = ?1", "tiles_data")
        } else if database.hasTable("tiles"), (try? database.prepare("SELECT rowid FROM tiles LIMIT 1")) != nil {
            // A table WITHOUT ROWID has no row numbers.
            list = "SELECT zoom_level, tile_column, tile_row, rowid FROM tiles"
            body = "SELECT tile_data FROM tiles WHERE rowid = ?1"
        } else {
            list = "SELECT zoom_level, tile_column, tile_row, 0 FROM tiles"
            body = Self.sql
        }
        let made = Rewriting(
            listSQL: list, bodySQL: body, bodyTable: table, body: try database.prepare(body),
            isByPlace: body == Self.sql)
        rewriting = made
        return made
    }

    /// Refuses a file in which reading every body would take far too long.
    func checkIndex() throws(ArchiveError) { try database.requireSearch(try prepared().bodySQL) }

    package func bodyLimit() throws -> UInt64 {
        let count = try database.prepare("SELECT count(*) FROM \(try prepared().bodyTable)")
        return try count.step() ? UInt64(max(0, count.integer(0) ?? 0)) : 0
    }

    package func tiles(
        strange: (VerifyReport.Problem, _ tiles: UInt64) throws -> Void, _ each: (TileID, UInt64, UInt64) throws -> Void
    ) throws {
        let rows = try database.prepare(try prepared().listSQL)
        while try rows.step() {
            if let tile = Self.tile(rows) {
                try each(tile, UInt64(bitPattern: rows.integer(3) ?? 0), 0)
            } else {
                try strange(Self.problem(rows), 1)
            }
        }
    }

    /// Calls `each` for every tile with its body in the order of zoom, column and row from the south.
    ///
    /// - Throws: ``ArchiveError``, and what `each` throws.
    package func bodiesInRowOrder(_ each: (TileID, [UInt8]) throws -> Void) throws {
        let rows = try database.prepare(
            "SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles ORDER BY zoom_level, tile_column, tile_row")
        var last: (tile: TileID, body: [UInt8])?
        while try rows.step() {
            guard let tile = Self.tile(rows) else { throw refusal(Self.problem(rows)) }
            let body: [UInt8]
            switch try self.body(rows, 3, of: tile) {
            case .bytes(let bytes): body = bytes
            case .unusable(let problem): throw refusal(problem)
            }
            if let last, last.tile == tile {
                guard last.body == body else { throw repeated(tile) }
                continue
            }
            last = (tile, body)
            try each(tile, body)
        }
    }

    private func refusal(_ problem: VerifyReport.Problem) -> ArchiveError {
        ArchiveError(
            .badArchive,
            "Tile \(problem.place) of '\(path)' cannot be used: \(problem.message). Convert the file to mbtiles first; that leaves such tiles out."
        )
    }

    private static func tile(_ rows: ReadStatement) -> TileID? {
        guard let zoom = rows.integer(0), let column = rows.integer(1), let tmsRow = rows.integer(2),
            0...Int64(TileID.maxZoom) ~= zoom
        else { return nil }
        return TileID(zoom: Int(zoom), x: Int(column), tmsY: Int(tmsRow))
    }

    /// Why a row is no tile.
    private static func problem(_ rows: ReadStatement) -> VerifyReport.Problem {
        guard let zoom = rows.integer(0), let column = rows.integer(1), let tmsRow = rows.integer(2) else {
            let text = (0..<3).map { rows.text($0) ?? "NULL" }.joined(separator: "/")
            return .init(code: "bad-tile", place: String(text.prefix(100)), message: TilePlace.noNumbers)
        }
        return .init(
            code: "bad-tile", place: "\(zoom)/\(column)/(row \(tmsRow))",
            message: TilePlace.fault(zoom: zoom, column: column, row: tmsRow))
    }

    private func repeated(_ tile: TileID) -> ArchiveError {
        ArchiveError(
            .badArchive,
            "'\(path)' has the tile \(tile) several times with different bodies; nothing says which of them is right. "
                + "Delete the wrong rows with sqlite3, or write the file again.")
    }

    package func body(_ record: TileRecord, of tile: TileID) throws(ArchiveError) -> RecordedBody {
        let rewriting = try prepared()
        if rewriting.isByPlace {
            Self.bind(tile, in: rewriting.body)
        } else {
            rewriting.body.bind(Int64(bitPattern: record.reference), at: 1)
        }
        defer { rewriting.body.reset() }
        guard try rewriting.body.step() else {
            return .unusable(.init(code: "lost-body", place: "\(tile)", message: "its body is missing"))
        }
        if rewriting.isByPlace, try !isAtBody(rewriting.body) { return Self.noBody(tile) }
        let found = try body(rewriting.body, 0, of: tile)
        if rewriting.isByPlace, rewriting.body.hasBytes(0) {
            let stored = rewriting.body.bytes(0)
            try checkRepetition(rewriting.body, of: tile, stored)
        }
        return found
    }

    private static func noBody(_ tile: TileID) -> RecordedBody {
        .unusable(
            .init(code: "no-body", place: "\(tile)", message: "the tile has no body, or its body is not a BLOB"))
    }

    private func body(_ row: ReadStatement, _ column: Int32, of tile: TileID) throws(ArchiveError) -> RecordedBody {
        guard row.hasBytes(column) else { return Self.noBody(tile) }
        do throws(ArchiveError) { return .bytes(try decoded(row.bytes(column))) } catch {
            return .unusable(.init(code: "bad-coding", place: "\(tile)", message: error.message))
        }
    }
}
