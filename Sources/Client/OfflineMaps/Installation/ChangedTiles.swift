internal import Foundation
internal import GRDB
internal import SQLiteFiles
internal import Tiles

/// Which tiles a patch changes, adds or removes.
enum ChangedTiles {
    /// The tiles of a patch file; `nil` when it cannot be read.
    static func mask(of patch: URL) -> TileMask? {
        do {
            return try AnySQLiteFile.open(patch).read { database in
                var tiles: [TileID] = []
                for table in ["tiles", "tile_deltas"] where try database.tableExists(table) {
                    let rows = try Row.fetchCursor(
                        database, sql: "SELECT zoom_level, tile_column, tile_row FROM \(table)")
                    while let row = try rows.next() {
                        guard let zoom = Int.fromDatabaseValue(row[0]), let column = Int.fromDatabaseValue(row[1]),
                            let number = Int.fromDatabaseValue(row[2]),
                            let tile = TileID(zoom: zoom, x: column, tmsY: number)
                        else { return nil }
                        tiles.append(tile)
                    }
                }
                return TileMask(tiles: tiles, maxZoom: tiles.map(\.zoom).max() ?? 0)
            }
        } catch {
            // Without a mask a renderer drops all tiles of the package.
            return nil
        }
    }
}
