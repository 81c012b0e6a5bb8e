/// One node of a mask's quadtree in four bytes: what a mask holds of one tile and everything below it.
///
/// | code | meaning |
/// |---|---|
/// | 0 | absent: neither the tile nor anything below it |
/// | 1...23 | through(k), k = code - 1: the tile and everything below it down to zoom k, nothing deeper |
/// | 25...38 | flat: the tile; of its children, those in the four low bits of `code - 24` are through(maxZoom), the rest absent |
/// | 40... | a group: the tile, and four child nodes at `groups[4 * (code - 40)]` |
struct MaskNode: Hashable, Sendable {
    var code: UInt32

    static let absent = MaskNode(code: 0)
    static let firstFlat: UInt32 = 24
    static let firstGroup: UInt32 = 40

    @inline(__always)
    static func through(_ zoom: Int) -> MaskNode { MaskNode(code: UInt32(truncatingIfNeeded: zoom) + 1) }

    @inline(__always) var isPresent: Bool { code != 0 }
    /// The deepest zoom of a complete subtree; -1 for an absent node.
    ///
    /// Only for codes below ``firstFlat``.
    @inline(__always) var depth: Int { Int(code) - 1 }
    @inline(__always) var isUniform: Bool { code < Self.firstFlat }
    @inline(__always) var isFlat: Bool { code >= Self.firstFlat && code < Self.firstGroup }
    @inline(__always) var flatChildren: UInt32 { code - Self.firstFlat }
    @inline(__always) var group: Int { Int(code - Self.firstGroup) * 4 }
}

/// Four children in CARTO's order: south-west, south-east, north-west, north-east.
struct MaskChildren {
    var first = MaskNode.absent
    var second = MaskNode.absent
    var third = MaskNode.absent
    var fourth = MaskNode.absent

    subscript(quadrant: Int) -> MaskNode {
        @inline(__always) get {
            switch quadrant {
            case 0: first
            case 1: second
            case 2: third
            default: fourth
            }
        }
        @inline(__always) set {
            switch quadrant {
            case 0: first = newValue
            case 1: second = newValue
            case 2: third = newValue
            default: fourth = newValue
            }
        }
    }

    @inline(__always) var isEmpty: Bool { first.code | second.code | third.code | fourth.code == 0 }
}

/// Builds a mask's groups bottom up, children before parents in quadrant order, and joins equal subtrees.
///
/// Every way to make a mask goes through ``join(_:zoom:)`` in that order, so equal sets get equal arrays.
struct MaskBuilder {
    let maxZoom: Int
    private(set) var groups: [MaskNode] = []

    /// The node of a present tile at a zoom above ``maxZoom`` with these children.
    @inline(__always)
    mutating func join(_ children: MaskChildren, zoom: Int) -> MaskNode {
        if children.isEmpty { return .through(zoom) }
        let full = MaskNode.through(maxZoom)
        if children.first.isUniform, children.first == children.second, children.first == children.third,
            children.first == children.fourth
        {
            return children.first
        }
        var flat: UInt32 = 0
        var isFlat = true
        for quadrant in 0..<4 {
            let child = children[quadrant]
            if child == full { flat |= 1 << UInt32(quadrant) } else if child.isPresent { isFlat = false }
        }
        if isFlat { return MaskNode(code: MaskNode.firstFlat + flat) }
        let index = groups.count / 4
        precondition(
            index < Int(UInt32.max - MaskNode.firstGroup), "A mask of 2^32 groups (64 GiB) is not supported.")
        groups.append(children.first)
        groups.append(children.second)
        groups.append(children.third)
        groups.append(children.fourth)
        return MaskNode(code: MaskNode.firstGroup + UInt32(index))
    }

    /// Copies a node of a mask whose maxZoom may differ.
    mutating func copy(_ node: MaskNode, of mask: TileMask, zoom: Int) -> MaskNode {
        if node.isUniform || node.isFlat && mask.maxZoom == maxZoom { return node }
        var children = MaskChildren()
        for quadrant in 0..<4 {
            children[quadrant] = copy(mask.child(quadrant, of: node, zoom: zoom), of: mask, zoom: zoom + 1)
        }
        return join(children, zoom: zoom)
    }

    /// The finished mask.
    func mask(_ root: MaskNode) -> TileMask { TileMask(maxZoom: maxZoom, root: root, groups: groups) }
}

extension TileID {
    /// The number of the child within a mask's group on the path from the root to this tile, for a bit of x and y.
    @inline(__always)
    func quadrant(_ bit: Int) -> Int { (y >> bit & 1 ^ 1) << 1 | x >> bit & 1 }
}
