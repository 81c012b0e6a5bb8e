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
        let values = format == .carto ? CartoMetadata.rows(feed.rows) : feed.rows
        let rows = values.keys.sorted().map { (name: $0, value: values[$0, default: ""]) }
        guard [.mbtilesFlat, .carto, .mbtilesNormalized].contains(format) else {
            return try PackageWriting.write(url, isSealed: true) { builder in
                let tiles = try fill(DeduplicatedTable(builder), feed, progress)
                try builder.add(metadata: rows)
                return tiles
            }.0
        }
        return try PackageDatabase.write(url, sealed: "metadata") { database in
            try MBTilesBuilder.begin(database)
            let tiles =
                format == .mbtilesNormalized
                ? try fill(NormalizedTable(database), feed, progress) : try fill(FlatTable(database), feed, progress)
            for row in rows {
                try database.execute(sql: "INSERT INTO metadata VALUES (?, ?)", arguments: [row.name, row.value])
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
