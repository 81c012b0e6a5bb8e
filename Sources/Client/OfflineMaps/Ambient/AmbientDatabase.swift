internal import Digests
internal import Files
internal import Foundation
internal import GRDB
internal import SQLiteFiles
internal import Synchronization
internal import Tiles

/// The file `ambient.sqlite`, opened: resources by their addresses.
///
/// A transaction survives a crash of the process; a power cut may lose the last ones.
final class AmbientDatabase: Sendable {
    /// The version of the tables; a file of another version is made again.
    private static let version = 1
    /// Addresses that were read are written down when there are so many, or with the next change.
    private static let touches = 256
    // used: a number that grows, because the wall clock may go back. digest: of the body, 8 bytes of its SHA-256.
    private static let schema = """
        CREATE TABLE resource (id INTEGER PRIMARY KEY, address TEXT NOT NULL UNIQUE, tileset TEXT, place INTEGER,
        body BLOB, digest INTEGER NOT NULL, media_type TEXT, etag TEXT, modified REAL, expires REAL,
        must_revalidate INTEGER NOT NULL, checked_at REAL NOT NULL, used INTEGER NOT NULL);
        CREATE INDEX resource_used ON resource (used);
        CREATE INDEX resource_place ON resource (tileset, place) WHERE tileset IS NOT NULL;
        PRAGMA user_version = 1
        """

    /// The file is of another version, or its content contradicts itself.
    struct Unusable: Error {}

    private let queue: ClosableQueue
    private let file: URL
    private let identity: FileIdentity?
    /// Rows that were read, and in which order.
    private let touched = Mutex<[Int64: Int]>([:])

    /// Opens the file and makes the tables where they are missing.
    ///
    /// - Throws: ``Unusable``; `DatabaseError`.
    init(_ file: URL) throws {
        self.file = file
        var configuration = Configuration()
        configuration.busyMode = .timeout(2)
        configuration.journalMode = .wal
        configuration.prepareDatabase { database in
            try database.execute(
                sql: """
                    PRAGMA auto_vacuum = INCREMENTAL; PRAGMA synchronous = NORMAL; PRAGMA trusted_schema = OFF;
                    PRAGMA wal_autocheckpoint = 250; PRAGMA journal_size_limit = 1048576; PRAGMA cache_size = -512
                    """)
        }
        queue = ClosableQueue(try DatabaseQueue(path: file.path, configuration: configuration))
        identity = FileIdentity(file)
        let found = try queue.read { try Int.fetchOne($0, sql: "PRAGMA user_version") } ?? 0
        guard found == 0 || found == Self.version else { throw Unusable() }
        try queue.write { database in
            // Another process may have made them between the two looks.
            guard try Int.fetchOne(database, sql: "PRAGMA user_version") == 0 else { return }
            try database.execute(sql: Self.schema)
        }
    }

    /// Whether the path still leads to this file: another process may have cleared the cache.
    var isInPlace: Bool { identity != nil && identity == FileIdentity(file) }

    /// Writes down what was read, and closes the file.
    func close() {
        // A cache that cannot be written any more loses nothing that counts.
        try? queue.write { try flush($0) }
        try? queue.close()
    }

    /// Closes the file without writing.
    func abandon() {
        // A connection that cannot be closed goes with this object.
        try? queue.close()
    }

    // MARK: - Reading

    /// The resource of an address.
    func entry(_ address: String) throws -> AmbientEntry? {
        try first("address = ?", [address])
    }

    /// The tile of a tileset that was used last, from any address.
    func entry(_ place: AmbientEntry.Place) throws -> AmbientEntry? {
        try first(
            "tileset = ? AND place = ? ORDER BY used DESC LIMIT 1",
            [place.tileset, Int64(clamping: place.tile.hilbertID)])
    }

    private func first(_ condition: String, _ arguments: StatementArguments) throws -> AmbientEntry? {
        let row = try queue.read { database in
            let statement = try database.cachedStatement(sql: "SELECT * FROM resource WHERE \(condition)")
            return try Row.fetchOne(statement, arguments: arguments)
        }
        guard let row = row.map(CheckedRow.init) else { return nil }
        let (id, digest): (Int64, Int64) = (try row("id"), try row("digest"))
        let body: Data? = try row("body")
        guard body.map(Self.digest) ?? 0 == digest else { throw Unusable() }
        let isManyTouched = touched.withLock { touched in
            touched.removeValue(forKey: id)
            touched[id] = (touched.values.max() ?? 0) + 1
            return touched.count >= Self.touches
        }
        if isManyTouched { try queue.write { try flush($0) } }
        let tile = (try row("place") as Int64?).flatMap { UInt64(exactly: $0) }.flatMap { TileID(hilbertID: $0) }
        let place = (try row("tileset") as String?).flatMap { tileset in
            tile.map { AmbientEntry.Place(tileset: tileset, tile: $0) }
        }
        return try AmbientEntry(
            address: row("address"), place: place, body: body, mediaType: row("media_type"), etag: row("etag"),
            modified: Self.date(row("modified")), expires: Self.date(row("expires")),
            mustRevalidate: row("must_revalidate"), checked: Self.date(row("checked_at")) ?? .distantPast)
    }

