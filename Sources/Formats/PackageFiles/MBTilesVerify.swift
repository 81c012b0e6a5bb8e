public import Digests
internal import Files
public import Foundation
internal import GRDB
internal import SQLiteFiles
internal import TileBodies
public import Tiles

/// Reads an MBTiles file of any dialect completely and reports all problems.
public enum MBTilesVerify {
    /// Verifies structure, metadata, hash, mask and every different body.
    ///
    /// Never changes the file.
    ///
    /// Some changes only a digest can find: of metadata text, of bytes that SQLite does not use, and of a file that was
    /// rebuilt with a matching hash. Pass `expecting` (the catalog has it) for those.
    ///
    /// Memory: about 20 MB, and 24 bytes for each of the first million different bodies. Blocks for a long time.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - mask: Where tiles may be; `nil` for anywhere.
    ///   - zooms: The zooms tiles may have; `nil` for those of the mask.
    ///   - expecting: The digest the file must have.
    ///   - passedOver: Called with every tile of which the file has no body that is a tile.
    /// - Throws: `PackagesError` `io` when the file cannot be read at all; everything else is a problem in the report.
    public static func run(
        _ url: URL, mask: TileMask?, zooms: ZoomRange? = nil, expecting: Digest? = nil,
        passedOver: ((TileID) -> Void)? = nil
    ) throws -> VerifyReport {
        let head = try FileHead(url)
        var report = VerifyReport(path: url.path, size: head.size, kind: "MBTiles")
        if let expecting {
            let found = try Digest.ofFile(url).digest
            if found != expecting {
                report.add("digest-mismatch", at: "file", because: "SHA-256 is \(found), expected \(expecting)")
            }
        }
        guard checkHeader(head.bytes, of: url, into: &report) else { return report }
        do {
            try read(url, mask: mask, zooms: zooms, into: &report, passedOver: passedOver)
            if report.seal == .none, SQLiteSeal.isStamped(head.bytes) {
                // Packhorse wrote it, so nothing of it is passed over.
                report.seal = .broken
                report.add("seal-broken", at: "seal", because: "it has lost its seal")
            }
        } catch let error as PackagesError where error.cause is ComputedView {
            report.add("computed-view", at: "file", because: error.message)
        } catch let error as DatabaseError {
            report.add(
                "sqlite", at: "file", because: "SQLite cannot read it: \(error.message ?? "error \(error.resultCode)")")
        }
        return report
    }

    /// Whether verification can continue.
    private static func checkHeader(_ head: [UInt8], of url: URL, into report: inout VerifyReport) -> Bool {
        guard !ArchiveKind.isGeoPackage(head) else {
            report.add("not-mbtiles", at: "file", because: "it is \(ArchiveKind.geoPackageWords)")
            return false
        }
        guard let header = SQLiteFileHeader(head) else {
            report.add("not-sqlite", at: "file", because: "it does not begin with a SQLite header")
            return false
        }
        let stated = UInt64(header.pages) * UInt64(header.pageSize)
        if stated != report.size {
            // SQLite before 3.7 does not count pages.
            report.add(
                stated > report.size ? "wrong-size" : "bad-header", at: "file",
                because: "it has \(report.size) bytes, its header says \(header.pages) pages of \(header.pageSize)")
            if stated > report.size { return false }
        }
        if header.usesWAL {
            report.add("wal-mode", at: "file", because: "it is in WAL mode; readers on read-only media cannot open it")
        }
        for suffix in ["-wal", "-journal"] where AnySQLiteFile.hasChanges(url, suffix) {
            report.add(
                "side-file", at: "file",
                because:
                    "'\(url.lastPathComponent)\(suffix)' next to it has changes that are not in the file yet; close the program that writes it, or run: \(AnySQLiteFile.closingCommand(url.path))"
            )
        }
        return true
    }

