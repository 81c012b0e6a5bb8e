import Tiles

extension BatchPlanner {
    /// The most tiles that one plan is made for: the worker that makes it keeps some 50 bytes of each.
    public static let largestPlan: UInt64 = 500_000
    /// The fewest tiles of a job whose ranges are planned.
    public static let smallestPlan: UInt64 = 1_024
    /// The most bytes of the mask of a plan, in its binary form: each offer of a part contains it, beside a tileset.
    static let largestMask = 40 << 10

    /// The batches of a job whose ranges are planned: one, if the job is not too large for a plan, otherwise cells of its bands.
    ///
    /// A cell whose mask is too large for an offer is divided.
    var batchesToPlan: AnySequence<PlannedBatch> {
        if tiles <= Self.largestPlan, fits(.root, zooms) {
            return AnySequence([PlannedBatch(cell: .root, zooms: zooms, tiles: tiles, role: .plan)])
        }
        let bands = BatchBand.ofPlans.compactMap { band in band.zooms.intersection(zooms).map { (band, $0) } }
        return AnySequence(
            bands.lazy.flatMap { band, span in
                mask.tiles(atZoom: band.cellZoom(span: span, target: Self.largestPlan), under: .root).lazy.flatMap {
                    toPlan($0, span, deepest: band.indexZoom)
                }
            })
    }

    private func toPlan(_ cell: TileID, _ span: ZoomRange, deepest: Int) -> [PlannedBatch] {
        let count = mask.restricted(to: cell).count(in: span)
        guard count > 0 else { return [] }
        guard cell.zoom < deepest, !fits(cell, span) else {
            return [PlannedBatch(cell: cell, zooms: span, tiles: count, role: .plan)]
        }
        return cell.children.flatMap { toPlan($0, span, deepest: deepest) }
    }

    private func fits(_ cell: TileID, _ span: ZoomRange) -> Bool {
        mask.restricted(to: cell).clipped(toZoom: span.max).encoded().count <= Self.largestMask
    }
}
