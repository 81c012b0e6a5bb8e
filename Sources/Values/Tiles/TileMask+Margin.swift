extension AreaShape {
    /// Segments are covered in groups of so many, so that memory does not grow with the shape.
    private static let groupSegments = 1 << 16
    /// A shape of at most so many positions is covered without simplifying its edges.
    private static let exactPositions = 30_000

    /// Every tile within a margin of the shape, down to a zoom; each zoom has its own distance.
    ///
    /// Never too narrow: each tile that has a point within the distance on WGS 84 is in it. Edges are straight on the Mercator plane.
    package func mask(_ maxZoom: Int, within margin: Margin) -> TileMask {
        var masks: [TileMask] = []
        for span in margin.spans(to: TileMask.clamped(maxZoom)) {
            let exact = mask(span.last)
            masks.append(
                span.meters > 0 ? exact.union(surroundings(span.last, meters: span.meters, isInner: false)) : exact)
        }
        return TileMask(union: masks) ?? TileMask(empty: maxZoom)
    }

    /// The tiles that one polygon holds whole, or the margin around one edge.
    ///
    /// Where the margin falls with the zoom, the narrowest counts.
    package func covered(_ maxZoom: Int, within margin: Margin?) -> TileMask {
        var covered = TileMask(coveredBy: MercatorShape(polygons: polygons), maxZoom: maxZoom)
        if let margin, margin.narrowest > 0 {
            covered = covered.union(
                surroundings(TileMask.clamped(maxZoom), meters: margin.narrowest, isInner: true))
        }
        return covered
    }

    private var positions: Int {
        points.count + lines.positions + polygons.reduce(0) { $0 + $1.reduce(0) { $0 + $1.count } }
    }

    private func surroundings(_ maxZoom: Int, meters: Double, isInner: Bool) -> TileMask {
        var union = TileMaskUnion(maxZoom: maxZoom)
        var corridor = Corridor(
            meters: meters, maxZoom: maxZoom, isSimplified: positions > Self.exactPositions)
        func flush() {
            var cover = CorridorCover(corridor.segments, maxZoom: maxZoom, isInner: isInner)
            union.add(cover.run())
            if !isInner { union.add(TileMask(covering: corridor.boxes, maxZoom: maxZoom)) }
            corridor.removeAll()
        }
        let rest = withoutLines
        for point in rest.points { corridor.add(point: point) }
        for ring in rest.polygons.joined() {
            corridor.add(line: ring, isClosed: true)
            if corridor.segments.count >= Self.groupSegments { flush() }
        }
        lines.forEachGroup(of: PackedLines.longest) { group in
            for line in group { corridor.add(line: line, isClosed: false) }
            if corridor.segments.count >= Self.groupSegments { flush() }
        }
        flush()
        return union.mask
    }
}
