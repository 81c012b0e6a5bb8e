extension TileMask {
    /// How many tiles of one zoom are in the mask.
    ///
    /// Costs a walk over the quadtree, not over the tiles.
    public func count(atZoom zoom: Int) -> UInt64 {
        (0...maxZoom).contains(zoom) ? count(below: root, zoom: 0, at: zoom) : 0
    }

    /// How many tiles of a run of zooms are in the mask.
    public func count(in zooms: ZoomRange) -> UInt64 {
        zooms.reduce(0) { $0 + count(atZoom: $1) }
    }

    /// How many tiles of all zooms are in the mask.
    public var count: UInt64 { count(in: ZoomRange(trusted: 0, maxZoom)) }

    /// The zoom of the deepest tile, `nil` for an empty mask.
    public var deepestZoom: Int? {
        if isEmpty { return nil }
        var deepest = root.isUniform ? root.depth : maxZoom
        if root.isUniform || root.isFlat { return deepest }
        deepest = 0
        // A flat node holds a complete child, so its depth is maxZoom; a branch is never deeper than its children.
        for node in groups where node.isPresent {
            if node.isUniform { deepest = max(deepest, node.depth) } else if node.isFlat { return maxZoom }
        }
        return deepest
    }

    private func count(below node: MaskNode, zoom: Int, at target: Int) -> UInt64 {
        if node.isUniform { return node.depth >= target ? 1 << UInt64(2 * (target - zoom)) : 0 }
        if zoom == target { return 1 }
        if node.isFlat {
            return UInt64(node.flatChildren.nonzeroBitCount) << UInt64(2 * (target - zoom - 1))
        }
        var sum: UInt64 = 0
        for quadrant in 0..<4 {
            sum += count(below: groups[node.group + quadrant], zoom: zoom + 1, at: target)
        }
        return sum
    }
}

extension TileMask {
    /// The box around the tiles that have no children in the mask, `nil` for an empty mask.
    ///
    /// In whole tiles, and never across the antimeridian: a mask on both sides of it spans the world.
    public var bounds: BoundingBox? {
        if isEmpty { return nil }
        var (west, north, east, south) = (Int64.max, Int64.max, Int64.min, Int64.min)
        func visit(_ node: MaskNode, zoom: Int, x: Int64, y: Int64) {
            let size = MercatorPoint.world >> Int64(zoom)
            if node.isUniform {
                guard node.isPresent else { return }
                (west, north) = (min(west, x), min(north, y))
                (east, south) = (max(east, x + size), max(south, y + size))
                return
            }
            // A tile inside the known box adds nothing.
            if x >= west && y >= north && x + size <= east && y + size <= south { return }
            for quadrant in 0..<4 {
                visit(
                    child(quadrant, of: node, zoom: zoom), zoom: zoom + 1, x: x + (quadrant & 1 == 1 ? size / 2 : 0),
                    y: y + (quadrant < 2 ? size / 2 : 0))
            }
        }
        visit(root, zoom: 0, x: 0, y: 0)
        let (first, last) = (MercatorPoint(x: west, y: north), MercatorPoint(x: east, y: south))
        return BoundingBox(
            trustedWest: first.longitude, south: last.latitude, east: last.longitude, north: first.latitude)
    }
}
