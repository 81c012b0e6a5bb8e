internal import Errors
public import Foundation
internal import PackageFiles
public import Tiles

/// Which tiles an MBTiles file holds and what its metadata says; bodies are not read.
public struct MBTilesContents: Sendable {
    /// The tiles and their ancestors, down to the deepest zoom there is.
    public let mask: TileMask
    /// Zooms of its tiles.
    public let zooms: ZoomRange
    /// The rows of `metadata` by name, without the seal.
    public let metadata: [String: String]

    /// Reads a file of any dialect.
    ///
    /// Memory: 16 bytes a tile. Blocks while it reads the index.
    /// - Throws: `PackagesError` `bad-source` for a file that is not MBTiles, or has no tiles.
    public static func read(_ url: URL) throws -> MBTilesContents {
        do throws(ArchiveError) {
            let archive = try MBTilesArchive(path: url.path, .batch(url.path))
            let metadata = try archive.facts().rows
            var tiles: [TileID] = []
            var (least, most) = (Int.max, Int.min)
            do {
                try archive.tiles { tile, _, _ in
                    (least, most) = (min(least, tile.zoom), max(most, tile.zoom))
                    tiles.append(tile)
                }
            } catch { throw ArchiveError(reading: error, url.path) }
            guard let zooms = ZoomRange(min: least, max: most) else {
                throw ArchiveError(.badArchive, "'\(url.path)' has no tiles.")
            }
            return MBTilesContents(mask: TileMask(tiles: tiles, maxZoom: most), zooms: zooms, metadata: metadata)
        } catch { throw PackagesError(error) }
    }
}
