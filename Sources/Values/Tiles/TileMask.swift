/// A set of tiles down to ``maxZoom`` that holds the parent of every tile it holds, as a quadtree.
///
/// Memory depends on the boundary of the area, not on the area: the planet is one node at any zoom. A node whose
/// children are all complete or absent takes four bytes within its parent and no group of its own; the rest take 16
/// bytes a branch. Equal sets have equal storage, however they were made, so comparing and hashing do not walk the
/// tree.
public struct TileMask: Hashable, Sendable {
    /// The deepest zoom that the mask can hold, 0...22.
    public let maxZoom: Int
    let root: MaskNode
    let groups: [MaskNode]

    init(maxZoom: Int, root: MaskNode, groups: [MaskNode] = []) {
        self.maxZoom = maxZoom
        self.root = root
        self.groups = groups
    }

    /// Makes a mask without a tile.
    ///
    /// A zoom outside 0...22 is clamped.
    public init(empty maxZoom: Int) {
        self.init(maxZoom: Self.clamped(maxZoom), root: .absent)
    }

    /// Makes a mask of every tile down to a zoom.
    ///
    /// A zoom outside 0...22 is clamped.
    public init(full maxZoom: Int) {
        self.init(maxZoom: Self.clamped(maxZoom), root: .through(Self.clamped(maxZoom)))
    }

    static func clamped(_ zoom: Int) -> Int { max(0, min(TileID.maxZoom, zoom)) }

    /// Whether there is no tile at all.
    public var isEmpty: Bool { !root.isPresent }

    /// Whether the tile is in the mask; tiles deeper than ``maxZoom`` never are.
    public func contains(_ tile: TileID) -> Bool { node(at: tile).isPresent }

    /// The child node of a present or absent node at a zoom.
    @inline(__always)
    func child(_ quadrant: Int, of node: MaskNode, zoom: Int) -> MaskNode {
        if node.isUniform { return node.depth > zoom ? node : .absent }
        if node.isFlat { return node.flatChildren >> UInt32(quadrant) & 1 == 1 ? .through(maxZoom) : .absent }
        return groups[node.group + quadrant]
    }

    /// The node of a tile, absent when the tile is not in the mask.
    func node(at tile: TileID) -> MaskNode {
        var node = root
        for zoom in 0..<tile.zoom {
            if !node.isPresent { return .absent }
            node = child(tile.quadrant(tile.zoom - 1 - zoom), of: node, zoom: zoom)
        }
        return node
    }
}
