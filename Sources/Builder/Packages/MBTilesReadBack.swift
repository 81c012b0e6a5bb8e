internal import Foundation
internal import GRDB
internal import PackageFiles
internal import TextFormats
internal import TileBodies

/// Reads a new MBTiles file of any dialect in the same way as its clients, and compares it with the written tiles.
enum MBTilesReadBack {
    /// The problems of the file; empty if it is intact, its metadata is valid, and its tiles are exactly those given.
    ///
    /// - Parameters:
    ///   - sum: The sum of the tiles that were written, in the order of zoom, column and TMS row.
    ///   - format: What their bodies must begin like.
    /// - Throws: `DatabaseError` when SQLite cannot open it.
    static func problems(of content: SealedContent, sum: TileSum, format: TileFormat) throws -> [String] {
        guard case .file = content else {
            return try PackageDatabase.reading(content) { try structure($0) + tiles(of: $0, sum: sum, format: format) }
        }
        // A file that is not small is read by two threads: one looks at its structure, one at its tiles.
        let parts = BackgroundTask("read-back") { try PackageDatabase.reading(content) { try structure($0) } }
        let found = Result { try PackageDatabase.reading(content) { try tiles(of: $0, sum: sum, format: format) } }
        return try parts.wait() + found.get()
    }

    private static func structure(_ database: Database) throws -> [String] {
        var report = VerifyReport(path: "", size: 0, kind: "MBTiles")
        for text in try String.fetchAll(database, sql: "PRAGMA integrity_check(20)") where text != "ok" {
            report.add("sqlite-integrity", at: "file", because: text)
        }
        _ = try MetadataCheck(database, tables: ["metadata"], into: &report)
        return report.problems.map(\.description)
    }

    private static func tiles(of database: Database, sum: TileSum, format: TileFormat) throws -> [String] {
        var report = VerifyReport(path: "", size: 0, kind: "MBTiles")
        var found = TileSum()
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles
                ORDER BY zoom_level, tile_column, tile_row
                """)
        while let row = try rows.next() {
            guard let zoom = row[0] as Int?, let column = row[1] as Int?, let tmsRow = row[2] as Int? else {
                report.add("bad-tile", at: "tile \(found.tiles)", because: "its coordinates cannot be read")
                break
            }
            try row.withUnsafeData(atIndex: 3) { body in
                (body ?? Data()).withUnsafeBytes {
                    found.add(zoom: zoom, column: column, row: tmsRow, TileSum.Body($0))
                    if !format.admits($0) {
                        report.add(
                            "wrong-kind", at: "\(zoom)/\(column)/(row \(tmsRow))",
                            because: "it is not \(Sentence.article(format.rawValue)) \(format.rawValue) tile"
                        )
                    }
                }
            }
        }
        report.compare(found, with: sum)
        return report.problems.map(\.description)
    }
}

extension VerifyReport {
    /// Says whether the tiles that were read back are those that were written.
    mutating func compare(_ found: TileSum, with written: TileSum) {
        if found.tiles != written.tiles {
            add(
                "other-tiles", at: "file",
                because: "it holds \(Units.count(found.tiles, of: "tile")), \(Units.count(written.tiles)) were written")
        } else if found != written {
            add("other-tiles", at: "file", because: "its tiles differ from those that were written")
        }
    }
}
