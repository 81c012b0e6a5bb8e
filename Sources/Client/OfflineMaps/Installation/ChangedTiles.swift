internal import Foundation
internal import GRDB
internal import PackageFiles
internal import SQLiteFiles
internal import Tiles

/// Which tiles a patch changes, adds or removes.
enum ChangedTiles {
    /// With more changed tiles than this there is no mask, so that memory is bounded.
    private static let limit = 1_000_000

    /// What the patch of a download has changed; `nil` when that is not known.
    ///
    /// - Parameter part: The new file that the patch has made.
    static func mask(of download: DownloadItem, made part: URL, in folder: StoreFolder) -> TileMask? {
        guard download.details?.file.format != .opaque else { return nil }
        guard download.details?.file.format == .pmtiles else {
            return download.patch.flatMap { folder.part(sha256: $0.digest) }.flatMap(mask)
        }
        do {
            guard let old = download.details?.base,
                let tiles = try Patch.changedTiles(old: old, new: part, limit: limit)
            else { return nil }
            return TileMask(tiles: tiles, maxZoom: tiles.map(\.zoom).max() ?? 0)
        } catch {
            // Without a mask a renderer drops all tiles of the package.
            return nil
        }
    }

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
