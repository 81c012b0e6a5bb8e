internal import Regions
internal import Synchronization
internal import Tiles
internal import WorldTiles

/// The embedded outlines as a base map, made at the first use: they take 40 MB of memory.
final class WorldMap: Sendable {
    /// The deepest zoom of its TileJSON.
    static let maxZoom = 14

    private let cutter = Mutex<TileCutter?>(nil)
    private let regions = Mutex<RegionTree?>(nil)

    /// The tile; `nil` where there is only sea.
    ///
    /// Takes milliseconds; blocks.
    ///
    /// - Throws: ``Problem`` `internal-error` when the embedded tree cannot be read.
    func tile(_ tile: TileID, language: String) throws(Problem) -> WorldTile? {
        WorldTile.make(tile, from: try made(), language: language)
    }

    /// The embedded tree of regions.
    ///
    /// - Throws: ``Problem`` `internal-error`.
    func tree() throws(Problem) -> RegionTree {
        let tree = regions.withLock { regions -> RegionTree? in
            // The tree is a part of the program; a damaged one is reported below.
            if regions == nil { regions = try? RegionTree.embedded() }
            return regions
        }
        guard let tree else { throw Problem(.internalError, "The embedded regions cannot be read.") }
        return tree
    }

    private func made() throws(Problem) -> TileCutter {
        let tree = try tree()
        return cutter.withLock { cutter in
            let made = cutter ?? TileCutter(tree: tree)
            cutter = made
            return made
        }
    }
}
