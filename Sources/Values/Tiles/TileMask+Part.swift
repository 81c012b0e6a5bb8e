extension TileMask {
    /// The part of a mask that a run of the Hilbert curve has: the tiles of the run, those below and above them, and all tiles of the
    /// first zooms.
    ///
    /// Runs that follow one another have together all tiles of the mask. A tile above the end of a run is in both parts.
    ///
    /// - Parameters:
    ///   - first: The first tile of the run.
    ///   - next: The first tile of the next run, of the same zoom and later on the curve; `nil` = the run ends with the curve.
    ///   - common: All tiles of the zooms below this number are in the part; 0 for none.
    /// - Returns: A mask with the same ``maxZoom``.
    public func part(from first: TileID, before next: TileID?, common: Int) -> TileMask {
        let start = HilbertCurve.firstID(ofZoom: first.zoom)
        let end =
            (next.map { $0.zoom == first.zoom ? $0.hilbertID : start } ?? HilbertCurve.firstID(ofZoom: first.zoom + 1))
            - start
        var run = TileMask(empty: maxZoom)
        for (zoom, cells) in Self.cells(from: first.hilbertID - start, to: end, zoom: first.zoom) {
            run = run.union(TileMask(tiles: cells, maxZoom: zoom).expanded(toZoom: max(maxZoom, zoom)))
        }
        var part = intersection(run.clipped(toZoom: maxZoom))
        if common > 0 { part = part.union(clipped(toZoom: common - 1)) }
        return part
    }

    /// The largest tiles that together are a run of places on the curve of a zoom, by their zooms.
    private static func cells(from first: UInt64, to end: UInt64, zoom: Int) -> [Int: [TileID]] {
        var cells: [Int: [TileID]] = [:]
        var place = first
        while place < end {
            var size: UInt64 = 1
            var above = zoom
            while above > 0, place & (4 * size - 1) == 0, end - place >= 4 * size {
                size *= 4
                above -= 1
            }
            if let cell = TileID(hilbertID: HilbertCurve.firstID(ofZoom: above) + place / size) {
                cells[above, default: []].append(cell)
            }
            place += size
        }
        return cells
    }
}

extension TileID {
    /// Its place on the Hilbert curve of its zoom, from 0.
    package var hilbertPlace: UInt64 { hilbertID - HilbertCurve.firstID(ofZoom: zoom) }

    /// The tile at a place of the Hilbert curve of a zoom; `nil` beyond its end.
    package init?(hilbertPlace: UInt64, zoom: Int) {
        guard (0...Self.maxZoom).contains(zoom), hilbertPlace < 1 << UInt64(2 * zoom) else { return nil }
        self.init(hilbertID: HilbertCurve.firstID(ofZoom: zoom) + hilbertPlace)
    }
}
