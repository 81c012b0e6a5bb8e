internal import Foundation
internal import GRDB

/// Writes the SQLite forms of a package.
enum SQLiteExport {
    /// Writes a new file with the feed's tiles in the order of zoom, column and TMS row.
    ///
    /// - Returns: Tiles written.
    static func write(
        _ feed: TileFeed, as format: PackageFormat, to url: URL, progress: (UInt64) throws -> Void
    ) throws -> UInt64 {
        try PackageDatabase.write(url, sealed: "metadata") { database in
            try MBTilesBuilder.begin(database)
            let tiles =
                switch format {
                case .mbtilesFlat, .carto: try fill(FlatTable(database), feed, progress)
                case .mbtilesNormalized: try fill(NormalizedTable(database), feed, progress)
                case .mbtiles, .pmtiles, .maplibre: try fill(DeduplicatedTable(database), feed, progress)
                }
            let rows = format == .carto ? CartoMetadata.rows(feed.rows) : feed.rows
            for name in rows.keys.sorted() {
                try database.execute(
                    sql: "INSERT INTO metadata VALUES (?, ?)", arguments: [name, rows[name, default: ""]])
            }
            return tiles
        }
    }

    private static func fill(
        _ table: some TileTable, _ feed: TileFeed, _ progress: (UInt64) throws -> Void
    ) throws -> UInt64 {
        var table = table
        var tiles: UInt64 = 0
        try feed.inRowOrder { tile in
            try table.add(tile)
            tiles += 1
            if tiles % 1_024 == 0 { try progress(tiles) }
        }
        try table.finish()
        try progress(tiles)
        return tiles
    }
}
