public import Foundation
internal import GRDB
internal import PackageFiles
public import Tiles

/// Which tiles an MBTiles file holds and what its metadata says; bodies are not read.
public struct MBTilesContents: Sendable {
    /// The tiles and their ancestors, down to the deepest zoom there is.
    public let mask: TileMask
    /// Zooms of its tiles.
    public let zooms: ZoomRange
    /// The rows of `metadata` that are text, by name.
    public let metadata: [String: String]

    /// Reads a file of any dialect.
    ///
    /// Memory: 16 bytes a tile. Blocks while it reads the index.
    /// - Throws: `PackagesError` `bad-source` for a file that is not MBTiles, has no tiles, or has tiles with invalid
    ///   coordinates.
    public static func read(_ url: URL) throws -> MBTilesContents {
        do {
            return try PackageDatabase.reading(url) { database in
                try contents(of: database, url)
            }
        } catch let error as DatabaseError {
            throw PackagesError(
                .badSource, "'\(url.path)' cannot be read as an MBTiles file: \(error.message ?? "SQLite refuses it").",
                cause: error)
        }
    }

    private static func contents(of database: Database, _ url: URL) throws -> MBTilesContents {
        var tiles: [TileID] = []
        var (least, most) = (Int.max, Int.min)
        let rows = try Row.fetchCursor(database, sql: "SELECT zoom_level, tile_column, tile_row FROM tiles")
        while let row = try rows.next() {
            guard let tile = tile(row) else {
                throw PackagesError(
                    .badSource,
                    "'\(url.path)' has a tile with invalid coordinates: zoom, column, row \(Array(row.databaseValues))."
                )
            }
            (least, most) = (min(least, tile.zoom), max(most, tile.zoom))
            tiles.append(tile)
        }
        guard let zooms = ZoomRange(min: least, max: most) else {
            throw PackagesError(.badSource, "'\(url.path)' has no tiles.")
        }
        var metadata: [String: String] = [:]
        for row in try Row.fetchAll(database, sql: "SELECT name, value FROM metadata") {
            guard case .string(let name) = (row[0] as DatabaseValue).storage,
                case .string(let value) = (row[1] as DatabaseValue).storage
            else { continue }
            metadata[name] = value
        }
        return MBTilesContents(mask: TileMask(tiles: tiles, maxZoom: most), zooms: zooms, metadata: metadata)
    }

    /// The tile of a row, whose third number counts from the south.
    private static func tile(_ row: Row) -> TileID? {
        guard case .int64(let zoom) = (row[0] as DatabaseValue).storage,
            case .int64(let column) = (row[1] as DatabaseValue).storage,
            case .int64(let south) = (row[2] as DatabaseValue).storage, 0...Int64(TileID.maxZoom) ~= zoom,
            0..<(1 << zoom) ~= south, 0..<(1 << zoom) ~= column
        else { return nil }
        return TileID(zoom: Int(zoom), x: Int(column), y: Int((1 << zoom) - 1 - south))
    }
}
