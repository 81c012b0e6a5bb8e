internal import Digests
internal import Files
internal import Foundation
internal import TextFormats
internal import Tiles

extension Planner {
    /// What a tile takes on average, for the progress and the quota before it is there.
    static let tileBytes: UInt64 = 16 << 10

    /// Adds the single tiles of a server, and the packs that hold them.
    ///
    /// A region fills packs of its own, so no region waits for or loses tiles of another. A tile that is in a pack of
    /// another region already, from the same address, is not asked for again: the region holds that pack, too.
    /// When there are more tiles than the quota allows, only their number is added, and the rules refuse the plan.
    func addTiles(
        of source: OnlineSource, zooms: ZoomRange, _ job: RegionJob, to draft: inout PlanDraft
    ) throws(PlanProblem) {
        guard let template = TileTemplate(source.template, isTMS: source.isTMS) else {
            throw .failed(.invalidArguments)
        }
        if let cause = BulkPolicy.refusal(of: source.template) { throw .failed(cause) }
        // Beyond the last zoom of a server a map enlarges its last tiles.
        let served = source.zooms ?? .all
        let last = min(zooms.min, served.max)
        guard let span = ZoomRange(min: last, max: zooms.max)?.intersection(served) else {
            return draft.missing.append(Missing(source.id, cause: .invalidArguments, count: 0))
        }
        let cover = span.max == job.cover.maxZoom ? job.cover : job.region.area.cover(toZoom: span.max)
        draft.plan.onlineTiles += cover.count(in: span)
        guard draft.plan.onlineTiles <= job.view.rows.settings.quota.onlineTiles else { return }
        let others = SharedPacks(of: source, job, in: folder)
        for pack in PackScheme.standard.packs(of: cover, zooms: span) {
            try add(pack, cover: cover, of: source, template: template, job: job, others, to: &draft)
        }
    }

    private func add(
        _ pack: PackScheme.Pack, cover: TileMask, of source: OnlineSource, template: TileTemplate, job: RegionJob,
        _ others: SharedPacks, to draft: inout PlanDraft
    ) throws(PlanProblem) {
        let key = InstalledFileKey.pack(
            tileset: source.id, pack.index, pack.zooms, edition: Edition(), owner: .region(job.id))
        let holder = Item.region(job.id)
        let current = job.view.rows.current(key)
        // Tiles of another address are other tiles.
        let base = current.flatMap { $0.template == source.rowTemplate ? folder.place(of: $0) : nil }
        let known = base.map(FilledPack.known) ?? [:]
        let all = Array(cover.tiles(in: pack.zooms, under: pack.index))
        let lacking = missing(all, in: known, job.task)
        let shared = others.tiles(lacking.map(\.tile), besides: key)
        for (file, tiles) in shared {
            draft.plan.present.tiles.add(UInt64(tiles.count), bytes: 0)
            draft.add(
                DownloadItem(holder: holder, file: file.id, size: file.bytes, source: .filled),
                DownloadDetails(address: folder.root, kind: .tile, file: file))
        }
        let elsewhere = Set(shared.flatMap(\.tiles))
        let (tiles, wanted) = (
            all.filter { !elsewhere.contains($0) }, lacking.filter { !elsewhere.contains($0.tile) }
        )
        guard !tiles.isEmpty else { return }
        var mask = TileMask(tiles: tiles, maxZoom: pack.zooms.max)
        let version = (current?.version ?? 0) &+ 1
        var text = "\(key.name)|\(version)|\(source.template)"
        for tile in tiles { text += "|\(tile)" }
        // Tiles of this pack that other regions use stay in it; tiles that no region uses are removed.
        let isShared = job.view.rows.isHeld(key, besides: holder)
        let isKept = wanted.isEmpty && (isShared || known.keys.allSatisfy(mask.contains))
        if isShared, let more = current?.mask { mask = mask.union(more) }
        let digest = isKept ? current?.sha256 ?? "" : Digest(of: Array(text.utf8)).hex
        let place = folder.pack(source.id, pack.index, sha256: digest)
        guard let path = folder.relative(place) else { throw .failed(.internalError) }
        let installed = InstalledFile(
            id: FileID(key: key, version: version, digest: digest), item: .region(job.id), path: path, bytes: 0,
            format: .mbtiles,
            mask: mask, zooms: pack.zooms, tileset: source.id, template: source.rowTemplate)
        var details = DownloadDetails(
            address: folder.root, kind: .tile, headers: source.headers, base: base, file: installed)
        details.limits = DownloadDetails.RequestLimits(
            perSecond: source.requestsPerSecond, parallel: source.parallel, timeout: source.timeout)
        if isKept, let current {
            draft.plan.present.tiles.add(UInt64(tiles.count), bytes: current.bytes)
            draft.add(DownloadItem(holder: holder, file: current.id, size: current.bytes, source: .filled), details)
            return
        }
        // What an earlier process has filled stays.
        let part = job.task.kind == .refresh ? nil : folder.part(sha256: digest)
        let filled = part.map(FilledPack.known) ?? [:]
        var asked: UInt64 = 0
        for (tile, known) in wanted where filled[tile].map({ known != nil && $0 == known }) ?? true {
            guard let url = URL(string: template.address(of: tile, isDense: job.region.pixelRatio > 1)) else {
                throw .failed(.invalidArguments)
            }
            var its = details
            its.address = url
            its.tile = DownloadDetails.TilePlace(zoom: tile.zoom, column: tile.x, row: tile.y)
            if let etag = known?.etag, known?.status == 200 { its.headers["If-None-Match"] = etag }
            let file = FileID(key: key, version: version, digest: "\(digest)/\(tile)")
            draft.add(DownloadItem(holder: holder, file: file, size: Self.tileBytes, source: .tile), its)
            asked += 1
        }
        if UInt64(tiles.count) > asked {
            let there = [part, base].lazy.compactMap { $0.flatMap(FilledPack.bodyBytes) }.first
            draft.plan.present.tiles.add(UInt64(tiles.count) - asked, bytes: there ?? 0)
        }
        draft.add(
            DownloadItem(holder: holder, file: installed.id, size: 0, source: .filled, expires: Self.packExpiry),
            details)
    }

    /// The tiles that a task has to ask for, with what is known of them.
    private func missing(
        _ tiles: [TileID], in known: [TileID: FilledPack.Known], _ task: TaskRecord
    ) -> [(tile: TileID, known: FilledPack.Known?)] {
        let now = Int64(Date().timeIntervalSince1970)
        return tiles.compactMap { tile in
            guard let row = known[tile] else { return (tile, nil) }
            let isAccepted = task.rule.acceptExpired || row.expires > now
            return task.kind != .refresh && isAccepted ? nil : (tile, row)
        }
    }
}
