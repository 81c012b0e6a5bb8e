public import CatalogFormat
internal import Digests
public import Errors
internal import Foundation
internal import Tiles

extension Catalog {
    /// Plans that packages of another catalog become the listed ones of this catalog; nothing is written.
    ///
    /// Packages that only this catalog has are left alone. A package with the same content is no part of the plan.
    /// - Parameters:
    ///   - selection: Which packages of the other catalog.
    ///   - staging: The other catalog; its lists are read without a lock.
    ///   - maxShrink: The largest share of its tiles or bytes that a package may lose, from 0 to 1; with 1 it may also lose
    ///     its attribution and vector layers.
    ///   - options: Whether packages of another tileset or area may be replaced; the rest is not used.
    ///   - settles: Whether an interrupted change of this catalog is completed first.
    /// - Throws: `bad-request` when both are one folder; `missing-package`, `package-shrunk`, `other-tileset`,
    ///   `other-area`; `signing-key`, `catalog-corrupt`, `disk-full`, `io`. All refused packages are in the details.
    public func planPromotion(
        of selection: CatalogSelection, from staging: Catalog, maxShrink: Double = CatalogDifference.usualShrinkage,
        options: PublishOptions = PublishOptions(), settles: Bool = true
    ) throws(CatalogError) -> CatalogPlan {
        guard staging.folder.resolvingSymlinksInPath().path != folder.resolvingSymlinksInPath().path else {
            throw CatalogError(
                .badRequest, "'\(folder.path)' is both catalogs. Give the staging catalog first, then the live one.")
        }
        if settles { _ = try settle() }
        let new = try selection.choose(from: try staging.lists(), named: staging.folder.path)
        let listed = try lists()
        var old: [CatalogEdition: [CatalogEntry]] = [:]
        for (edition, entries) in new {
            let ids = Set(entries.map(\.wholeID))
            old[edition] = listed[edition]?.filter { ids.contains($0.wholeID) }
        }
        var plan = CatalogPlan(kind: .promotion, difference: CatalogDifference(new: new, old: old))
        try Self.checkShrinkage(plan.difference, most: maxShrink)
        var refused: [CatalogError] = []
        for (edition, entries) in new.sorted(by: { $0.key < $1.key }) {
            let list = CatalogList(packages: listed[edition] ?? [])
            let before = Dictionary(ListedPackage.all(of: list.packages).map { ($0.id, $0) }) { first, _ in first }
            for package in ListedPackage.all(of: entries)
            where !(before[package.id].map(package.isContained) ?? false) {
                let whole = before[package.id]?.whole
                do throws(CatalogError) {
                    let request = try staging.request(package, in: edition, with: options)
                    try Self.checkMayReplace(whole, request, in: list)
                    try checkNames(request, in: list)
                    if maxShrink < 1, let whole { try Self.checkContent(of: request, whole, "--max-shrink 100%") }
                    plan.add(request, replacing: before[package.id])
                    if request.tilePacks == nil, whole.map({ $0.sha256 != request.digest.hex }) ?? false,
                        !idsWithPacks(among: [package.id], in: edition).isEmpty
                    {
                        plan.difference.warnings.append(
                            "Package '\(edition.path)\(package.id)' loses its tile packs: the version of staging has none. Cut them again with packhorse packs \(folder.path), or build it with --tile-packs."
                        )
                    }
                } catch {
                    refused.append(error)
                }
            }
        }
        if let error = Self.together(refused) { throw error }
        return plan
    }

    /// The request that publishes a package of this catalog in another one.
    private func request(
        _ package: ListedPackage, in edition: CatalogEdition, with options: PublishOptions
    ) throws(CatalogError) -> PublishRequest {
        var request = try PublishRequest(package, in: edition, of: self)
        request.options.replacesTileset = options.replacesTileset
        request.options.replacesArea = options.replacesArea
        // The plan has compared sizes.
        request.options.allowsShrink = true
        guard let entry = package.entries.first, !package.isInParts else { return request }
        let path = TilePackList.path(entry.id)
        if let bytes = try Self.bytes(place(path, edition)) {
            let list = try TilePackList(decoding: bytes, named: edition.path + path)
            // Another version of the package may be cut; its packs are not those of this one.
            if list.package == entry.sha256 {
                request.tilePacks = PublishedPacks(
                    list: bytes, files: list.packs.map { PublishedPacks.Pack(path: $0.path, size: $0.size) })
                request.packsHome = home(edition)
            }
        }
        return request
    }

