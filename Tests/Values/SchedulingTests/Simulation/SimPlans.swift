import Scheduling
import Tiles

/// Plans of ranges, and the leases that are parts of them.
extension Simulation {
    /// Tiles of a part of a plan.
    static let partTiles = 7

    /// A lease that plans: some steps, then a blob and its parts.
    mutating func plan(
        _ task: inout SimTask, _ offer: Offer, _ spec: SimSpec, _ cell: TileID, _ zooms: ZoomRange, by worker: Int
    ) -> SimOutcome? {
        if task.tiles == nil {
            task.tiles = []
            task.steps = Int(workRandom.below(Int64(6)))
        }
        task.steps -= 1
        advance(worker, offer.token, done: 0, bytes: UInt64(100 - task.steps))
        guard task.steps < 0 else { return nil }
        guard !isFull(worker) else { return .failed(Trouble(cause: "disk-full", detail: "sim"), retriable: true) }
        let all = spec.planned(cell, zooms)
        let content = SimContent.plan(mutant == .losesPlannedTiles ? all.dropLast() : all)
        let parts = stride(from: 0, to: all.count, by: Simulation.partTiles).map { start in
            part(all[start..<min(start + Simulation.partTiles, all.count)], cell, zooms)
        }
        return .done(.plan(RangePlanResult(digest: put(content), bytes: content.size, parts: parts)))
    }

    private func part(_ tiles: ArraySlice<TileID>, _ cell: TileID, _ zooms: ZoomRange) -> PlannedBatch {
        guard let first = tiles.first, let own = ZoomRange(min: first.zoom, max: first.zoom),
            tiles.allSatisfy({ $0.zoom == first.zoom })
        else { return PlannedBatch(cell: cell, zooms: zooms, tiles: UInt64(tiles.count)) }
        var above = first
        while !tiles.allSatisfy(above.contains), let parent = above.parent { above = parent }
        return PlannedBatch(cell: above, zooms: own, tiles: UInt64(tiles.count))
    }

    /// The tiles of a fetch; `lost` = those that its plan should have and has not.
    mutating func tiles(
        of offer: Offer, _ spec: SimSpec, _ cell: TileID, _ zooms: ZoomRange
    ) -> (tiles: [TileID], lost: [TileID]) {
        guard let plan = offer.plan, case .fetch(_, _, _, let count) = offer.work else {
            return (spec.tiles(cell, zooms), [])
        }
        let whole = spec.planned(plan.cell, plan.zooms)
        var known = whole
        if let blob = blobs[plan.digest], !blob.isDamaged, case .plan(let tiles) = blob.content {
            known = tiles
        } else {
            marks.hit(.planMadeAgain)
            _ = put(.plan(whole))
        }
        let positions = Int(plan.first)..<Int(plan.first) + Int(count)
        return (
            Array(known[positions.clamped(to: known.indices)]),
            Array(whole[positions.clamped(to: known.endIndex..<whole.endIndex)])
        )
    }

    /// The tiles of a batch of the store.
    func tiles(of batch: Batch, in id: JobID) -> [TileID] {
        guard let spec = spec(of: id) else { return [] }
        guard case .part(let index, let first) = batch.role, let batches = store.job(id)?.batches,
            batches.indices.contains(index.number)
        else { return spec.tiles(batch.cell, batch.zooms) }
        let plan = batches[index.number]
        let all = spec.planned(plan.cell, plan.zooms)
        return Array(all[(Int(first)..<Int(first) + Int(batch.tiles)).clamped(to: all.indices)])
    }
}
