internal import Foundation
internal import GRDB
internal import PMTiles
internal import PackageFiles
internal import SQLiteFiles
internal import TextFormats
internal import Tiles

/// What a tile file says about itself: its tiles, zooms and attribution.
struct TileFileFacts: Sendable {
    /// The most tiles of a file; their places take eight bytes each while the mask is made.
    private static let mostTiles: UInt64 = 50_000_000

    var mask: TileMask
    var zooms: ZoomRange
    var attribution: String?
    /// The address that its tiles have on the network, in a MapLibre database.
    var template: String?

    /// Reads an MBTiles file, and a tile of it.
    ///
    /// - Throws: ``TileFileError`` for one that cannot be read or is too slow to read.
    init(mbtiles file: URL) throws {
        // Refuses a file without an index.
        _ = try MBTilesHandle(path: file.path, isUnchanging: true)
        (mask, zooms, attribution) = try AnySQLiteFile.open(file).read { database in
            let rows = try Row.fetchCursor(database, sql: "SELECT zoom_level, tile_column, tile_row FROM tiles")
            let (mask, zooms) = try Self.collect {
                while let row = try rows.next() {
                    guard let zoom = Int.fromDatabaseValue(row[0]), let column = Int.fromDatabaseValue(row[1]),
                        let south = Int.fromDatabaseValue(row[2])
                    else { throw TileFileError(text: "a tile has no zoom, column and row") }
                    if let tile = TileID(zoom: zoom, x: column, tmsY: south) { return tile }
                }
                return nil
            }
            let attribution = try String.fetchOne(
                database, sql: "SELECT CAST(value AS TEXT) FROM metadata WHERE name = 'attribution'")
            return (mask, zooms, attribution)
        }
        attribution = attribution.map { String($0.prefix(2_000)) }
    }

    /// Reads a PMTiles archive, and all of its directories.
    init(pmtiles file: URL) throws {
        let archive = try PMTilesFile(path: file.path)
        var tiles: [TileID] = []
        var isProbed = false
        try archive.walk { entry in
            if !isProbed { _ = try archive.body(at: entry.offset, length: entry.length) }
            isProbed = true
            guard entry.run <= Self.mostTiles, UInt64(tiles.count) + entry.run <= Self.mostTiles else {
                throw TileFileError(text: "it has more than \(Self.mostTiles) tiles")
            }
            for id in entry.tile..<entry.tile + entry.run {
                if let tile = TileID(hilbertID: id) { tiles.append(tile) }
            }
        }
        var next = tiles.makeIterator()
        (mask, zooms) = try Self.collect { next.next() }
        if case .object(let root)? = JSONValue(json: try archive.metadata()),
            case .string(let text)? = root["attribution"]
        {
            attribution = String(text.prefix(2_000))
        }
    }

    /// Reads the tiles of a MapLibre database: those of the address that has the most.
    init(maplibre file: URL) throws {
        _ = try MapLibreHandle(path: file.path, isUnchanging: true)
        let read = try AnySQLiteFile.open(file).read { database in
            let template = try String.fetchOne(
                database, sql: "SELECT url_template FROM tiles GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1")
            let rows = try Row.fetchCursor(
                database, sql: "SELECT z, x, y FROM tiles WHERE url_template = ?", arguments: [template])
            let (mask, zooms) = try Self.collect {
                while let row = try rows.next() {
                    guard let zoom = Int.fromDatabaseValue(row[0]), let column = Int.fromDatabaseValue(row[1]),
                        let place = Int.fromDatabaseValue(row[2])
                    else { throw TileFileError(text: "a tile has no zoom, column and row") }
                    if let tile = TileID(zoom: zoom, x: column, y: place) { return tile }
                }
                return nil
            }
            return (mask, zooms, template)
        }
        (mask, zooms, template) = read
    }

    /// The mask of tiles and their zooms.
    private static func collect(_ next: () throws -> TileID?) throws -> (TileMask, ZoomRange) {
        var tiles: [TileID] = []
        var (low, high) = (TileID.maxZoom, 0)
        while let tile = try next() {
            (low, high) = (min(low, tile.zoom), max(high, tile.zoom))
            guard tiles.count < mostTiles else { throw TileFileError(text: "it has more than \(mostTiles) tiles") }
            tiles.append(tile)
        }
        guard let zooms = ZoomRange(min: low, max: high) else { throw TileFileError(text: "it has no tile") }
        return (TileMask(tiles: tiles, maxZoom: high), zooms)
    }
}