    private static func checkShrinkage(_ difference: CatalogDifference, most: Double) throws(CatalogError) {
        let shrunk = difference.shrunk(beyond: most)
        guard let first = shrunk.first else { return }
        func text(_ package: CatalogDifference.Package) -> String {
            "\(package.edition)\(package.id): \(package.loss)"
        }
        throw CatalogError(
            .packageShrunk,
            "Package '\(first.edition)\(first.id)' would shrink by \(CatalogDifference.percent(first.shrinkage)), more than the allowed \(CatalogDifference.percent(most))"
                + "\(shrunk.count > 1 ? ", and \(shrunk.count - 1) more" : ""); nothing was changed.",
            details: shrunk.map(text),
            hint: "compare both with 'packhorse catalog diff'; allow it with --max-shrink")
    }

    /// One error for several refused packages; `nil` for none.
    static func together(_ refused: [CatalogError]) -> CatalogError? {
        guard let first = refused.first else { return nil }
        guard refused.count > 1 else {
            return CatalogError(
                first.code, "\(first.message) Nothing was changed.", details: first.details, hint: first.hint,
                cause: first)
        }
        return CatalogError(
            first.code, "\(refused.count) packages are refused; nothing was changed.", details: refused.map(\.message),
            cause: first)
    }
}

extension CatalogDifference.Package {
    /// What is lost, in numbers.
    fileprivate var loss: String {
        guard let new, let old else { return "" }
        let tiles = old.tiles.flatMap { old in new.tiles.map { "\(old) to \($0) tiles, " } } ?? ""
        return "\(tiles)\(old.bytes) to \(new.bytes) bytes"
    }
}

extension CatalogPlan {
    mutating func add(_ request: PublishRequest, replacing previous: ListedPackage?) {
        requests.append(request)
        expected[Place(edition: request.options.edition, id: request.id)] = .some(previous?.version)
    }
}

extension PublishRequest {
    /// Publishes a package of a catalog as it is, with a new version.
    ///
    /// - Parameter catalog: The catalog that has the package's files.
    /// - Throws: `catalog-corrupt` for an entry whose sizes or digests are none, and for parts of which one is missing;
    ///   `bad-request`.
    init(_ package: ListedPackage, in edition: CatalogEdition, of catalog: Catalog) throws(CatalogError) {
        guard package.isComplete, let whole = package.whole else {
            throw CatalogError(
                .corrupt,
                "Package '\(edition.path)\(package.id.prefix(130))' of '\(catalog.folder.path)' does not have all of its parts. Publish it again."
            )
        }
        try self.init(whole, in: edition, of: catalog, at: package.entries[0].id)
        if package.isInParts {
            for entry in package.entries { parts.append(try Self(entry, in: edition, of: catalog, at: entry.id)) }
            // The parts have entries, the whole has none.
            self.entry = nil
        }
        try check()
    }

    /// Publishes an entry whose files have the name of another one, if it is that of a whole package in parts.
    private init(
        _ entry: CatalogEntry, in edition: CatalogEdition, of catalog: Catalog, at name: String
    ) throws(CatalogError) {
        var published: [PublishFile] = []
        for file in entry.allFiles {
            guard let digest = Digest(hex: file.sha256), let size = UInt64(exactly: file.size) else {
                throw CatalogError(
                    .corrupt,
                    "Package '\(entry.id.prefix(130))' of '\(catalog.folder.path)' has a file with the size \(file.size) and the SHA-256 '\(file.sha256.prefix(70))'."
                )
            }
            published.append(
                PublishFile(
                    format: file.format, fileExtension: file.fileExtension,
                    url: catalog.place(
                        CatalogEntry.path(name, version: entry.version, fileExtension: file.fileExtension), edition),
                    digest: digest, size: size))
        }
        let main = published.removeFirst()
        let names = entry.metainfo.map { ($0.key.hasPrefix("name_") ? String($0.key.dropFirst(5)) : $0.key, $0.value) }
        self.init(
            id: entry.id, file: main.url, digest: main.digest, size: main.size, maskWire: entry.tileMask,
            names: Dictionary(names) { first, _ in first }, tilesHash: entry.tilesHash)
        self.entry = entry
        // A mask that cannot be read is refused by check().
        mask = try? TileMask(cartoText: entry.tileMask)
        files = published
        options.edition = edition
        attribution = entry.attribution ?? ""
        (encoding, tileSize) = (entry.encoding, entry.tileSize)
        tileset = entry.tileset ?? ""
        zooms = entry.minZoom.flatMap { low in entry.maxZoom.flatMap { ZoomRange(min: low, max: $0) } }
        failedTiles = entry.failedTiles
        layers = entry.layers
        tiles = entry.tiles.flatMap { UInt64(exactly: $0) }
        nodes = entry.nodes ?? []
        part = entry.part
    }
}
