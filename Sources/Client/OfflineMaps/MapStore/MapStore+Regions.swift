public import Foundation
internal import Tiles

extension MapStore {
    /// Registers a region, or changes what it is to hold; nothing is downloaded yet.
    ///
    /// - Parameter context: The app's own data; `nil` keeps the data of a region that is known.
    /// - Throws: `invalid-arguments` naming what is wrong, `network` with the cause `hostForbidsBulk`, `storage`.
    public func addRegion(
        _ id: RegionID, _ region: RegionDefinition, context: Data? = nil
    ) async throws(StoreError) {
        try RegionCheck.check(
            region, defaultStyle: worker.options.defaultStyle, transforms: worker.options.transform != nil)
        guard 1...1_000 ~= id.text.utf8.count else {
            throw StoreError(.invalidArguments, "The name of a region has 1 to 1,000 bytes.")
        }
        try await worker.change { database in
            let known = try database.regions()[id]?.context
            try database.setRegion(id, region, context: context ?? known ?? Data())
        }
        worker.shared.events.send(.regions)
    }

    /// Downloads what a region lacks, or what has expired.
    ///
    /// The task fails with `tooManyPacks` or `tooManyTiles` before the first download of a pack or tile.
    ///
    /// - Throws: `not-found` when the region is not registered.
    @discardableResult public func load(
        _ id: RegionID, _ rule: TaskRule = .init()
    ) async throws(StoreError) -> TaskID {
        try await add(.load, id, rule: rule)
    }

    /// Asks the server about everything of a region, and downloads what has changed.
    ///
    /// - Throws: `not-found` when the region is not registered.
    @discardableResult public func refresh(_ id: RegionID) async throws(StoreError) -> TaskID {
        try await add(.refresh, id, rule: TaskRule())
    }

    /// A region as it is now; `nil` when it is not registered.
    public func region(_ id: RegionID) async throws(StoreError) -> RegionInfo? {
        guard let row = try await worker.read({ try $0.regions()[id] }) else { return nil }
        let view = try await worker.view()
        let task = view.tasks.last { $0.items.contains(.region(id)) && $0.kind != .remove }
        return RegionSurvey(
            id: id, row: row, rows: view.rows, task: task
        ).info()
    }

    /// What tile servers have answered for the single tiles of a region: how many tiles by HTTP status.
    ///
    /// 200 is a tile; 204, 404 and 410 are places where the server has none, which are empty on a map. It reads the
    /// region's packs.
    ///
    /// - Throws: `not-found` when the region is not registered.
    public func tileAnswers(of id: RegionID) async throws(StoreError) -> [Int: UInt64] {
        guard let row = try await worker.read({ try $0.regions()[id] }) else { throw Self.unknown(id) }
        let (rows, folder) = (try await worker.view().rows, worker.folder)
        return try await worker.onFiles {
            let held = Set(rows.holds.filter { $0.item == .region(id) }.map(\.key))
            let packs = rows.files.values.filter {
                $0.state == .current && $0.template != nil && $0.id.key.isPack && held.contains($0.id.key)
            }
            let cover = row.definition.area.cover(toZoom: packs.compactMap(\.zooms?.max).max() ?? 0)
            var statuses: [TileID: Int] = [:]
            for place in packs.compactMap({ folder.place(of: $0) }) {
                for (tile, known) in FilledPack.known(place) where cover.contains(tile) {
                    statuses[tile] = known.status
                }
            }
            return statuses.values.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
    }

    /// The registered regions, in the order of their registration.
    public func regions() async throws(StoreError) -> [RegionID] { try await worker.read { try $0.regionNames() } }

    /// Replaces the app's own data of a region.
    ///
    /// - Throws: `not-found` when the region is not registered.
    public func setContext(_ context: Data, of id: RegionID) async throws(StoreError) {
        guard try await worker.read({ try $0.regions()[id] }) != nil else { throw Self.unknown(id) }
        try await worker.change { database in _ = try database.setContext(context, of: id) }
        worker.shared.events.send(.regions)
    }

    /// What a region would take, before it is registered or loaded.
    ///
    /// Packs are counted exactly. Of single tiles some are downloaded to learn their sizes; ``Estimate/margin`` says how
    /// far that may be off.
    ///
    /// - Parameter within: How long tiles are downloaded at most.
    /// - Throws: `invalid-arguments`, `not-in-catalog`, `network`.
    public func estimate(
        _ region: RegionDefinition, within: Duration = .seconds(5)
    ) async throws(StoreError) -> Estimate {
        try RegionCheck.check(
            region, defaultStyle: worker.options.defaultStyle, transforms: worker.options.transform != nil)
        let view = try await worker.view()
        let usage = try await usage()
        return try await RegionEstimate(
            planner: worker.planner, fetcher: worker.fetcher, transform: worker.options.transform, view: view,
            usage: usage, address: worker.options.catalog
        ).estimate(region, within: within)
    }

    private func add(_ kind: TaskKind, _ id: RegionID, rule: TaskRule) async throws(StoreError) -> TaskID {
        guard let row = try await worker.read({ try $0.regions()[id] }) else { throw Self.unknown(id) }
        var record = TaskRecord(id: TaskID(number: 0), kind: kind, items: [.region(id)], rule: rule)
        let sources = row.definition.sources
        record.plansOnline = sources.isEmpty || sources.contains(where: \.plansOnline)
        return try await add(record)
    }

    private static func unknown(_ id: RegionID) -> StoreError {
        StoreError(.notFound, "There is no region '\(id.text.prefix(200))'.", advice: "Register it with addRegion.")
    }
}
