internal import Foundation
internal import Tiles

extension Planner {
    /// Adds what a region needs, source by source.
    func addRegion(
        _ id: RegionID, _ task: TaskRecord, in view: PlanView, to draft: inout PlanDraft
    ) async throws(PlanProblem) {
        guard let region = view.regions[id] else { throw .failed(.invalidArguments) }
        if task.kind == .load, !view.unplanned.contains(id), addAdopted(id, view, to: &draft) { return }
        let cover = region.area.cover(toZoom: region.zooms.max)
        guard !cover.isEmpty else { throw .failed(.invalidArguments) }
        let job = RegionJob(id: id, region: region, cover: cover, task: task, view: view)
        var sources = region.sources
        if sources.isEmpty, let defaultStyle { sources = [.style(defaultStyle)] }
        guard !sources.isEmpty else { throw .failed(.invalidArguments) }
        let isStyleAlone = sources.allSatisfy { if case .style = $0 { true } else { false } }
        for source in sources {
            switch source {
            case .tileset(let tileset, let edition): try await addTileset(tileset, edition, for: job, to: &draft)
            case .online(let source): try addTiles(of: source, zooms: region.zooms, job, to: &draft)
            case .style(let url): try await addStyle(at: url, withTiles: isStyleAlone, job, to: &draft)
            }
        }
        draft.needs[id] = RegionNeeds(
            units: Set(draft.plan.downloads.filter { !$0.isTile && $0.holder == .region(id) }.map(\.file.key.name))
                .sorted(),
            resources: draft.resources, missing: draft.missing)
        (draft.missing, draft.resources) = ([], 0)
        draft.plan.released.formUnion(job.released(sources, by: draft.plan))
        if let start = task.rule.startAt { draft.sort(near: start) }
    }

    /// Keeps what a region has that came with an adopted database: it is complete, and only a refresh replaces it.
    ///
    /// - Returns: Whether it is such a region.
    private func addAdopted(_ id: RegionID, _ view: PlanView, to draft: inout PlanDraft) -> Bool {
        let held = Set(view.rows.holds.filter { $0.item == .region(id) }.map(\.key))
        var units: [String] = []
        for key in held.sorted() {
            guard let current = view.rows.current(key), current.format == .maplibre else { continue }
            units.append(key.name)
            draft.add(
                DownloadItem(holder: .region(id), file: current.id, size: current.bytes, expires: current.expires),
                DownloadDetails(address: folder.root, kind: .other, file: current))
        }
        if !units.isEmpty { draft.needs[id] = RegionNeeds(units: units) }
        return !units.isEmpty
    }

    /// Adds the packs of a tileset that the area meets.
    private func addTileset(
        _ tileset: String, _ edition: Edition, for job: RegionJob, to draft: inout PlanDraft
    ) async throws(PlanProblem) {
        guard let content = job.view.content else { throw job.view.lacksList }
        let (offers, left) = PackageChoice.packages(
            of: tileset, edition, in: content, covering: job.cover, hasPacks: true)
        let whole = PackageChoice.packages(of: tileset, edition, in: content, covering: left, hasPacks: false).offers
        guard !offers.isEmpty else { throw job.view.lacks(tileset: tileset, edition, whole: whole.map(\.id)) }
        draft.missing += whole.map { Missing($0.id, cause: .notInCatalog) }
        var offeredPacks: [OfferedPacks] = []
        for offer in offers { offeredPacks.append(try await packs(of: offer, job.view)) }
        let chosen = PackageChoice.packs(of: offeredPacks.map(\.list), covering: job.cover, zooms: job.region.zooms)
        guard !chosen.isEmpty else {
            let zooms = job.region.zooms
            throw job.view.lacks(
                "tile packs of the tileset '\(tileset)' with zooms \(zooms.min)-\(zooms.max) in this area")
        }
        for (number, pack) in chosen {
            try add(pack, of: offeredPacks[number], holder: .region(job.id), job.task, in: job.view, to: &draft)
        }
    }
}

/// A region that is being planned.
struct RegionJob: Sendable {
    var id: RegionID
    var region: RegionDefinition
    /// The tiles of the area, down to the deepest zoom of the region.
    var cover: TileMask
    var task: TaskRecord
    var view: PlanView

    /// The holds of the region that its definition has no use for: of another style or server, or of packs beyond its area
    /// or its zooms.
    ///
    /// Packs of a catalog inside of them stay although the plan lacks them: the catalog may have shrunk.
    func released(_ sources: [SourceDescriptor], by plan: Plan) -> Set<Hold> {
        let holder = Item.region(id)
        let wanted = Set(plan.downloads.filter { $0.holder == holder }.map(\.file.key))
        return view.rows.holds.filter { hold in
            guard hold.item == holder, !wanted.contains(hold.key) else { return false }
            return !(hold.key.pack.map { isOfUse($0, sources) } ?? false)
        }
    }

    /// Whether a catalog with this pack would give it to the region.
    private func isOfUse(_ pack: PackKey, _ sources: [SourceDescriptor]) -> Bool {
        let isOfSource = sources.contains { source in
            guard case .tileset(let tileset, let edition) = source else { return false }
            return Item.field(tileset) == pack.tileset && Item.field(edition.group) == pack.group
                && [Item.field(edition.language), Item.field(nil)].contains(pack.language)
        }
        guard isOfSource, !pack.isFilled, let span = pack.zooms.intersection(region.zooms), cover.contains(pack.index)
        else { return false }
        return pack.index.zoom == span.min || cover.restricted(to: pack.index).count(in: span) > 0
    }
}

extension PlanDraft {
    /// Puts the packs and tiles near a place first.
    mutating func sort(near place: Coordinate) {
        func distance(_ download: DownloadItem) -> Double {
            guard download.file.key.isPack, let its = download.details else { return -1 }
            let tile = its.tile.flatMap { TileID(zoom: $0.zoom, x: $0.column, y: $0.row) }
            guard let bounds = tile?.bounds ?? its.file.mask?.bounds else { return .infinity }
            let (east, north) = (
                (bounds.west + bounds.east) / 2 - place.longitude, (bounds.south + bounds.north) / 2 - place.latitude
            )
            return (east * east + north * north).squareRoot()
        }
        let sorted = plan.downloads.map { (distance($0), $0) }.enumerated().sorted {
            ($0.element.0, $0.offset) < ($1.element.0, $1.offset)
        }
        plan.downloads = sorted.map(\.element.1)
    }
}
