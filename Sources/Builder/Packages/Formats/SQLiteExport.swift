internal import Digests
internal import Foundation
internal import GRDB
internal import PackageFiles
internal import TileBodies

/// Writes the SQLite forms of a package.
enum SQLiteExport {
    /// Writes a new file with the feed's tiles in the order of zoom, column and TMS row, seals and flushes it, and reads it back.
    ///
    /// - Returns: Tiles written, and the file's SHA-256.
    static func write(
        _ feed: TileFeed, as format: PackageFormat, to url: URL, progress: (UInt64) throws -> Void
    ) throws -> (tiles: UInt64, digest: Digest) {
        let values = format == .carto ? CartoMetadata.rows(feed.rows) : feed.rows
        let rows = values.keys.sorted().map { (name: $0, value: values[$0, default: ""]) }
        guard [.mbtilesFlat, .carto, .mbtilesNormalized].contains(format) else {
            let check = { (sum: TileSum) in try readBack(url, expecting: sum, format: feed.format) }
            let (sum, digest) = try BulkPackage.write(url, readBack: check) { builder in
                let sum = try fill(DeduplicatedTable(builder), from: feed, progress: progress)
                builder.add(metadata: rows)
                return sum
            }
            return (sum.tiles, digest)
        }
        let (sum, root) = try PackageDatabase.fill(url, sealed: "metadata") { database in
            try MBTilesBuilder.begin(database)
            let sum =
                format == .mbtilesNormalized
                ? try fill(NormalizedTable(database), from: feed, progress: progress)
                : try fill(FlatTable(database), from: feed, progress: progress)
            for row in rows {
                try database.execute(sql: "INSERT INTO metadata VALUES (?, ?)", arguments: [row.name, row.value])
            }
            return sum
        }
        let digest = try Sealing.run(
            url, { try SQLiteSeal.apply(to: $0, rootPage: root ?? 0) },
            readBack: { try readBack(url, expecting: sum, format: feed.format) })
        return (sum.tiles, digest)
    }

    private static func readBack(_ url: URL, expecting sum: TileSum, format: TileFormat) throws {
        try Sealing.refuse(try MBTilesReadBack.problems(of: url, sum: sum, format: format))
    }

    private static func fill(
        _ table: some TileTable, from feed: TileFeed, progress: (UInt64) throws -> Void
    ) throws -> TileSum {
        var table = table
        var tally = TileTally()
        try feed.inRowOrder { tile in
            try tally.add(tile) { try table.add($0) }
            if tally.sum.tiles % 1_024 == 0 { try progress(tally.sum.tiles) }
        }
        try table.finish()
        try progress(tally.sum.tiles)
        return tally.sum
    }
}
