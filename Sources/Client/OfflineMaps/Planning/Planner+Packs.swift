internal import CatalogFormat
internal import Digests
internal import Files
internal import Foundation
internal import Tiles

extension Planner {
    /// The packs of one package.
    struct OfferedPacks: Sendable {
        var offer: CatalogContent.Offer
        var list: TilePackList

        /// `mbtiles` or `pmtiles`.
        var format: Format { Format(list.format) }

        /// Where a pack lies below the catalog's folder: `de/packs/…` for a list at `de/regions/EE.json`.
        func path(_ pack: TilePackList.Pack) -> String? {
            guard let list = offer.packs?.url, let end = list.range(of: "regions/", options: .backwards) else {
                return nil
            }
            return list[..<end.lowerBound] + pack.path
        }
    }

    /// Adds all packs of a package.
    func addPacks(
        _ id: String, _ edition: Edition, for task: TaskRecord, in view: PlanView, to draft: inout PlanDraft
    ) async throws(PlanProblem) {
        let item = Item.packs(id, edition)
        guard let content = view.content else { throw view.lacksList }
        guard let offer = content.offer(id, edition) else { throw view.lacks(item) }
        let offered = try await packs(of: offer, view)
        for pack in offered.list.packs { try add(pack, of: offered, holder: item, task, in: view, to: &draft) }
    }

    /// Downloads and checks the list of a package's packs.
    func packs(of offer: CatalogContent.Offer, _ view: PlanView) async throws(PlanProblem) -> OfferedPacks {
        guard let file = offer.packs, let address = view.address.flatMap({ CatalogAddress($0).url(file.url) }) else {
            throw view.lacks("tile packs of '\(offer.id)': install the package whole")
        }
        guard file.size <= UInt64(TilePackList.maxBytes) else { throw .failed(.tooBig) }
        if let list = packLists.list(file.sha256) { return OfferedPacks(offer: offer, list: list) }
        let body: Data
        do throws(FetchError) {
            let download = MirroredFetch(servers: servers, fetcher: fetcher, transform: transform)
            body = try await download.body(ResourceRequest(address, .pack), limit: Int(file.size)) { body in
                UInt64(body.count) == file.size && Digest(of: Array(body)).hex == file.sha256
            }.body
        } catch {
            // The catalog may have just changed; the caller reads it once more and plans again. More bytes than the catalog
            // states are another list, too.
            guard error.cause != .badBytes, !error.hasOtherSize else { throw .failed(.badBytes) }
            throw .fault(FetchFault(error))
        }
        let list: TilePackList
        do throws(CatalogError) { list = try TilePackList(decoding: Array(body), named: file.url) } catch {
            throw .failed(.badCatalog)
        }
        packLists.insert(list, file.sha256)
        return OfferedPacks(offer: offer, list: list)
    }

    /// Adds one pack; one that is here and has not expired stays when the task accepts it.
    func add(
        _ pack: TilePackList.Pack, of offered: OfferedPacks, holder: Item?, _ task: TaskRecord, in view: PlanView,
        to draft: inout PlanDraft
    ) throws(PlanProblem) {
        let offer = offered.offer
        let edition = Edition(group: offer.group, language: offer.language)
        let key = InstalledFileKey.pack(
            tileset: offered.list.tileset, pack.index, pack.zooms, edition: edition,
            owner: pack.isComplete ? .all : .package(offer.id))
        guard
            let address = view.address.flatMap({ address in
                offered.path(pack).flatMap { CatalogAddress(address).url($0) }
            })
        else {
            throw .failed(.badCatalog)
        }
        let age = PackAge(date: offer.dataDate ?? "", source: .packs(offer.id, edition))
        let current = view.rows.current(key)
        let kept = current.flatMap { current in
            let accepts = task.kind == .load && task.rule.acceptExpired
            return accepts || view.isNewer(current, than: age, for: holder) ? current : nil
        }
        let place = folder.pack(offered.list.tileset, pack.index, sha256: pack.sha256).deletingPathExtension()
        guard let path = folder.relative(URL(filePath: place.path + offered.format.fileExtension)) else {
            throw .failed(.internalError)
        }
        // Its version is always 0: regions share a pack by its bytes, whatever version of a package they come from.
        let new = InstalledFile(
            id: FileID(key: key, version: 0, digest: pack.sha256), item: .packs(offer.id, edition), path: path,
            bytes: pack.size, format: offered.format, mask: pack.mask(in: offer.mask), zooms: pack.zooms,
            tileset: offered.list.tileset,
            dataDate: offer.dataDate, attribution: offer.attribution)
        let file = kept ?? new
        var download = DownloadItem(holder: holder, file: file.id, size: file.bytes, expires: Self.packExpiry, age: age)
        if let current, current.id == file.id {
            // What the list has is confirmed when it has expired; what it does not have only where it has nothing newer.
            let isConfirmed = file.sha256 == pack.sha256 || view.isNewer(current, than: age, for: holder)
            if file.sha256 != pack.sha256 { download.age = current.age }
            if !isConfirmed || current.isFresh { download.expires = current.expires }
        }
        draft.add(download, DownloadDetails(address: address, kind: .pack, file: file))
    }

    /// When a pack expires whose server does not say when: after 30 days.
    static var packExpiry: Int64 { Int64(Date().timeIntervalSince1970) + 30 * 86_400 }

    /// Sends a request of the plan, with the app's changes.
    func load(_ request: ResourceRequest, limit: Int) async throws(PlanProblem) -> FetchedBody {
        let changed = await request.changed(by: transform)
        do throws(FetchError) { return try await fetcher.body(changed, limit: limit) } catch {
            throw .fault(FetchFault(error))
        }
    }
}

extension PlanView {
    /// Whether an installed pack is newer than the one of a list, which another holder's list has.
    fileprivate func isNewer(_ current: InstalledFile, than age: PackAge, for holder: Item?) -> Bool {
        guard let known = current.age else { return false }
        return !age.replaces(known, isShared: rows.isHeld(current.id.key, besides: holder))
    }
}

extension FetchFault {
    /// What a failed request means for the task.
    init(_ error: FetchError) {
        switch error.cause {
        case .connection where error.isPage: self = .portal
        // After the head of an answer there was a connection.
        case .connection: self = (error.status ?? 0) == 0 ? .noConnection : .broken
        case .storage: self = error.isDiskFull ? .diskFull : .storage(error.message)
        default:
            if let status = error.status, !(200...399).contains(status) {
                let wait = error.retryAfter.map { $0.components.seconds * 1_000 }
                self = .status(status, retryAfter: wait)
            } else {
                self = .refused(error.cause)
            }
        }
    }
}

extension TilePackList.Pack {
    /// The tiles that it can have: a part of the package when it is not complete.
    func mask(in package: TileMask) -> TileMask {
        isComplete
            ? TileMask(tiles: [index], maxZoom: index.zoom).expanded(toZoom: zooms.max)
            : package.restricted(to: index).clipped(toZoom: zooms.max)
    }
}
