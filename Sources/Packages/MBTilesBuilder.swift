internal import Foundation
internal import GRDB

/// A package file being written: rows come in the package's order, in one transaction, without a journal.
///
/// A crash leaves a temporary file that nobody will ever take for a package. Used by one task at a time.
struct MBTilesBuilder {
    private let bodies: Statement
    private let tiles: Statement
    private let database: Database

    init(_ database: Database) throws {
        self.database = database
        try database.execute(sql: "PRAGMA application_id = \(MBTilesSchema.applicationID)")
        for statement in MBTilesSchema.statements { try database.execute(sql: statement) }
        bodies = try database.makeStatement(sql: "INSERT INTO tiles_data VALUES (?, ?)")
        tiles = try database.makeStatement(sql: "INSERT INTO tiles_shallow VALUES (?, ?, ?, ?)")
    }

    func add(body: [UInt8], number: UInt32) throws {
        bodies.setUncheckedArguments([Int64(number), Data(body)])
        try bodies.execute()
    }

    func add(zoom: Int, column: Int, row: Int, number: UInt32) throws {
        tiles.setUncheckedArguments([zoom, column, row, Int64(number)])
        try tiles.execute()
    }

    func add(metadata rows: [(name: String, value: String)]) throws {
        for row in rows {
            try database.execute(sql: "INSERT INTO metadata VALUES (?, ?)", arguments: [row.name, row.value])
        }
    }

    /// Runs `body` inside the one transaction and closes the file after it.
    static func write<Result>(_ url: URL, _ body: (MBTilesBuilder) throws -> Result) throws -> Result {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { database in
            try database.execute(
                sql: """
                    PRAGMA page_size = \(MBTilesSchema.pageSize);
                    PRAGMA auto_vacuum = NONE;
                    PRAGMA encoding = 'UTF-8';
                    PRAGMA locking_mode = EXCLUSIVE;
                    PRAGMA synchronous = OFF;
                    PRAGMA cache_size = -16384;
                    """)
            _ = try Row.fetchAll(database, sql: "PRAGMA journal_mode = OFF")
        }
        let queue = try DatabaseQueue(path: url.path, configuration: configuration)
        defer { try? queue.close() }
        let result = try queue.write { try body(MBTilesBuilder($0)) }
        try queue.close()
        return result
    }
}
