package import Digests
internal import Errors
internal import Files
package import Foundation
internal import GRDB
internal import SQLiteFiles
internal import TileBodies
package import Tiles

/// Reads a GeoPackage that Packhorse wrote completely and reports all problems.
package enum GeoPackageVerify {
    /// Verifies seal, structure, grid, metadata, mask, hash and every different body.
    ///
    /// Never changes the file. Memory: as for ``MBTilesVerify``, and one column of tiles in a temporary file. Blocks for a
    /// long time.
    ///
    /// - Parameters: As for ``PackageVerify/run(_:mask:zooms:expecting:)``.
    /// - Throws: `PackagesError` `io` when the file cannot be read at all; everything else is a problem in the report.
    package static func run(
        _ url: URL, mask: TileMask?, zooms: ZoomRange? = nil, expecting: Digest? = nil
    ) throws -> VerifyReport {
        var report: VerifyReport
        do throws(StorageError) {
            report = VerifyReport(path: url.path, size: try url.fileSize(), kind: "GeoPackage")
            report.dialect = "1.3"
            if let expecting {
                let found = try Digest.ofFile(url).digest
                if found != expecting {
                    report.add("digest-mismatch", at: "file", because: "SHA-256 is \(found), expected \(expecting)")
                }
            }
        } catch { throw PackagesError(.io, error.message, cause: error) }
        do {
            try PackageDatabase.reading(url) { try read($0, url, mask: mask, zooms: zooms, into: &report) }
        } catch let error as RowDecodingError {
            report.add("bad-geopackage", at: "file", because: "a value has a wrong type: \(error)")
        } catch let error as DatabaseError {
            report.add(
                "sqlite", at: "file", because: "SQLite cannot read it: \(error.message ?? "error \(error.resultCode)")")
        }
        return report
    }

    /// Whether a database has the table of our metadata.
    static func isOurs(_ database: Database) throws -> Bool {
        try database.tableExists(GeoPackageSchema.metadata)
    }

    private static func read(
        _ database: Database, _ url: URL, mask: TileMask?, zooms: ZoomRange?, into report: inout VerifyReport
    ) throws {
        for text in try String.fetchAll(database, sql: "PRAGMA integrity_check(20)") where text != "ok" {
            report.add("sqlite-integrity", at: "file", because: text)
        }
        try SQLiteSeal.check(url, table: GeoPackageSchema.metadata, in: database, into: &report)
        if report.seal == .none {
            report.seal = .broken
            report.add("seal-broken", at: "seal", because: "it has lost its seal")
        }
        var rows: [String: String] = [:]
        let found = try Row.fetchCursor(
            database,
            sql: "SELECT CAST(name AS TEXT), CAST(value AS TEXT) FROM \(GeoPackageSchema.metadata) LIMIT 10000")
        while let row = try found.next() {
            let row = CheckedRow(row)
            if let name: String = try row(0), let value: String = try row(1) { rows[name] = value }
        }
        let metadata = MetadataCheck(rows, requiresName: false, &report)
        try checkGrid(database, &report)
        // A pyramid counts rows from the north.
        try TileCheck(metadata, mask: mask, zooms: zooms).run(
            database, &report,
            sql: """
                SELECT zoom_level, tile_column, (1 << zoom_level) - 1 - tile_row, tile_data FROM \(GeoPackageSchema.tiles)
                ORDER BY zoom_level, tile_column, tile_row DESC
                """)
    }

    /// Compares the tables that describe the grid with the tiles.
    private static func checkGrid(_ database: Database, _ report: inout VerifyReport) throws {
        let marks = try ["application_id", "user_version"].map { try Int.fetchOne(database, sql: "PRAGMA \($0)") ?? 0 }
        if marks != [GeoPackageSchema.applicationID, GeoPackageSchema.version] {
            report.add("bad-geopackage", at: "header", because: "it is not marked as GeoPackage 1.3")
        }
        let edge = GeoPackageGrid.edge
        let sets = try Int.fetchOne(
            database,
            sql: """
                SELECT count(*) FROM gpkg_tile_matrix_set JOIN gpkg_contents USING (table_name)
                WHERE table_name = ? AND data_type = 'tiles' AND gpkg_contents.srs_id = 3857
                AND gpkg_tile_matrix_set.srs_id = 3857 AND gpkg_tile_matrix_set.min_x = ? AND gpkg_tile_matrix_set.min_y = ?
                AND gpkg_tile_matrix_set.max_x = ? AND gpkg_tile_matrix_set.max_y = ?
                """, arguments: [GeoPackageSchema.tiles, -edge, -edge, edge, edge])
        if sets != 1 {
            report.add("bad-geopackage", at: "gpkg_tile_matrix_set", because: "it has not the square of Web Mercator")
        }
        let zooms = try Row.fetchAll(
            database,
            sql: """
                SELECT zoom_level, matrix_width, matrix_height, tile_width, pixel_x_size FROM gpkg_tile_matrix
                WHERE table_name = ?
                """, arguments: [GeoPackageSchema.tiles])
        var known: Set<Int> = []
        for row in zooms {
            guard let zoom = try zoom(ofGrid: CheckedRow(row)) else {
                report.add("bad-geopackage", at: "gpkg_tile_matrix", because: "a zoom has not the grid of Web Mercator")
                continue
            }
            known.insert(zoom)
        }
        let used = try Row.fetchAll(database, sql: "SELECT DISTINCT zoom_level FROM \(GeoPackageSchema.tiles)")
        for zoom in Set(try used.map { try CheckedRow($0)(0) as Int }).subtracting(known).sorted() {
            report.add("bad-geopackage", at: "gpkg_tile_matrix", because: "it has no grid of zoom \(zoom)")
        }
    }

    /// The zoom of a row of `gpkg_tile_matrix`; `nil` when it is not the grid of Web Mercator.
    private static func zoom(ofGrid row: CheckedRow) throws -> Int? {
        let (zoom, width, height, side): (Int, Int, Int, Int) = (try row(0), try row(1), try row(2), try row(3))
        let pixel: Double = try row(4)
        guard 0...TileID.maxZoom ~= zoom, width == 1 << zoom, height == 1 << zoom, side > 0 else { return nil }
        return pixel == 2 * GeoPackageGrid.edge / (Double(1 << zoom) * Double(side)) ? zoom : nil
    }
}
