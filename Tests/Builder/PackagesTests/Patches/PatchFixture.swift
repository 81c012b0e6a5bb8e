import Foundation
import GRDB
import Packages
import Shards
import Testing
import TileBodies
import Tiles

/// Versions of the made-up map, and files of other makers' dialects with the same tiles.
struct PatchFixture {
    let scratch: Scratch
    let world: World
    let old: URL
    let oldReceipt: PackageReceipt

    init(padding: Int = 0) throws {
        scratch = try Scratch()
        world = try World(zooms: "0-8", padding: padding)
        old = scratch.file("old.mbtiles")
        oldReceipt = try MBTilesMerge.run(try world.spec, shards: try world.shards(2, in: scratch, seed: 1), into: old)
    }

    /// The package as Packhorse publishes it when tiles changed; `nil` from `edit` makes a tile empty.
    func version(_ name: String, _ edit: (Int, Sample) -> [UInt8]?) throws -> (url: URL, receipt: PackageReceipt) {
        let samples = world.samples.enumerated().map { Sample(tile: $1.tile, body: edit($0, $1)) }
        let url = scratch.file("\(name).mbtiles")
        let shards = try world.shards(
            3, in: scratch, seed: UInt64(name.utf8.reduce(7) { $0 * 31 + Int($1) }), of: samples)
        return (url, try MBTilesMerge.run(try world.spec, shards: shards, into: url))
    }

    /// A version with every tenth tile changed, some removed and some added, and repeated bodies among all of them.
    func nextVersion() throws -> (url: URL, receipt: PackageReceipt) {
        try version("new") { index, sample in
            switch index % 20 {
            case 3: nil
            case 7, 17: vectorTile("changed \(index % 40)")
            case 10: vectorTile("added")
            default: sample.body
            }
        }
    }

    /// The same tiles and metadata in another dialect.
    func converted(_ source: URL, _ dialect: String) throws -> URL {
        let url = scratch.file("\(dialect)-\(source.lastPathComponent)")
        let (rows, metadata) = (try rows(source), try metadata(source))
        let queue = try DatabaseQueue(path: url.path)
        try queue.write { database in
            try database.execute(sql: "CREATE TABLE metadata (name, value)")
            for (name, value) in metadata {
                try database.execute(sql: "INSERT INTO metadata VALUES (?, ?)", arguments: [name, value])
            }
            try database.execute(sql: Self.schemas[dialect, default: ""])
            for row in rows.reversed() {
                let arguments = StatementArguments(row)
                switch dialect {
                case "normalized":
                    try database.execute(
                        sql: "INSERT OR IGNORE INTO images VALUES (hex(?1), ?2)", arguments: [row[3], row[3]])
                    try database.execute(sql: "INSERT INTO map VALUES (?, ?, ?, hex(?))", arguments: arguments)
                case "flat-with-hash":
                    try database.execute(
                        sql: "INSERT INTO tiles_with_hash VALUES (?, ?, ?, ?, 'x')", arguments: arguments)
                default: try database.execute(sql: "INSERT INTO tiles VALUES (?, ?, ?, ?)", arguments: arguments)
                }
            }
        }
        try queue.close()
        return url
    }

    static let schemas = [
        "flat": """
        CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB);
        CREATE UNIQUE INDEX tile_index ON tiles (zoom_level, tile_column, tile_row);
        """,
        "flat-without-index": "CREATE TABLE tiles (zoom_level, tile_column, tile_row, tile_data BLOB);",
        "flat-with-hash": """
        CREATE TABLE tiles_with_hash (zoom_level INTEGER NOT NULL, tile_column INTEGER NOT NULL, tile_row INTEGER NOT NULL,
        tile_data BLOB, tile_hash TEXT, PRIMARY KEY (zoom_level, tile_column, tile_row));
        CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles_with_hash;
        """,
        "normalized": """
        CREATE TABLE images (tile_id TEXT PRIMARY KEY, tile_data BLOB);
        CREATE TABLE map (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_id TEXT,
        PRIMARY KEY (zoom_level, tile_column, tile_row));
        CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, tile_data FROM map JOIN images USING (tile_id);
        """,
    ]

    func rows(_ url: URL) throws -> [[DatabaseValue]] {
        let queue = try DatabaseQueue(path: url.path)
        defer { try? queue.close() }
        return try queue.read {
            try Row.fetchAll($0, sql: "SELECT * FROM tiles ORDER BY 1, 2, 3").map { Array($0.databaseValues) }
        }
    }

    func metadata(_ url: URL) throws -> [String: String] {
        let queue = try DatabaseQueue(path: url.path)
        defer { try? queue.close() }
        return try queue.read {
            Dictionary(
                uniqueKeysWithValues: try Row.fetchAll(
                    $0, sql: "SELECT name, value FROM metadata WHERE name <> 'packhorse_seal'"
                ).map { ($0[0] as String, $0[1] as String) })
        }
    }

    /// Changes a copy of a file with SQL, as a third-party program writes it: without a seal.
    func edited(_ url: URL, _ sql: String) throws -> URL {
        let copy = scratch.file("\(UUID().uuidString).mbtiles")
        try FileManager.default.copyItem(at: url, to: copy)
        let queue = try DatabaseQueue(path: copy.path)
        try queue.write {
            try $0.execute(sql: "DELETE FROM metadata WHERE name = 'packhorse_seal';" + sql)
        }
        try queue.close()
        return copy
    }
}
