internal import Foundation
internal import GRDB
internal import SQLiteFiles
internal import Tiles

/// A tile pack that is filled tile by tile: an MBTiles file with the table `tile_http`, which says what the server said.
///
/// While it is filled it is a part file; every tile is one transaction. Finished, it never changes: to add tiles, the
/// next version begins as its copy.
enum FilledPack {
    /// What the server said about a tile.
    struct Known: Sendable, Hashable {
        /// 200, or what the server answered for a place where it has no tile: 204, 404 or 410.
        var status: Int
        var etag: String?
        /// Seconds of the wall clock.
        var modified: Int64?
        /// Seconds of the wall clock.
        var expires: Int64
    }

    private static let schema = [
        "CREATE TABLE IF NOT EXISTS metadata (name TEXT PRIMARY KEY, value TEXT)",
        """
        CREATE TABLE IF NOT EXISTS tiles (zoom_level INTEGER NOT NULL, tile_column INTEGER NOT NULL,
        tile_row INTEGER NOT NULL, tile_data BLOB NOT NULL)
        """,
        "CREATE UNIQUE INDEX IF NOT EXISTS tile_index ON tiles (zoom_level, tile_column, tile_row)",
        // place: the number of the tile along the Hilbert curves, as in PMTiles.
        """
        CREATE TABLE IF NOT EXISTS tile_http (place INTEGER PRIMARY KEY, status INTEGER NOT NULL, etag TEXT,
        modified INTEGER, expires INTEGER NOT NULL)
        """,
    ]

    /// What is known of the tiles of a file; nothing for a file that is missing or is no such pack.
    static func known(_ file: URL) -> [TileID: Known] {
        guard access(file.path, R_OK) == 0 else { return [:] }
        // A pack that cannot be read is filled again.
        return (try? PartDatabase.open(file, readonly: true).read(known)) ?? [:]
    }

    /// The bytes of all tiles of a file; `nil` for a file that is missing or is no such pack.
    static func bodyBytes(_ file: URL) -> UInt64? {
        guard access(file.path, R_OK) == 0 else { return nil }
        // A pack that cannot be read is filled again.
        let sum = try? PartDatabase.open(file, readonly: true).read {
            try Int64.fetchOne($0, sql: "SELECT coalesce(sum(length(tile_data)), 0) FROM tiles")
        }
        return sum.flatMap { $0 }.map { UInt64(clamping: $0) }
    }

    static func known(_ database: Database) throws -> [TileID: Known] {
        var known: [TileID: Known] = [:]
        let rows = try Row.fetchCursor(database, sql: "SELECT place, status, etag, modified, expires FROM tile_http")
        while let row = try rows.next().map(CheckedRow.init) {
            guard let place = UInt64(exactly: try row(0) as Int64), let tile = TileID(hilbertID: place) else {
                continue
            }
            known[tile] = try Known(status: row(1), etag: row(2), modified: row(3), expires: row(4))
        }
        return known
    }

    /// Adds what the server said about one tile.
    ///
    /// - Parameter body: `nil` keeps the body that is there.
    static func put(_ tile: TileID, _ known: Known, body: Data?, into file: URL) throws {
        try PartDatabase.open(file, readonly: false).write { database in
            for statement in schema { try database.execute(sql: statement) }
            if known.status != 200 || body != nil {
                try database.execute(
                    sql: "DELETE FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ?",
                    arguments: [tile.zoom, tile.x, tile.tmsY])
            }
            if let body {
                try database.execute(
                    sql: "INSERT INTO tiles VALUES (?, ?, ?, ?)", arguments: [tile.zoom, tile.x, tile.tmsY, body])
            }
            try database.execute(
                sql: "INSERT OR REPLACE INTO tile_http VALUES (?, ?, ?, ?, ?)",
                arguments: [
                    Int64(clamping: tile.hilbertID), known.status, known.etag, known.modified, known.expires,
                ])
        }
    }

    /// Leaves only the wanted tiles, and writes the metadata that readers of MBTiles files expect.
    static func finish(_ file: URL, keeping wanted: TileMask, name: String, format: String?, attribution: String?)
        throws
    {
        let queue = try PartDatabase.open(file, readonly: false)
        var isTrimmed = false
        try queue.write { database in
            for statement in schema { try database.execute(sql: statement) }
            for tile in try known(database).keys where !wanted.contains(tile) {
                isTrimmed = true
                try database.execute(
                    sql: "DELETE FROM tile_http WHERE place = ?", arguments: [Int64(clamping: tile.hilbertID)])
                try database.execute(
                    sql: "DELETE FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ?",
                    arguments: [tile.zoom, tile.x, tile.tmsY])
            }
            var rows = ["name": name, "type": "baselayer", "version": "1.0"]
            rows["format"] = format
            rows["attribution"] = attribution
            let span = try Row.fetchOne(database, sql: "SELECT min(zoom_level), max(zoom_level) FROM tiles")
                .map(CheckedRow.init)
            (rows["minzoom"], rows["maxzoom"]) = (
                (try span?(0) as Int?).map(String.init), (try span?(1) as Int?).map(String.init)
            )
            if let bounds = wanted.bounds {
                rows["bounds"] = bounds.flatEdges.map { "\($0)" }.joined(separator: ",")
            }
            try database.execute(sql: "DELETE FROM metadata")
            for (name, value) in rows.sorted(by: { $0.key < $1.key }) {
                try database.execute(sql: "INSERT INTO metadata VALUES (?, ?)", arguments: [name, value])
            }
        }
        // A pack has at most some thousand tiles: the copy is made in a moment.
        if isTrimmed { try queue.vacuum() }
        try queue.close()
    }

    /// The first body of a file.
    static func sample(_ file: URL) throws -> Data? {
        try PartDatabase.open(file, readonly: true).read {
            try Data.fetchOne($0, sql: "SELECT tile_data FROM tiles LIMIT 1")
        }
    }
}
