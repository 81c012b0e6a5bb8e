internal import Digests
internal import Files
internal import Foundation
internal import StyleFormat
internal import Tiles

extension Planner {
    /// What a resource of a style takes on average, before it is there.
    static let resourceBytes: UInt64 = 32 << 10

    /// Adds a style and all that it needs; its tiles too, when the region names no other source of tiles.
    func addStyle(
        at url: URL, withTiles: Bool, _ job: RegionJob, to draft: inout PlanDraft
    ) async throws(PlanProblem) {
        if let cause = refusal(of: url.absoluteString) { throw .failed(cause) }
        let address = url.absoluteString
        let body = try await load(ResourceRequest(url, .style), limit: StyleDocument.maxBytes)
        let choice = StyleChoice(ideographs: job.region.ideographs)
        let (document, needs): (StyleDocument, StyleNeeds)
        do throws(StylesError) {
            document = try StyleDocument([UInt8](body.body))
            needs = try StyleNeeds(document, base: address, choice: choice)
        } catch { throw .failed(.badStyle) }
        for note in needs.notes { draft.missing.append(Missing(note, cause: .badStyle)) }
        let style = StyleResource(url: address, kind: .style, path: PackPath.original)
        try addResources([style] + needs.resources.filter { $0.url != address }, address, for: job, to: &draft)
        guard withTiles else { return }
        for source in document.sources where source.hasTiles {
            let server = try await online(source, address)
            // A map asks for tiles of 256 pixels one zoom deeper.
            let shift = source.tileSize <= 256 ? 1 : 0
            let (first, last) = (job.region.zooms.min + shift, min(job.region.zooms.max + shift, TileID.maxZoom))
            guard let zooms = ZoomRange(min: min(first, last), max: last) else { continue }
            try addTiles(of: server, zooms: zooms, job, to: &draft)
        }
    }

    private func addResources(
        _ resources: [StyleResource], _ address: String, for job: RegionJob, to draft: inout PlanDraft
    ) throws(PlanProblem) {
        let id = FileInstaller.styleID(address, ideographs: job.region.ideographs)
        let key = InstalledFileKey(name: Item.style(id).key, isPack: false)
        let holder = Item.region(job.id)
        let current = job.view.rows.current(key)
        let base = current.flatMap { folder.place(of: $0) }
        let isKept = job.task.kind != .refresh && current.map { $0.isFresh || job.task.rule.acceptExpired } ?? false
        let version = isKept ? current?.version ?? 1 : (current?.version ?? 0) &+ 1
        let text = "\(key.name)|\(version)|" + resources.map(\.url).joined(separator: "|")
        let digest = isKept ? current?.sha256 ?? "" : Digest(of: Array(text.utf8)).hex
        let home = folder.unit(.style, Edition(), id: id, version: version, sha256: digest)
        guard let url = URL(string: address), let path = folder.relative(home.appending(path: "style.zip")) else {
            throw .failed(.invalidArguments)
        }
        let installed = InstalledFile(
            id: FileID(key: key, version: version, digest: digest), item: .style(id), path: path, bytes: 0,
            format: .styleArchive)
        let details = DownloadDetails(address: url, kind: .style, base: base, file: installed)
        draft.resources += UInt64(resources.count)
        if isKept, let current {
            draft.plan.present.resources.add(UInt64(resources.count), bytes: current.bytes)
            return draft.add(
                DownloadItem(holder: holder, file: current.id, size: current.bytes, source: .filled), details)
        }
        let filled = folder.part(sha256: digest).map(FilledStyle.known) ?? []
        draft.plan.present.resources.add(UInt64(resources.count { filled.contains($0.url) }), bytes: 0)
        // A pack that cannot be read gives no headers: everything is downloaded.
        let pack = base.flatMap { try? StylePack(StyleFiles.folder(of: $0)) }
        for resource in resources where !filled.contains(resource.url) {
            if let cause = refusal(of: resource.url) { throw .failed(cause) }
            guard let url = URL(string: resource.url) else { throw .failed(.badStyle) }
            var its = details
            (its.address, its.kind, its.resource) = (url, resource.kind.request, resource)
            if let etag = pack?.entry(resource.url)?.etag { its.headers["If-None-Match"] = etag }
            let file = FileID(key: key, version: version, digest: "\(digest)/\(resource.url)")
            draft.add(DownloadItem(holder: holder, file: file, size: Self.resourceBytes, source: .tile, copies: 2), its)
        }
        draft.add(
            DownloadItem(
                holder: holder, file: installed.id, size: 0, source: .filled, expires: Self.packExpiry, copies: 2),
            details)
    }

    /// Why an address may not be downloaded in bulk; one of an own scheme gets another address from the app.
    private func refusal(of address: String) -> FailureCause? {
        if transform != nil, let url = URL(string: address), let scheme = url.scheme?.lowercased(), !url.isFileURL,
            scheme != "http", scheme != "https"
        {
            return nil
        }
        return BulkPolicy.refusal(of: address)
    }

    /// The server of a style's source.
    private func online(
        _ source: StyleDocument.Source, _ base: String
    ) async throws(PlanProblem) -> OnlineSource {
        var (template, isTMS) = (source.tiles.first, source.isTMS)
        var (low, high) = (source.minZoom, source.maxZoom)
        var root = base
        if let reference = source.url {
            root = try resolve(reference, base)
            guard let url = URL(string: root) else { throw .failed(.badStyle) }
            let body = try await load(ResourceRequest(url, .source), limit: 4 << 20).body
            guard let document = TileJSONDocument([UInt8](body)) else { throw .failed(.badStyle) }
            (template, isTMS) = (document.template, document.isTMS)
            (low, high) = (document.minZoom, document.maxZoom)
        }
        guard let template else { throw .failed(.badStyle) }
        let full = try resolve(template, root)
        var online = OnlineSource(id: full, template: full)
        online.isTMS = isTMS
        online.tileSize = source.tileSize
        online.zooms = ZoomRange(min: low ?? 0, max: min(high ?? TileID.maxZoom, TileID.maxZoom))
        return online
    }

    private func resolve(_ reference: String, _ base: String) throws(PlanProblem) -> String {
        do throws(StylesError) { return try URLReference.resolve(reference, against: base) } catch {
            throw .failed(.badStyle)
        }
    }
}

extension StyleResource.Kind {
    /// The kind of the request.
    var request: ResourceRequest.Kind {
        switch self {
        case .style: .style
        case .source: .source
        case .data: .other
        case .glyphs: .glyphs
        case .spriteImage, .spriteJSON: .sprite
        case .image: .image
        }
    }
}
