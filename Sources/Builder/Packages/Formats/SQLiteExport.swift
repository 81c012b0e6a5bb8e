internal import Digests
internal import Foundation
internal import GRDB
internal import PackageFiles
internal import TileBodies

/// Writes the SQLite forms of a package.
enum SQLiteExport {
    /// Writes the package itself, its tiles in the order of zoom, column and TMS row, seals and flushes it, and reads it
    /// back.
    ///
    /// - Returns: Tiles written, and the file's SHA-256.
    static func package(
        _ feed: TileFeed, to url: URL, progress: (UInt64) throws -> Void
    ) throws -> (tiles: UInt64, digest: Digest) {
        let check = { (sum: TileSum, _: SealedContent) in try readBack(url, expecting: sum, format: feed.format) }
        let (sum, digest) = try BulkPackage.write(url, readBack: check) { builder in
            let sum = try fill(DeduplicatedTable(builder), from: feed, progress: progress)
            builder.add(metadata: sorted(feed.rows))
            return sum
        }
        return (sum.tiles, digest)
    }

    /// Does the same for tables that SQLite fills.
    ///
    /// - Parameter table: Makes the tables.
    static func write(
        _ feed: TileFeed, _ rows: [String: String], into table: (Database) throws -> some TileTable, to url: URL,
        progress: (UInt64) throws -> Void
    ) throws -> (tiles: UInt64, digest: Digest) {
        let (sum, root) = try PackageDatabase.fill(url, sealed: "metadata") { database in
            try MBTilesBuilder.begin(database)
            let sum = try fill(try table(database), from: feed, progress: progress)
            for row in sorted(rows) {
                try database.execute(sql: "INSERT INTO metadata VALUES (?, ?)", arguments: [row.name, row.value])
            }
            return sum
        }
        let digest = try Sealing.run(
            url, { try SQLiteSeal.apply(to: $0, rootPage: root ?? 0) },
            readBack: { try readBack(url, expecting: sum, format: feed.format) })
        return (sum.tiles, digest)
    }

    private static func sorted(_ rows: [String: String]) -> [(name: String, value: String)] {
        rows.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    }

    private static func readBack(_ url: URL, expecting sum: TileSum, format: TileFormat) throws {
        try Sealing.refuse(try MBTilesReadBack.problems(of: .file(url), sum: sum, format: format))
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
