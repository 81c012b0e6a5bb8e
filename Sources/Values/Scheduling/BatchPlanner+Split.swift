public import Tiles

extension BatchPlanner {
    /// Divides a batch into its quarters and its cell's own tile, without the parts that contain no tile of `mask`.
    ///
    /// If only one quarter contains tiles, that quarter is divided again. The result has more than one batch, or a
    /// single batch of one tile. Each tile of the batch is in exactly one part. So a batch that fails because of one
    /// tile loses only that tile after a few splits, not thousands.
    ///
    /// - Parameters:
    ///   - mask: The union mask of the job.
    ///   - cell: The batch's cell.
    ///   - zooms: The batch's zooms; none above the cell.
    public static func parts(of cell: TileID, zooms: ZoomRange, mask: TileMask) -> [PlannedBatch] {
        let below = mask.restricted(to: cell)
        var parts: [PlannedBatch] = []
        if cell.zoom >= zooms.min, let own = ZoomRange(min: cell.zoom, max: cell.zoom), below.count(in: own) > 0 {
            parts.append(PlannedBatch(cell: cell, zooms: own, tiles: 1))
        }
        guard let rest = ZoomRange(min: max(zooms.min, cell.zoom + 1), max: zooms.max) else { return parts }
        for child in cell.children {
            let quarter = below.restricted(to: child)
            let tiles = quarter.count(in: rest)
            if tiles > 1 { parts.append(PlannedBatch(cell: child, zooms: rest, tiles: tiles)) }
            if tiles == 1, let lone = quarter.tiles(in: rest).first(where: { _ in true }),
                let own = ZoomRange(min: lone.zoom, max: lone.zoom)
            {
                parts.append(PlannedBatch(cell: lone, zooms: own, tiles: 1))
            }
        }
        guard parts.count == 1, let only = parts.first, only.tiles > 1 else { return parts }
        return self.parts(of: only.cell, zooms: only.zooms, mask: mask)
    }
}