    private static func date(_ seconds: Double?) -> Date? { seconds.map(Date.init(timeIntervalSince1970:)) }

    /// The first 8 bytes of the SHA-256.
    private static func digest(_ body: Data) -> Int64 {
        let text = Digest(of: [UInt8](body)).hex.prefix(16)
        return Int64(bitPattern: UInt64(text, radix: 16) ?? 0)
    }

    // MARK: - Writing

    /// Keeps a resource in place of what was known of its address; removes the ones that were not used for the longest
    /// time, so that all together take at most so many bytes.
    func insert(_ entry: AmbientEntry, limit: UInt64) throws {
        let needed = Int64(clamping: UInt64(entry.body?.count ?? 0) + 16_384)
        try queue.write { database in
            try flush(database)
            try trim(database, to: Int64(clamping: limit) - needed)
            try database.cachedStatement(
                sql: """
                    INSERT OR REPLACE INTO resource (address, tileset, place, body, digest, media_type, etag, modified,
                    expires, must_revalidate, checked_at, used) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
                    (SELECT coalesce(max(used), 0) + 1 FROM resource))
                    """
            ).execute(arguments: [
                entry.address, entry.place?.tileset, entry.place.map { Int64(clamping: $0.tile.hilbertID) },
                entry.body, entry.body.map(Self.digest) ?? 0, entry.mediaType, entry.etag,
                entry.modified?.timeIntervalSince1970, entry.expires?.timeIntervalSince1970, entry.mustRevalidate,
                entry.checked.timeIntervalSince1970,
            ])
        }
    }

    /// Forgets an address.
    func remove(_ address: String) throws {
        try queue.write { try $0.execute(sql: "DELETE FROM resource WHERE address = ?", arguments: [address]) }
    }

    /// Makes everything stale, or the tiles of one tileset: the server is asked before the next use, where it can be.
    func expire(tileset: String?) throws {
        try queue.write { database in
            try database.execute(
                sql: "UPDATE resource SET expires = 0 WHERE ?1 IS NULL OR tileset = ?1", arguments: [tileset])
        }
    }

    /// Makes the file as small as a new limit asks.
    func shrink(to limit: UInt64) throws {
        try queue.write { database in
            try trim(database, to: Int64(clamping: limit))
            try database.execute(sql: "PRAGMA incremental_vacuum")
        }
        try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    }

    private func flush(_ database: Database) throws {
        let ids = touched.withLock { touched in
            defer { touched = [:] }
            return touched.sorted { $0.value < $1.value }.map(\.key)
        }
        guard !ids.isEmpty else { return }
        let statement = try database.cachedStatement(
            sql: "UPDATE resource SET used = (SELECT max(used) + 1 FROM resource) WHERE id = ?")
        for id in ids { try statement.execute(arguments: [id]) }
    }

    private func trim(_ database: Database, to limit: Int64) throws {
        while true {
            let over = try Self.bytes(database) - limit
            guard over > 0 else { return }
            // A little more, so that not every new tile removes one.
            let goal = over + max(0, limit) / 32
            var (ids, freed) = ([Int64](), Int64(0))
            let rows = try Row.fetchCursor(
                database, sql: "SELECT id, coalesce(length(body), 0) FROM resource ORDER BY used LIMIT 1000")
            while freed < goal, let row = try rows.next().map(CheckedRow.init) {
                ids.append(try row(0))
                freed += try row(1) as Int64 + 256
            }
            guard !ids.isEmpty else { return }
            let statement = try database.cachedStatement(sql: "DELETE FROM resource WHERE id = ?")
            for id in ids { try statement.execute(arguments: [id]) }
        }
    }

    /// The bytes of the pages in use.
    private static func bytes(_ database: Database) throws -> Int64 {
        let sql =
            "SELECT page_count, freelist_count, page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
        guard let row = try Row.fetchOne(database, sql: sql).map(CheckedRow.init) else { return 0 }
        return try (row(0) as Int64 - row(1) as Int64) * (row(2) as Int64)
    }
}
