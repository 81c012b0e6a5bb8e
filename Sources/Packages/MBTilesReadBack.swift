internal import Foundation
internal import GRDB
internal import TileBodies

/// A sum over tiles and their order, quick enough to be taken twice: when they are written, and when they are read back.
///
/// Says whether what came back is what was given; protects against nobody.
struct TileSum: Equatable {
    private var value: UInt64 = 0

    mutating func add(zoom: Int, column: Int, row: Int, body: UnsafeRawBufferPointer) {
        for part in [zoom << 44 | column << 22 | row, Int(Zlib.crc32(body)) << 30 ^ body.count] {
            // Odd, so that nothing is lost; its digits are those of the golden ratio.
            value = (value &+ UInt64(truncatingIfNeeded: part)) &* 0x9E37_79B9_7F4A_7C15
            value ^= value >> 29
        }
    }
}

/// Reads an MBTiles file that was just written, as its clients will, and compares it with what was written.
enum MBTilesReadBack {
    /// What is wrong with it; empty when it is whole, its metadata is proper, and its tiles are exactly those given.
    ///
    /// - Parameters:
    ///   - tiles: How many tiles were written.
    ///   - sum: Their sum, in ascending order.
    ///   - format: What their bodies must begin like.
    /// - Throws: `DatabaseError` when SQLite cannot open it.
    static func problems(of url: URL, tiles: UInt64, sum: TileSum, format: TileFormat) throws -> [String] {
        var report = VerifyReport(path: url.path, size: 0, kind: "MBTiles")
        var found = TileSum()
        var count: UInt64 = 0
        try PackageDatabase.reading(url) { database in
            for text in try String.fetchAll(database, sql: "PRAGMA integrity_check(20)") where text != "ok" {
                report.add("sqlite-integrity", "file", text)
            }
            _ = try MetadataCheck(database, ["metadata"], &report)
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles
                    ORDER BY zoom_level, tile_column, tile_row
                    """)
            while let row = try rows.next() {
                guard let zoom = row[0] as Int?, let column = row[1] as Int?, let tmsRow = row[2] as Int? else {
                    return report.add("bad-tile", "tile \(count)", "its place is lost")
                }
                try row.withUnsafeData(atIndex: 3) { body in
                    (body ?? Data()).withUnsafeBytes {
                        found.add(zoom: zoom, column: column, row: tmsRow, body: $0)
                        if !format.begins($0) {
                            report.add(
                                "wrong-kind", "\(zoom)/\(column)/(row \(tmsRow))", "it is no \(format.rawValue) tile")
                        }
                    }
                }
                count += 1
            }
        }
        if count != tiles { report.add("other-tiles", "file", "it holds \(count) tiles, \(tiles) were written") }
        if found != sum { report.add("other-tiles", "file", "its tiles are not those that were written") }
        return report.problems.map(\.description)
    }
}
