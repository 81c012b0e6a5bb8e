extension TileMask {
    /// What ``init(tiles:maxZoom:orphans:)`` does with a tile whose parent is not among the tiles.
    public enum Orphans: Sendable {
        /// The missing ancestors are added.
        case adopted
        /// The tile is left out, as the CARTO encoder does.
        case dropped
    }

    /// Makes a mask of a list of tiles in any order; duplicates do not matter.
    ///
    /// A tile deeper than `maxZoom` counts as its ancestor at that zoom. Sorts the list: eight bytes a tile of memory.
    public init(tiles: [TileID], maxZoom: Int, orphans: Orphans = .adopted) {
        let maxZoom = Self.clamped(maxZoom)
        // Pre-order keys: the path from the root, two bits a zoom, then the zoom.
        var keys = tiles.map { tile -> UInt64 in
            let tile = tile.ancestor(atZoom: maxZoom) ?? tile
            var path: UInt64 = 0
            for bit in stride(from: tile.zoom - 1, through: 0, by: -1) {
                path = path << 2 | UInt64(tile.quadrant(bit))
            }
            return (path << UInt64(2 * (TileID.maxZoom - tile.zoom) + 5)) | UInt64(tile.zoom)
        }
        keys.sort()
        var builder = MaskBuilder(maxZoom: maxZoom)
        let root = Self.node(of: keys[...], zoom: 0, adopting: orphans == .adopted, in: &builder)
        self = builder.mask(root)
    }

    private static func node(
        of keys: ArraySlice<UInt64>, zoom: Int, adopting: Bool, in builder: inout MaskBuilder
    ) -> MaskNode {
        guard let first = keys.first, adopting || first & 31 == UInt64(zoom) else { return .absent }
        if zoom == builder.maxZoom { return .through(zoom) }
        var rest = keys.drop { $0 & 31 == UInt64(zoom) }
        var children = MaskChildren()
        for quadrant in 0..<4 {
            let shift = UInt64(2 * (TileID.maxZoom - zoom - 1) + 5)
            let own = rest.prefix { $0 >> shift & 3 == UInt64(quadrant) }
            rest = rest[own.endIndex...]
            children[quadrant] = node(of: own, zoom: zoom + 1, adopting: adopting, in: &builder)
        }
        return builder.join(children, zoom: zoom)
    }
}
