extension TileMask {
    /// Makes the exact cover of a shape: every tile of zoom 0...maxZoom whose closed square meets the shape.
    ///
    /// Touching at a corner or an edge counts; the world's western and eastern edges do not touch each other. All predicates
    /// are on integers, so the same shape gives the same mask on every machine. Costs about one pass over the edges a zoom,
    /// and a step for each tile on the boundary; the area inside costs nothing.
    public init(covering shape: MercatorShape, maxZoom: Int) {
        var cover = MaskCover(shape, maxZoom: Self.clamped(maxZoom))
        self = cover.run()
    }
}
