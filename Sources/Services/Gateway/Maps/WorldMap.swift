internal import Files
internal import Foundation
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
    private let towns = Mutex<TownTiles?>(nil)
    private let tiles = Mutex(RecentWorldTiles())
    /// As many as cores, so that they leave the other threads of the process their turn.
    private let threads = WorkThreads("packhorse.gateway.world", count: ProcessInfo.processInfo.activeProcessorCount)

    /// The tile; `nil` where there is only sea.
    ///
    /// One that is made takes milliseconds of a core; the last ones are kept.
    ///
    /// - Throws: ``Problem`` `internal-error` when the embedded tree cannot be read.
    func tile(_ id: TileID, language: String) async throws(Problem) -> WorldTile? {
        let key = RecentWorldTiles.Key(tile: id, language: language)
        if let kept = tiles.withLock({ $0.find(key) }) { return kept.tile }
        return try await threads.run { () throws(Problem) in
            // Another request may have made it while this one waited.
            if let kept = self.tiles.withLock({ $0.find(key) }) { return kept.tile }
            let made = WorldTile.make(id, from: try self.made(), language: language)
            self.tiles.withLock { $0.insert(made, key) }
            return made
        }
    }

    /// A tile that is kept; `nil` = ask ``tile(_:language:)``.
    func kept(_ id: TileID, language: String) -> RecentWorldTiles.Kept? {
        tiles.withLock { $0.find(RecentWorldTiles.Key(tile: id, language: language)) }
    }

    /// The tile with the names of towns; `nil` where there is no town.
    ///
    /// - Throws: ``Problem`` `internal-error` when the embedded list cannot be read.
    func towns(_ id: TileID) async throws(Problem) -> [UInt8]? {
        try await threads.run { () throws(Problem) in
            let tiles = self.towns.withLock { towns -> TownTiles? in
                // The list is a part of the program; a damaged one is reported below.
                if towns == nil { towns = try? TownTiles(TownList.embedded()) }
                return towns
            }
            guard let tiles else { throw Problem(.internalError, "The embedded towns cannot be read.") }
            return tiles.cut(id)
        }
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
