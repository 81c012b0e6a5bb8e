extension TileMask {
    /// Makes the mask whose complete parts are the tiles that one polygon of a shape holds whole, edges included.
    ///
    /// A tile is held whole when no edge enters it and it lies inside. Parents of such tiles are in the mask too, as in every mask, but
    /// only a tile that is complete down to ``maxZoom`` counts as covered: see ``subtracting(covered:)``.
    package init(coveredBy shape: MercatorShape, maxZoom: Int) {
        var cover = MaskCover(MercatorShape(polygons: shape.polygons), maxZoom: Self.clamped(maxZoom), isInner: true)
        self = cover.run()
    }

    /// This mask without the tiles that another area covers wholly: those that `covered` has complete down to its ``maxZoom``.
    ///
    /// Every other tile stays, at every zoom, so a tile may stay whose children all go.
    package func subtracting(covered: TileMask) -> TileMask {
        var builder = MaskBuilder(maxZoom: maxZoom)
        let whole = MaskNode.through(covered.maxZoom)
        func remaining(_ left: MaskNode, without right: MaskNode, zoom: Int) -> MaskNode {
            if !left.isPresent || right == whole { return .absent }
            if !right.isPresent || left.isUniform && left.depth == zoom {
                return builder.copy(left, of: self, zoom: zoom)
            }
            // A part that is complete to a shallower zoom only covers nothing wholly.
            if right.isUniform { return builder.copy(left, of: self, zoom: zoom) }
            var children = MaskChildren()
            for quadrant in 0..<4 {
                children[quadrant] = remaining(
                    child(quadrant, of: left, zoom: zoom), without: covered.child(quadrant, of: right, zoom: zoom),
                    zoom: zoom + 1)
            }
            return builder.join(children, zoom: zoom)
        }
        let top = remaining(root, without: covered.root, zoom: 0)
        return builder.mask(top)
    }
}
