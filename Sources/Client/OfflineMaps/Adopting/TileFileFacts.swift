internal import Errors
internal import Foundation
internal import GRDB
internal import PackageFiles
internal import SQLiteFiles
internal import Tiles

/// What a tile file says about itself: its tiles, zooms and attribution.
struct TileFileFacts: Sendable {
    /// The most tiles of a file; their places take eight bytes each while the mask is made.
    private static let maxTiles: UInt64 = 50_000_000

    var mask: TileMask
    var zooms: ZoomRange
    var attribution: String?
    /// The address that its tiles have on the network, in a MapLibre database.
    var template: String?
    /// Whether some bodies are no tiles.
    var hasUnusable = false

    /// The places of all tiles; rows that are no tiles are passed over.
    ///
    /// - Throws: ``ArchiveError`` for a file that cannot be read, or is too slow to read.
    static func places(_ archive: any TileArchive, _ file: URL) throws -> [TileID] {
        var tiles: [TileID] = []
        try archive.tiles { tile, _, _ in
            guard tiles.count < maxTiles else { throw tooMany(file) }
            tiles.append(tile)
        }
        return tiles
    }

    /// The facts of an archive with these tiles.
    init(_ archive: any TileArchive, _ file: URL, tiles: [TileID]) throws {
        var next = tiles.makeIterator()
        (mask, zooms) = try Self.collect(file) { next.next() }
        attribution = try archive.facts().rows["attribution"].map { String($0.prefix(2_000)) }
    }

    /// Reads the tiles of a MapLibre database: those of the address that has the most.
    init(maplibre file: URL) throws {
        _ = try MapLibreHandle(path: file.path, ArchiveAccess())
        let read = try AnySQLiteFile.open(file).read { database in
            let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            guard version == 6 else {
                let words = "a MapLibre database with the schema version \(version); the known one is 6"
                throw ArchiveError(.unsupported, "'\(file.path)' is \(words).")
            }
            let template = try String.fetchOne(
                database, sql: "SELECT url_template FROM tiles GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1")
            let rows = try Row.fetchCursor(
                database, sql: "SELECT z, x, y FROM tiles WHERE url_template = ?", arguments: [template])
            let (mask, zooms) = try Self.collect(file) {
                while let row = try rows.next() {
                    guard let zoom = Int.fromDatabaseValue(row[0]), let column = Int.fromDatabaseValue(row[1]),
                        let place = Int.fromDatabaseValue(row[2])
                    else { throw ArchiveError(.badArchive, "A tile of '\(file.path)' has no zoom, column and row.") }
                    if let tile = TileID(zoom: zoom, x: column, y: place) { return tile }
                }
                return nil
            }
            return (mask, zooms, template)
        }
        (mask, zooms, template) = read
    }

    /// The mask of tiles and their zooms.
    private static func collect(_ file: URL, _ next: () throws -> TileID?) throws -> (TileMask, ZoomRange) {
        var tiles: [TileID] = []
        var (low, high) = (TileID.maxZoom, 0)
        while let tile = try next() {
            (low, high) = (min(low, tile.zoom), max(high, tile.zoom))
            guard tiles.count < maxTiles else { throw tooMany(file) }
            tiles.append(tile)
        }
        guard let zooms = ZoomRange(min: low, max: high) else {
            throw ArchiveError(.badArchive, "'\(file.path)' has no tile.")
        }
        return (TileMask(tiles: tiles, maxZoom: high), zooms)
    }

    private static func tooMany(_ file: URL) -> ArchiveError {
        ArchiveError(.unsupported, "'\(file.path)' has more than \(maxTiles) tiles.")
    }
}
