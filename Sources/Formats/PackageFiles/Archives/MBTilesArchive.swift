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
    private var lookUp: ReadStatement
    /// Whether each look-up would read the whole file, and no temporary index is there yet; only for jobs.
    private var lacksIndex = false
    /// What the server said about a tile; `nil` for a file without the table `tile_http`.
    private let answers: ReadStatement?
    /// Whether the file names a tile, for dialects with a separate table of bodies; only for jobs.
    private var naming: ReadStatement?
    /// Tells the whole tiles among the rows that repeat a place.
    private lazy var checker = BodyChecker(takesAnyPicture: true)
    private var rewriting: Rewriting?
    /// The first bodies of the file; what cannot be read of them is an error of the read that needs it.
    private lazy var sample = sampled()

    private var path: String { database.path }

    /// Opens a file.
    ///
    /// A job that looks tiles up in a file without an index on them makes a temporary one (``TemporaryIndex``).
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
        guard access.isBatch else { return }
        naming = try Self.naming(database)
        lacksIndex = try database.slowStep(of: Self.sql) != nil
    }

    /// The look-up of a tile; a job's makes the temporary index first, where one is needed.
    private func indexedLookUp() throws(ArchiveError) -> ReadStatement {
        guard lacksIndex else { return lookUp }
        lookUp = try TemporaryIndex.lookUp(in: database)
        if let named = naming { naming = try TemporaryIndex.naming(named, in: database) }
        lacksIndex = false
        return lookUp
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
        for dialect in SplitDialect.all where database.hasTable(dialect.places) {
            let sql = """
                SELECT 1 FROM \(dialect.places) WHERE zoom_level = ?1 AND tile_column = ?2 AND tile_row = ?3
                AND \(dialect.key) IS NOT NULL
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
                SplitDialect.all.map(\.places).first { name in
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
        let lookUp = try indexedLookUp()
        Self.bind(tile, in: lookUp)
        defer { lookUp.reset() }
        guard try lookUp.step(), try isAtBody(lookUp) else {
            guard let naming else { return nil }
            Self.bind(tile, in: naming)
            defer { naming.reset() }
            guard try naming.step() else { return nil }
            throw ArchiveError(.badTile, "the file lists the tile but has no body for it")
        }
        let bytes = try decoded(try chosen(lookUp, of: tile))
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
        while !rows.hasBytes(0) { guard try rows.step() else { return false } }
        return true
    }

    /// The stored body of a tile among this row and those that repeat it: the one that is a whole tile.
    ///
    /// - Throws: ``ArchiveError`` `conflicting-tiles` for different whole tiles; nothing says which of them is right.
    private func chosen(_ rows: ReadStatement, of tile: TileID) throws(ArchiveError) -> [UInt8] {
        var stored = rows.bytes(0)
        while try rows.step() {
            guard rows.hasBytes(0) else { continue }
            let other = rows.bytes(0)
            guard other != stored, let whole = settled(other) else { continue }
            if let known = settled(stored) {
                guard known == whole else { throw repeated(tile) }
            } else {
                stored = other
            }
        }
        return stored
    }

    /// The canonical form of a stored body; `nil` for one that is no tile.
    private func settled(_ stored: [UInt8]) -> [UInt8]? {
        // What cannot be unpacked is no tile.
        guard let body = try? decoded(stored) else { return nil }
        guard let format else { return body }
        // A body that is refused is no tile.
        return try? checker.check(body, coding: .identity, declared: format)
    }

    private static func bind(_ tile: TileID, in statement: ReadStatement) {
        statement.bind(Int64(tile.zoom), at: 1)
        statement.bind(Int64(tile.x), at: 2)
        statement.bind(Int64(tile.tmsY), at: 3)
    }

    private func decoded(_ bytes: [UInt8]) throws(ArchiveError) -> [UInt8] {
        guard bytes.count <= access.limit else {
            throw ArchiveError(.badTile, "the tile has \(bytes.count) bytes; the limit is \(access.limit)")
        }
        return try dialect.decoded(bytes, limit: access.limit)
    }

    // MARK: - All tiles

    /// How bodies are looked up while all tiles are read.
    private struct Rewriting {
        let listSQL: String
        let bodyTable: String
        /// By the reference of the list; `nil` where bodies are looked up by the places of their tiles.
        let body: ReadStatement?
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
        }
        let made = Rewriting(listSQL: list, bodyTable: table, body: try body.isEmpty ? nil : database.prepare(body))
        rewriting = made
        return made
    }

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
            switch self.body(rows, 3, of: tile) {
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
            .conflictingTiles,
            "'\(path)' has the tile \(tile) several times with different bodies; nothing says which of them is right. "
                + "Delete the wrong rows with sqlite3, or write the file again.")
    }

    package func body(_ record: TileRecord, of tile: TileID) throws(ArchiveError) -> RecordedBody {
        guard let bodies = try prepared().body else { return try body(at: tile) }
        bodies.bind(Int64(bitPattern: record.reference), at: 1)
        defer { bodies.reset() }
        guard try bodies.step() else { return Self.lostBody(tile) }
        return body(bodies, 0, of: tile)
    }

    private func body(at tile: TileID) throws(ArchiveError) -> RecordedBody {
        let lookUp = try indexedLookUp()
        Self.bind(tile, in: lookUp)
        defer { lookUp.reset() }
        guard try lookUp.step() else { return Self.lostBody(tile) }
        guard try isAtBody(lookUp) else { return Self.noBody(tile) }
        return recorded(try chosen(lookUp, of: tile), of: tile)
    }

    private static func lostBody(_ tile: TileID) -> RecordedBody {
        .unusable(.init(code: "lost-body", place: "\(tile)", message: "its body is missing"))
    }

    private static func noBody(_ tile: TileID) -> RecordedBody {
        .unusable(
            .init(code: "no-body", place: "\(tile)", message: "the tile has no body, or its body is not a BLOB"))
    }

    private func body(_ row: ReadStatement, _ column: Int32, of tile: TileID) -> RecordedBody {
        guard row.hasBytes(column) else { return Self.noBody(tile) }
        return recorded(row.bytes(column), of: tile)
    }

    private func recorded(_ stored: [UInt8], of tile: TileID) -> RecordedBody {
        do throws(ArchiveError) { return .bytes(try decoded(stored)) } catch {
            return .unusable(.init(code: "bad-coding", place: "\(tile)", message: error.message))
        }
    }
}
