internal import CatalogFormat
internal import Foundation
internal import PackageFiles

extension Planner {
    /// Adds the file of a package or the files of its parts, as patches where they pay, and with an update or an installation the
    /// selected groups.
    func addPackage(
        _ id: String, _ edition: Edition, format: Format, for task: TaskRecord, in view: PlanView,
        to draft: inout PlanDraft
    ) throws(PlanProblem) {
        let item = Item.package(id, edition, format)
        if let choice = task.companions, choice.with.isEmpty, !choice.without.isEmpty {
            return release(choice, of: item, in: view, from: &draft)
        }
        guard let address = view.address, let content = view.content else { throw view.lacksList }
        guard let offer = content.offer(id, edition) else { throw view.lacks(item) }
        guard offer.files.contains(where: { $0.format == format.name }) else {
            let formats = offer.files.map(\.format).joined(separator: ", ")
            throw view.lacks("'\(item.key)'; it has '\(offer.id)' as \(formats)", isKnown: view.holds(item))
        }
        let base = CatalogAddress(address)
        try add(offer, as: item, holder: item, base, for: task, in: view, to: &draft)
        guard edition.group == nil else { return }
        try addCompanions(of: item, base, for: task, in: view, to: &draft)
        for group in view.groups.sorted() {
            let wanted = Edition(group: group, language: edition.language)
            guard let offer = content.offer(id, wanted), offer.files.contains(where: { $0.format == format.name })
            else { continue }
            // The base package holds its groups: they go with it.
            try add(
                offer, as: .package(id, wanted, format), holder: item, base, for: task, in: view, to: &draft)
        }
    }

    /// Adds all files of a package in one edition and format; what it had in other parts is released.
    private func add(
        _ offer: CatalogContent.Offer, as item: Item, holder: Item, _ base: CatalogAddress, for task: TaskRecord,
        in view: PlanView, to draft: inout PlanDraft
    ) throws(PlanProblem) {
        guard case .package(_, let edition, let format) = item else { throw .failed(.internalError) }
        var wanted: Set<String> = []
        for piece in offer.pieces {
            guard let file = piece.files.first(where: { $0.format == format.name }) else { continue }
            let own = Item.package(piece.id, edition, format)
            wanted.insert(own.key)
            try add(file, of: piece, as: own, holder: holder, base, for: task, in: view, to: &draft)
        }
        if !offer.parts.isEmpty { draft.plan.swapsTogether = true }
        draft.plan.released.formUnion(
            view.rows.holds.filter { hold in
                hold.item == holder && !hold.key.isPack && !wanted.contains(hold.key.name)
                    && Item(key: hold.key.name).map(item.isMade) ?? false
            })
    }

    func add(
        _ file: CatalogContent.Download, of offer: CatalogContent.Offer, as item: Item, holder: Item,
        _ base: CatalogAddress, for task: TaskRecord, in view: PlanView, to draft: inout PlanDraft
    ) throws(PlanProblem) {
        guard let address = base.url(file.url) else { throw .failed(.badCatalog) }
        let key = InstalledFileKey(name: item.key, isPack: false)
        guard !view.keepsAdopted(key, task) else { return }
        // A part with the same bytes as before has a new version of its package, and stays as it is.
        if offer.part != nil, let current = view.rows.current(key), current.sha256 == file.sha256 {
            let details = DownloadDetails(address: address, kind: .package, file: current)
            return draft.add(DownloadItem(holder: holder, file: current.id, size: file.size), details)
        }
        let home = folder.unit(.package, item.edition, id: offer.id, version: offer.version, sha256: file.sha256)
        let ending = offer.companion?.fileExtension ?? Format(file.format).fileExtension
        var name = StoreFolder.component(offer.id) + ending
        if name.lowercased() == InstalledFileDocument.name { name += Format.opaque.fileExtension }
        guard let path = folder.relative(home.appending(path: name)) else { throw .failed(.internalError) }
        var installed = InstalledFile(
            id: FileID(key: key, version: offer.version, digest: file.sha256), item: item, path: path,
            bytes: file.size, format: Format(file.format), mask: offer.mask, zooms: offer.zooms, tileset: offer.tileset,
            dataDate: offer.dataDate, attribution: offer.attribution)
        installed.engine = offer.companion?.engine
        var details = DownloadDetails(address: address, kind: .package, file: installed)
        let patch = patch(to: file, of: offer, key: key, base, in: view, &details)
        draft.add(
            DownloadItem(holder: holder, file: installed.id, size: file.size, source: .file(patch)), details)
    }

