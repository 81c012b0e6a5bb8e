internal import Foundation
package import GRDB

/// A file with the package's tables being written by SQLite: rows come in the package's order, in one transaction, without a journal.
///
/// Used for patches and other dialects; ``BulkPackage`` makes the packages
/// A crash leaves only a temporary file. Used by one task at a time.
package struct MBTilesBuilder: PackageWriter {
    private let bodies: Statement
    private let tiles: Statement
    private let database: Database

    /// Makes the tables of the package's own dialect in a file that has been begun.
    package init(tables database: Database) throws {
        self.database = database
        for statement in MBTilesSchema.deduplicated { try database.execute(sql: statement) }
        bodies = try database.makeStatement(sql: "INSERT INTO tiles_data VALUES (?, ?)")
        tiles = try database.makeStatement(sql: "INSERT INTO tiles_shallow VALUES (?, ?, ?, ?)")
    }

    /// What every MBTiles file begins with: its mark, the metadata table, the seal's row.
    package static func begin(_ database: Database) throws {
        try database.execute(sql: "PRAGMA application_id = \(MBTilesSchema.applicationID)")
        for statement in MBTilesSchema.metadata { try database.execute(sql: statement) }
        try SQLiteSeal.insert(into: "metadata", database)
    }

    package func add(body: UnsafeRawBufferPointer, number: UInt32) throws {
        // SQLite takes a copy before this returns.
        let data = body.baseAddress.map {
            Data(bytesNoCopy: UnsafeMutableRawPointer(mutating: $0), count: body.count, deallocator: .none)
        }
        bodies.setUncheckedArguments([Int64(number), data ?? Data()])
        try bodies.execute()
    }

    package func add(zoom: Int, column: Int, row: Int, number: UInt32) throws {
        tiles.setUncheckedArguments([zoom, column, row, Int64(number)])
        try tiles.execute()
    }

    package func add(metadata rows: [(name: String, value: String)]) throws {
        for row in rows {
            try database.execute(sql: "INSERT INTO metadata VALUES (?, ?)", arguments: [row.name, row.value])
        }
    }
}
