package import Foundation
internal import PMTiles
package import Tiles

extension Patch {
    /// The tiles that two PMTiles archives do not have alike: other bodies, or a body in one of them only.
    ///
    /// Reads the directories of both, and the bodies of equal length. Blocks for that time.
    /// - Parameter limit: How many tiles there may be.
    /// - Returns: `nil` when there are more.
    /// - Throws: `bad-source`, `io`.
    package static func changedTiles(old: URL, new: URL, limit: Int) throws -> [TileID]? {
        do {
            let (old, new) = (try PMTilesFile(path: old.path), try PMTilesFile(path: new.path))
            var difference = PMTilesDifference(old, new)
            var tiles: [TileID] = []
            while let stretch = try difference.next({
                try old.body(at: $0, length: $2) == new.body(at: $1, length: $2)
            }) {
                guard !stretch.isEqual else { continue }
                guard stretch.count <= UInt64(limit - tiles.count) else { return nil }
                // Tiles that are too deep have no id, and no reader asks for them.
                tiles += (stretch.tile..<stretch.tile + stretch.count).compactMap { TileID(hilbertID: $0) }
            }
            return tiles
        } catch { throw PackagesError.wrapping(error, path: new.path) }
    }
}
