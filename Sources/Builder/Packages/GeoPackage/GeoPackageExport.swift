internal import Digests
internal import Foundation
internal import GRDB
internal import PackageFiles
internal import SQLiteFiles
internal import TileBodies
internal import Tiles

/// Writes a package of pictures as a GeoPackage: one pyramid of tiles in Web Mercator.
enum GeoPackageExport {
    /// Writes a new file, its tiles in the order of zoom, column and row from the north, seals and flushes it, and reads it back.
    ///
    /// - Returns: Tiles written, and the file's SHA-256.
    /// - Throws: ``PackagesError`` `unsupported` for a tile that a GeoPackage cannot hold, and without any tile.
    static func write(
        _ feed: TileFeed, to url: URL, progress: (UInt64) throws -> Void
    ) throws -> (tiles: UInt64, digest: Digest) {
        let (sum, root) = try PackageDatabase.fill(url, sealed: GeoPackageSchema.metadata) { database in
            try GeoPackageSchema.begin(database)
            var (grid, tally) = (GeoPackageGrid(), TileTally())
            let insert = try database.makeStatement(
                sql: """
                    INSERT INTO \(GeoPackageSchema.tiles) (zoom_level, tile_column, tile_row, tile_data) VALUES (?, ?, ?, ?)
                    """)
            try feed.inNorthOrder { tile in
                try tally.add(tile) { tile in
                    let body = try tile.body()
                    try grid.add(tile.tile, body)
                    insert.setUncheckedArguments([tile.tile.zoom, tile.tile.x, tile.tile.y, Data(body)])
                    try insert.execute()
                }
                if tally.sum.tiles % 1_024 == 0 { try progress(tally.sum.tiles) }
            }
            guard tally.sum.tiles > 0 else {
                throw PackagesError(.unsupported, "The package has no tiles, and a GeoPackage needs at least one.")
            }
            try GeoPackageSchema.finish(database, grid, rows: feed.rows)
            try progress(tally.sum.tiles)
            return tally.sum
        }
        let digest = try Sealing.run(
            url, { try SQLiteSeal.apply(to: $0, rootPage: root ?? 0) },
            readBack: { try Sealing.refuse(try problems(of: url, sum: sum)) })
        return (sum.tiles, digest)
    }

    /// Reads a new file as its clients do, and compares it with the tiles that were written.
    private static func problems(of url: URL, sum: TileSum) throws -> [String] {
        var report = VerifyReport(path: url.path, size: 0, kind: "GeoPackage")
        var found = TileSum()
        try PackageDatabase.reading(url) { database in
            for text in try String.fetchAll(database, sql: "PRAGMA integrity_check(20)") where text != "ok" {
                report.add("sqlite-integrity", at: "file", because: text)
            }
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT zoom_level, tile_column, tile_row, tile_data FROM \(GeoPackageSchema.tiles)
                    ORDER BY zoom_level, tile_column, tile_row
                    """)
            while let row = try rows.next() {
                let place = CheckedRow(row)
                guard let tile = TileID(zoom: try place(0), x: try place(1), y: try place(2)) else {
                    return report.add("bad-tile", at: "tile \(found.tiles)", because: "its place cannot be read")
                }
                try row.withUnsafeData(atIndex: 3) { body in
                    (body ?? Data()).withUnsafeBytes { found.add(tile, TileSum.Body($0)) }
                }
            }
        }
        report.compare(found, with: sum)
        return report.problems.map(\.description)
    }
}