    /// The patch from the installed file, when there is one and it pays.
    private func patch(
        to file: CatalogContent.Download, of offer: CatalogContent.Offer, key: InstalledFileKey, _ base: CatalogAddress,
        in view: PlanView, _ details: inout DownloadDetails
    ) -> DownloadPatch? {
        // A companion with the same bytes has another engine: its patch is one copy.
        let isOpaque = file.format == Format.opaque.name
        guard let current = view.rows.current(key), current.format.name == file.format,
            isOpaque ? Patch.knowsOpaqueFiles : current.sha256 != file.sha256,
            let patch = offer.patches.first(where: { $0.from == current.version && $0.format == file.format }),
            PatchRule.pays(patch: Int64(clamping: patch.size), whole: Int64(clamping: file.size)),
            let address = base.url(patch.url), let old = folder.place(of: current)
        else { return nil }
        (details.patch, details.base) = (address, old)
        return DownloadPatch(digest: patch.sha256, size: patch.size, base: current.sha256)
    }

    /// Adds a style pack of the catalog.
    func addStyle(_ id: String, for task: TaskRecord, _ view: PlanView, to draft: inout PlanDraft) throws(PlanProblem) {
        let item = Item.style(id)
        guard let catalog = view.address, let content = view.content else { throw view.lacksList }
        guard let style = content.styles.first(where: { $0.id == id }) else { throw view.lacks(item) }
        let file = style.file
        let home = folder.unit(.style, Edition(), id: id, version: style.version, sha256: file.sha256)
        guard let address = CatalogAddress(catalog).url(file.url),
            let path = folder.relative(home.appending(path: "style.zip"))
        else { throw .failed(.badCatalog) }
        let key = InstalledFileKey(name: item.key, isPack: false)
        guard !view.keepsAdopted(key, task) else { return }
        let installed = InstalledFile(
            id: FileID(key: key, version: style.version, digest: file.sha256), item: item, path: path,
            bytes: file.size, format: .styleArchive)
        draft.add(
            DownloadItem(holder: item, file: installed.id, size: file.size, copies: 1),
            DownloadDetails(address: address, kind: .other, file: installed))
    }
}

extension CatalogContent {
    /// The package in an edition; when the catalog does not have the language, in the catalog's own.
    func offer(_ id: String, _ edition: Edition) -> Offer? {
        func find(_ language: String?) -> Offer? {
            let known = offers.filter { $0.group == edition.group && $0.language == language }
            // A part has its own name only where the store does not know that it belongs to a package: after its database was lost.
            return known.first { $0.id == id } ?? known.lazy.flatMap(\.parts).first { $0.id == id }
        }
        return find(edition.language) ?? (edition.language == nil ? nil : find(nil))
    }
}

extension PlanView {
    /// Whether a task leaves a file as it is: an update never replaces one that was adopted, because no server has it.
    func keepsAdopted(_ key: InstalledFileKey, _ task: TaskRecord) -> Bool {
        task.kind == .update && rows.readable(key)?.isAdopted == true
    }

    /// Whether something is installed for an item.
    func holds(_ item: Item) -> Bool {
        rows.holds.contains { $0.item == item } || rows.files.values.contains { $0.item == item }
    }
}

extension Format {
    /// The archive of a style pack.
    static let styleArchive = Format("style")

    /// How the names of such files end.
    var fileExtension: String {
        switch self {
        case .mbtiles: ".mbtiles"
        case .pmtiles: ".pmtiles"
        case .maplibre: ".db"
        case .styleArchive: ".zip"
        default: ".data"
        }
    }
}

extension StoreFolder {
    /// The file of a row; a file that was adopted where it is has an absolute path.
    func place(of installed: InstalledFile) -> URL? {
        installed.isOutside ? URL(filePath: installed.path) : file(installed.path)
    }
}
