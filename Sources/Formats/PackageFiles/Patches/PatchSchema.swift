package import Errors
internal import Foundation
internal import GRDB

/// The tables of a patch and the names of its metadata: an MBTiles file with one table `tiles` (docs/formats/patch.md).
package enum PatchSchema {
    /// The error for a patch where a package is expected.
    package static func refusal(_ path: String) -> ArchiveError {
        ArchiveError(
            .unsupported,
            "'\(path)' is a patch, not a package: it has only the changed tiles. Create the package first with 'packhorse apply'."
        )
    }

    /// The hash of the package the patch is for; no package has it.
    package static let before = "agg_tiles_hash_before_apply"
    /// The hash of the package it makes.
    static let after = "agg_tiles_hash_after_apply"
    /// The hash of the patch's own rows.
    static let own = "agg_tiles_hash"

    /// Bytes of a page.
    ///
    /// The smallest size that SQLite has: on average half a page is lost after each body, and a patch is downloaded
    /// (Monaco 2012 to 2021: 200 KB with 512, 221 KB with 4,096).
    static let pageSize = 512

    /// The table of what differs.
    static let tiles = """
        CREATE TABLE tiles (zoom_level INTEGER NOT NULL, tile_column INTEGER NOT NULL, tile_row INTEGER NOT NULL, \
        tile_data BLOB, PRIMARY KEY (zoom_level, tile_column, tile_row))
        """

    /// The table of deltas: tiles that are stored as changes of their old bodies.
    static let deltas = """
        CREATE TABLE tile_deltas (zoom_level INTEGER NOT NULL, tile_column INTEGER NOT NULL, tile_row INTEGER NOT NULL, \
        tile_delta BLOB NOT NULL, PRIMARY KEY (zoom_level, tile_column, tile_row))
        """
}

/// A patch being written: rows in ascending order, in one transaction, without a journal.
struct PatchBuilder {
    private let tiles: Statement
    private let deltas: Statement?
    private let metadata: Statement

    private init(_ database: Database, deltas hasDeltas: Bool) throws {
        try MBTilesBuilder.begin(database)
        try database.execute(sql: PatchSchema.tiles)
        tiles = try database.makeStatement(sql: "INSERT INTO tiles VALUES (?, ?, ?, ?)")
        if hasDeltas { try database.execute(sql: PatchSchema.deltas) }
        deltas = hasDeltas ? try database.makeStatement(sql: "INSERT INTO tile_deltas VALUES (?, ?, ?, ?)") : nil
        metadata = try database.makeStatement(sql: "INSERT INTO metadata VALUES (?, ?)")
    }

    func add(_ row: TileRow) throws {
        let statement = row.isDelta ? deltas ?? tiles : tiles
        statement.setUncheckedArguments([row.zoom, row.column, row.row, row.body.map { Data($0) }])
        try statement.execute()
    }

    func add(metadata rows: [String: String]) throws {
        for (name, value) in rows.sorted(by: { $0.key < $1.key }) {
            metadata.setUncheckedArguments([name, value])
            try metadata.execute()
        }
    }

    /// Runs `body` inside the one transaction, closes the file after it and seals it.
    static func write<Result>(
        _ url: URL, deltas: Bool, _ body: (PatchBuilder) throws -> Result
    ) throws -> Result {
        try PackageDatabase.write(url, sealed: "metadata", pageSize: PatchSchema.pageSize) {
            try body(PatchBuilder($0, deltas: deltas))
        }
    }
}
