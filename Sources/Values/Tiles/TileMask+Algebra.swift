extension TileMask {
    /// The tiles that are in one mask or the other; its maxZoom is the deeper of the two.
    ///
    /// A mask that ends at a shallower zoom adds nothing below it: call ``expanded(toZoom:)`` first to include deeper
    /// tiles.
    public func union(_ other: TileMask) -> TileMask {
        var builder = MaskBuilder(maxZoom: max(maxZoom, other.maxZoom))
        func join(_ left: MaskNode, with right: MaskNode, zoom: Int) -> MaskNode {
            if left.isUniform && right.isUniform { return left.code > right.code ? left : right }
            if !left.isPresent || right.isUniform && right.depth == builder.maxZoom {
                return builder.copy(right, of: other, zoom: zoom)
            }
            if !right.isPresent || left.isUniform && left.depth == builder.maxZoom {
                return builder.copy(left, of: self, zoom: zoom)
            }
            var children = MaskChildren()
            for quadrant in 0..<4 {
                children[quadrant] = join(
                    child(quadrant, of: left, zoom: zoom), with: other.child(quadrant, of: right, zoom: zoom),
                    zoom: zoom + 1)
            }
            return builder.join(children, zoom: zoom)
        }
        let top = join(root, with: other.root, zoom: 0)
        return builder.mask(top)
    }

    /// The tiles that are in both masks; its maxZoom is the shallower of the two.
    public func intersection(_ other: TileMask) -> TileMask {
        let shallow = min(maxZoom, other.maxZoom)
        let (mine, theirs) = (clipped(toZoom: shallow), other.clipped(toZoom: shallow))
        var builder = MaskBuilder(maxZoom: shallow)
        func intersect(_ left: MaskNode, with right: MaskNode, zoom: Int) -> MaskNode {
            if !left.isPresent || !right.isPresent { return .absent }
            if left.isUniform && right.isUniform { return left.code < right.code ? left : right }
            if left.isUniform && left.depth == shallow { return builder.copy(right, of: theirs, zoom: zoom) }
            if right.isUniform && right.depth == shallow { return builder.copy(left, of: mine, zoom: zoom) }
            var children = MaskChildren()
            for quadrant in 0..<4 {
                children[quadrant] = intersect(
                    mine.child(quadrant, of: left, zoom: zoom), with: theirs.child(quadrant, of: right, zoom: zoom),
                    zoom: zoom + 1)
            }
            return builder.join(children, zoom: zoom)
        }
        let top = intersect(mine.root, with: theirs.root, zoom: 0)
        return builder.mask(top)
    }

    /// This mask without the other mask's tiles; maxZoom is that of this mask.
    ///
    /// Only leaves are removed: tiles without children in this mask (usually all tiles at ``maxZoom``). A tile with
    /// children in this mask stays if at least one of them stays, so the result is a valid mask.
    public func subtracting(_ other: TileMask) -> TileMask {
        var builder = MaskBuilder(maxZoom: maxZoom)
        func remaining(_ left: MaskNode, without right: MaskNode, zoom: Int) -> MaskNode {
            if !left.isPresent { return .absent }
            if !right.isPresent { return builder.copy(left, of: self, zoom: zoom) }
            if left.isUniform {
                if left.depth == zoom { return .absent }
                if right.isUniform { return right.depth >= left.depth ? .absent : left }
            }
            var children = MaskChildren()
            for quadrant in 0..<4 {
                children[quadrant] = remaining(
                    child(quadrant, of: left, zoom: zoom), without: other.child(quadrant, of: right, zoom: zoom),
                    zoom: zoom + 1)
            }
            return children.isEmpty ? .absent : builder.join(children, zoom: zoom)
        }
        let top = remaining(root, without: other.root, zoom: 0)
        return builder.mask(top)
    }

    /// The tiles that are the cell, lie below it or above it; empty when the cell itself is not in the mask.
    public func restricted(to cell: TileID) -> TileMask {
        let found = node(at: cell)
        guard found.isPresent else { return TileMask(empty: maxZoom) }
        var builder = MaskBuilder(maxZoom: maxZoom)
        var node = builder.copy(found, of: self, zoom: cell.zoom)
        for zoom in stride(from: cell.zoom - 1, through: 0, by: -1) {
            var children = MaskChildren()
            children[cell.quadrant(cell.zoom - 1 - zoom)] = node
            node = builder.join(children, zoom: zoom)
        }
        return builder.mask(node)
    }

    /// The mask with everything below its tiles of ``maxZoom`` added, down to a deeper zoom; itself for a zoom not deeper.
    public func expanded(toZoom zoom: Int) -> TileMask {
        let deeper = min(zoom, TileID.maxZoom)
        guard deeper > maxZoom else { return self }
        let full = MaskNode.through(maxZoom)
        func moved(_ node: MaskNode) -> MaskNode { node == full ? .through(deeper) : node }
        return TileMask(maxZoom: deeper, root: moved(root), groups: groups.map(moved))
    }

    /// The tiles down to a shallower zoom only; itself for a zoom not shallower.
    public func clipped(toZoom zoom: Int) -> TileMask {
        let shallow = max(0, zoom)
        guard shallow < maxZoom else { return self }
        var builder = MaskBuilder(maxZoom: shallow)
        func clip(_ node: MaskNode, _ zoom: Int) -> MaskNode {
            if node.isUniform { return node.depth > shallow ? .through(shallow) : node }
            if zoom == shallow { return .through(shallow) }
            var children = MaskChildren()
            for quadrant in 0..<4 { children[quadrant] = clip(child(quadrant, of: node, zoom: zoom), zoom + 1) }
            return builder.join(children, zoom: zoom)
        }
        let top = clip(root, 0)
        return builder.mask(top)
    }
}
