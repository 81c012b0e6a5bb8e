internal import Foundation

/// Computes what a region would take.
struct RegionEstimate: Sendable {
    /// How many tiles are downloaded to learn their sizes.
    private static let samples = 16
    /// The largest tile that is taken as a sample.
    private static let largestTile = 1 << 20
    /// Larger numbers count as this one.
    private static let maxBytes: UInt64 = 1 << 60

    let planner: Planner
    let fetcher: any Fetcher
    let transform: (@Sendable (ResourceRequest) async -> ResourceRequest)?
    let view: StoreView
    let usage: Usage
    let address: URL?

    /// - Throws: `invalid-arguments`, `not-in-catalog`, `network`.
    func estimate(_ region: RegionDefinition, within: Duration) async throws(StoreError) -> Estimate {
        let id = RegionID("estimate \(UUID().uuidString)")
        let planView = PlanView(
            address: address, content: view.content, rows: view.rows,
            regions: [id: region], groups: view.groups)
        let task = TaskRecord(id: TaskID(number: 0), kind: .load, items: [.region(id)])
        let detailed = await planner.plan(task, planView)
        let plan: Plan
        switch detailed.answer {
        case .failed(let cause): throw .failing(cause, detailed.text ?? "The estimate failed: \(cause.words).")
        case .fault: throw .failing(.connection, "The server cannot be asked for the estimate.")
        case .plan(let made): plan = made
        }
        var estimate = MapStore.estimate(plan, view, usage: usage)
        estimate.tiles = plan.onlineTiles
        let tiles = plan.downloads.filter { $0.isTile && $0.file.key.isPack }
        // Beyond the quota no tile is listed.
        let expected = UInt64(tiles.count) * Planner.tileBytes
        let all = tiles.isEmpty ? plan.onlineTiles : UInt64(tiles.count)
        guard all > 0 else { return estimate }
        let (mean, margin) = Self.average(await sizes(of: tiles, within))
        let (product, isTooBig) = all.multipliedReportingOverflow(by: UInt64(mean))
        let bytes = isTooBig ? Self.maxBytes : min(product, Self.maxBytes)
        let change = { (number: UInt64) in number - min(number, expected) + bytes }
        (estimate.transfer, estimate.storage, estimate.peak) = (
            change(estimate.transfer), change(estimate.storage), change(estimate.peak)
        )
        let share = Double(bytes) / Double(max(1, estimate.transfer))
        estimate.margin = margin * min(1, share)
        let used = usage.total - min(usage.total, usage.ambient)
        estimate.fits =
            plan.onlineTiles <= view.rows.settings.quota.onlineTiles
            && (usage.quota.map { used + estimate.storage <= $0 } ?? true)
            && estimate.peak + StoreMachine.diskMargin <= usage.free
        return estimate
    }

    /// The sizes of some tiles, spread over all of them; those that cannot be had in time are left out.
    private func sizes(
        of tiles: [DownloadItem], _ within: Duration
    ) async -> [Double] {
        let step = max(1, tiles.count / Self.samples)
        let chosen = stride(from: step / 2, to: tiles.count, by: step).prefix(Self.samples).compactMap {
            tiles[$0].details
        }
        return await withTaskGroup(of: Double?.self) { group in
            for its in chosen { group.addTask { await size(its) } }
            group.addTask {
                // A cancelled sleep ends at once; the other result is there by then.
                try? await Task.sleep(for: within)
                return nil
            }
            var sizes: [Double] = []
            var open = chosen.count
            while open > 0, let next = await group.next(), let size = next {
                open -= 1
                if size >= 0 { sizes.append(size) }
            }
            group.cancelAll()
            return sizes
        }
    }

    /// The bytes of a tile; -1 when it cannot be had.
    private func size(_ its: DownloadDetails) async -> Double? {
        let request = ResourceRequest(its.address, .tile, headers: its.headers)
        let changed = await request.changed(by: transform)
        do throws(FetchError) {
            return Double(try await fetcher.body(changed, limit: Self.largestTile).body.count)
        } catch { return error.cause == .notFound ? 0 : -1 }
    }

    /// The mean, and the part of it by which it may be wrong: twice the standard error.
    static func average(_ sizes: [Double]) -> (mean: Double, margin: Double) {
        guard !sizes.isEmpty else { return (Double(Planner.tileBytes), 1) }
        let mean = sizes.reduce(0, +) / Double(sizes.count)
        guard sizes.count > 1, mean > 0 else { return (mean, 1) }
        let variance = sizes.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(sizes.count - 1)
        return (mean, min(1, 2 * (variance / Double(sizes.count)).squareRoot() / mean))
    }
}
