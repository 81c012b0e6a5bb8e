internal import Digests
internal import Files
internal import Foundation
internal import GRDB
internal import PackageFiles
internal import TileBodies

/// Writes an offline database: one region, rows in the given order, one transaction, no journal.
final class OfflineBuilder {
    private let database: Database
    private let options: OfflineOptions
    private let packer = ZlibPacker()
    private let tiles: Statement
    private let regionTiles: Statement
    private let resources: Statement
    private let regionResources: Statement
    private(set) var tileCount: Int64 = 0
    private(set) var resourceCount: Int64 = 0
    private var content = TileContent()
    private static let region = 1

    private init(_ database: Database, _ options: OfflineOptions) throws {
        self.database = database
        self.options = options
        for statement in OfflineSchema.statements { try database.execute(sql: statement) }
        try SQLiteSeal.insert(into: OfflineSchema.sealed, database)
        try database.execute(sql: "PRAGMA user_version = \(OfflineSchema.version)")
        tiles = try database.makeStatement(
            sql: """
                INSERT INTO tiles (id, url_template, pixel_ratio, z, x, y, expires, modified, etag, data, compressed, accessed)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?, ?)
                """)
        regionTiles = try database.makeStatement(sql: "INSERT INTO region_tiles VALUES (\(Self.region), ?)")
        resources = try database.makeStatement(
            sql: """
                INSERT INTO resources (id, url, kind, expires, modified, etag, data, compressed, accessed)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
        regionResources = try database.makeStatement(sql: "INSERT INTO region_resources VALUES (\(Self.region), ?)")
    }

    /// Makes the file: runs `body` in its one transaction, closes and seals it.
    static func write<Result>(
        _ url: URL, options: OfflineOptions, _ body: (OfflineBuilder) throws -> Result
    ) throws -> Result {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { database in
            try database.execute(
                sql: """
                    PRAGMA page_size = \(PackageDatabase.pageSize);
                    PRAGMA auto_vacuum = \(OfflineSchema.autoVacuum);
                    PRAGMA encoding = 'UTF-8';
                    PRAGMA locking_mode = EXCLUSIVE;
                    PRAGMA synchronous = OFF;
                    PRAGMA cache_size = -16384;
                    """)
            _ = try Row.fetchAll(database, sql: "PRAGMA journal_mode = OFF")
        }
        let queue = try DatabaseQueue(path: url.path, configuration: configuration)
        // Only after an error, which is reported; without one the queue is closed below.
        defer { try? queue.close() }
        let (result, root) = try queue.write { database in
            let builder = try OfflineBuilder(database, options)
            return (try body(builder), try SQLiteSeal.rootPage(of: OfflineSchema.sealed, database))
        }
        try queue.close()
        try SQLiteSeal.apply(to: url, rootPage: root)
        return result
    }

    /// Adds a resource; `nil` bytes mean that the server answered 404.
    func add(url: String, kind: Int, bytes: [UInt8]?, etag: String?, modified: Int64?) throws {
        resourceCount += 1
        let changed = max(options.modified, modified ?? 0)
        let (data, isPacked) = packed(bytes)
        resources.setUncheckedArguments([
            resourceCount, url, kind, expires(changed), changed, etag, data, isPacked ? 1 : 0, changed,
        ])
        try resources.execute()
        regionResources.setUncheckedArguments([resourceCount])
        try regionResources.execute()
    }

    /// Adds a tile; `nil` bytes are an empty tile.
    func add(template: String, pixelRatio: Int, zoom: Int, column: Int, row: Int, bytes: [UInt8]?) throws {
        tileCount += 1
        let (data, isPacked) = packed(bytes)
        tiles.setUncheckedArguments([
            tileCount, template, pixelRatio, zoom, column, row, expires(options.modified), options.modified, data,
            isPacked ? 1 : 0, options.modified,
        ])
        try tiles.execute()
        regionTiles.setUncheckedArguments([tileCount])
        try regionTiles.execute()
        content.add(zoom: zoom, column: column, row: row, bytes: bytes)
    }

    /// Adds the one region.
    func add(definition: String, description: [UInt8]) throws {
        try database.execute(
            sql: "INSERT INTO regions VALUES (\(Self.region), ?, ?)", arguments: [definition, Data(description)])
    }

    /// What the tiles hash to.
    func contentHash() -> String { content.finish() }

    /// The stored form of a body, as in clients: a zlib stream if that is smaller.
    private func packed(_ bytes: [UInt8]?) -> (Data?, Bool) {
        guard let bytes else { return (nil, false) }
        let stream = packer.compress(bytes)
        return stream.count < bytes.count ? (Data(stream), true) : (Data(bytes), false)
    }

    private func expires(_ modified: Int64) -> Int64 {
        options.expiresAfter.map { modified + $0 } ?? OfflineOptions.never
    }
}

/// A hash over tiles in the order of their rows: coordinates and unpacked bodies.
struct TileContent {
    private var hash = DigestHasher()

    mutating func add(zoom: Int, column: Int, row: Int, bytes: [UInt8]?) {
        hash.update(Array("\(zoom)/\(column)/\(row) \(bytes?.count ?? -1)\n".utf8))
        if let bytes { hash.update(bytes) }
    }

    func finish() -> String { hash.finish().hex }
}