    private static func read(
        _ url: URL, mask: TileMask?, zooms: ZoomRange?, into report: inout VerifyReport, passedOver: ((TileID) -> Void)?
    ) throws {
        try PackageDatabase.reading(url) { database in
            for text in try String.fetchAll(database, sql: "PRAGMA integrity_check(20)") where text != "ok" {
                report.add("sqlite-integrity", at: "file", because: text)
            }
            let tables = Set(
                try String.fetchAll(
                    database, sql: "SELECT lower(name) FROM sqlite_schema WHERE type IN ('table', 'view')"))
            report.dialect = dialect(tables)
            guard tables.contains("tiles") else {
                report.add("no-tiles", at: "file", because: "it has no table or view 'tiles'")
                return
            }
            if tables.contains("metadata") { try SQLiteSeal.check(url, table: "metadata", in: database, into: &report) }
            var metadata = try MetadataCheck(database, tables: tables, into: &report)
            let dialect = try MBTilesDialect(database)
            guard !dialect.isEncrypted else {
                return report.add(
                    "encrypted", at: "metadata", because: "the tiles are encrypted with a key from CARTO")
            }
            if dialect.dictionary != nil {
                report.add(
                    "not-canonical", at: "metadata",
                    because:
                        "the tiles are packed with a preset dictionary, which only CARTO's client reads; convert it")
            }
            metadata.take(try sampled(database, dialect), &report)
            try TileCheck(metadata, mask: mask, zooms: zooms, dialect: dialect, passedOver: passedOver)
                .run(database, &report)
            if metadata.format == nil, report.tiles > 0, !report.isPatch {
                // Bodies of no known format are checked for nothing else.
                report.add(
                    "no-known-format", at: "file",
                    because: "no tile of it is of a known format; they are \(TileFormat.knownWords)")
            }
            if report.isPatch, tables.contains("tile_deltas") { try countDeltas(database, &report) }
            if let lost = try LostBodies.count(database), lost > 0 {
                // A join does not list them.
                let problem = VerifyReport.Problem.ofLostBodies(lost)
                report.add(problem.code, at: problem.place, because: problem.message)
            }
            if report.dialect == "dedup-id" { try checkNumbers(database, &report) }
        }
    }

    /// What the first bodies are, and else what the metadata say.
    private static func sampled(_ database: Database, _ dialect: MBTilesDialect) throws -> TileFormat? {
        var sample = FormatSample(hint: dialect.format)
        let rows = try Row.fetchCursor(
            database, sql: "SELECT tile_data FROM tiles LIMIT \(FormatSample.maxBodies)")
        while let row = try rows.next() {
            let value: DatabaseValue = row[0]
            guard case .blob(let data) = value.storage else { continue }
            // One that cannot be unpacked says nothing about the others.
            if let body = try? dialect.decoded([UInt8](data)), !sample.add(body) { break }
        }
        return sample.format
    }

    /// Adds the tiles that a patch stores as deltas; their results are checked when the patch is applied.
    private static func countDeltas(_ database: Database, _ report: inout VerifyReport) throws {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT zoom_level, count(*) FROM tile_deltas
                WHERE typeof(zoom_level) = 'integer' AND zoom_level BETWEEN 0 AND \(TileID.maxZoom) GROUP BY 1
                """)
        var counts = Dictionary(uniqueKeysWithValues: report.tilesPerZoom.map { ($0.zoom, $0.tiles) })
        for row in rows {
            let tiles = UInt64(max(0, row[1] as Int64))
            counts[row[0], default: 0] += tiles
            report.tiles += tiles
        }
        report.tilesPerZoom = counts.sorted { $0.key < $1.key }.map { .init(zoom: $0.key, tiles: $0.value) }
    }

    private static func dialect(_ tables: Set<String>) -> String {
        if tables.isSuperset(of: ["tiles_shallow", "tiles_data"]) { return "dedup-id" }
        if tables.isSuperset(of: ["map", "images"]) { return "normalized" }
        if tables.contains("tiles_with_hash") { return "flat-with-hash" }
        return tables.contains("tiles") ? "flat" : "unknown"
    }

    /// Checks that no body is unused; a join does not show unused bodies.
    private static func checkNumbers(_ database: Database, _ report: inout VerifyReport) throws {
        // Bodies are numbered in the order of first use, so a gap or a surplus shows in three numbers.
        let used = try Int64.fetchOne(database, sql: "SELECT max(tile_data_id) FROM tiles_shallow") ?? 0
        let most = try Int64.fetchOne(database, sql: "SELECT max(tile_data_id) FROM tiles_data") ?? 0
        if most > used {
            report.add(
                "unused-body", at: "tiles_data",
                because: "bodies up to \(most), but tiles only refer to bodies up to \(used)")
        }
    }
}
