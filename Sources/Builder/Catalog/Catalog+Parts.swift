public import CatalogFormat
internal import Digests
public import Errors

extension Catalog {
    /// Moves the files of a package's parts to their places and puts the parts into the lists that will be written, in place of all that
    /// is listed of the package.
    ///
    /// All parts have one version. It does not change when there are as many parts as before, with the same bytes.
    func addParts(_ request: PublishRequest, to change: inout CatalogChange) throws(CatalogError) -> Published {
        let edition = request.options.edition
        let listed = change.list.parts(of: request.id)
        try checkNames(request, in: change.list)
        let parts = request.parts
        let last = lastVersion(request, change)
        let kept = try samePlace(parts, listed)
        let version: Int32
        if let kept { version = kept.version } else { version = try placeAnew(parts, after: last) }
        for part in parts {
            let same = kept == nil ? nil : listed.first { $0.id == part.id }
            let base = baseURL + edition.path
            let entry =
                part.entry?.placed(
                    as: version, like: same, tileset: part.tileset.isEmpty ? nil : part.tileset, base: base)
                ?? CatalogEntry(part, version: version, like: same, base: base)
            guard same != entry else { continue }
            if let previous = change.list.packages.first(where: { $0.id == part.id }), same == nil {
                change.history.add(previous)
            }
            change.list.put(entry)
            change.isListNew = true
        }
        drop(listedOf: request.id, except: Set(parts.map(\.id)), from: &change)
        let first = CatalogEntry.path(
            parts[0].id, version: version, fileExtension: parts[0].main.fileExtension)
        return Published(
            version: version, path: place(first, edition), pathInside: edition.path + first,
            unchanged: kept?.isSame ?? false,
            losesPacks: false)
    }

    /// Takes what is listed of a package off the list, except some entries; it stays as an earlier version of the package.
    func drop(listedOf id: String, except ids: Set<String>, from change: inout CatalogChange) {
        let gone = change.list.packages.filter { $0.wholeID == id && !ids.contains($0.id) }
        guard !gone.isEmpty else { return }
        let names = Set(gone.map(\.id))
        change.list.packages.removeAll { names.contains($0.id) }
        for entry in gone {
            change.history.remove(entry)
            change.history.add(entry)
            change.packLists.updateValue(nil, forKey: entry.id)
        }
        change.isListNew = true
    }

    /// The last version that the package, or an entry of one of its parts, has had.
    func lastVersion(_ request: PublishRequest, _ change: CatalogChange) -> Int32 {
        let listed = change.list.version(of: request.id) ?? 0
        let ids = [request.id] + request.parts.map(\.id)
        return max(listed, ids.map { change.history.last(of: $0, nil) }.max() ?? 0)
    }

    /// The version of the listed parts when their files are those of the new ones, and whether it lists all of them.
    private func samePlace(
        _ parts: [PublishRequest], _ listed: [CatalogEntry]
    ) throws(CatalogError) -> (version: Int32, isSame: Bool)? {
        guard let version = listed.first?.version, listed.map(\.id) == parts.map(\.id),
            zip(parts, listed).allSatisfy({ $1.version == version && $1.sha256 == $0.digest.hex })
        else { return nil }
        for (part, entry) in zip(parts, listed) {
            for file in part.allFiles {
                let known = entry.allFiles.first { $0.format == file.format }
                guard known.map({ $0.sha256 == file.digest.hex && $0.fileExtension == file.fileExtension }) ?? true
                else {
                    return nil
                }
            }
        }
        var isSame = true
        for (part, entry) in zip(parts, listed) {
            let placed = try place(part, entry, after: version)
            // Other bytes lie where a new format belongs.
            guard placed.version == version else { return nil }
            isSame = isSame && placed.isSame
        }
        return (version, isSame)
    }

    /// Refuses a part whose id is that of another listed package, or differs from one only in case.
    func checkNames(_ request: PublishRequest, in list: CatalogList) throws(CatalogError) {
        let ids = request.parts.map(\.id)
        if let other = list.packages.first(where: { ids.contains($0.id) && $0.part?.of != request.id }) {
            throw Self.otherName(other.id, partOf: request.id, in: request.options.edition)
        }
        try Self.checkCase(ids, in: list, request.options.edition)
    }

    /// Why a part cannot have its name.
    static func otherName(_ id: String, partOf whole: String, in edition: CatalogEdition) -> CatalogError {
        CatalogError(
            .badRequest,
            "Edition '\(edition)' has another package '\(id)', and the parts of '\(whole)' have such names. Give '\(whole)' another id (--id), or a larger --max-file."
        )
    }

    /// Refuses packages whose parts would have the ids of other packages, listed or to be published together.
    ///
    /// Publishing checks the packages of the catalog again.
    /// - Throws: `bad-request`; `catalog-corrupt`, `io`.
    public func checkPartNames(_ ids: [String], in edition: CatalogEdition = .main) throws(CatalogError) {
        let list = try list(edition)
        for id in ids {
            func isPart(_ other: String) -> Bool {
                guard other.hasPrefix(id + "-"), let number = Int(other.dropFirst(id.count + 1)) else { return false }
                return number > 0 && other == "\(id)-\(number)"
            }
            if let other = list.packages.first(where: { isPart($0.id) && $0.part?.of != id }) {
                throw Self.otherName(other.id, partOf: id, in: edition)
            }
            guard let other = ids.first(where: isPart) else { continue }
            throw CatalogError(
                .badRequest,
                "The parts of '\(id)' would be named like the package '\(other)' of the same job. Give one of them another id, or submit them apart and omit --max-file."
            )
        }
    }

    /// Refuses a package whose id is that of a part of another one.
    static func checkIsNoPart(_ id: String, in list: CatalogList, _ edition: CatalogEdition) throws(CatalogError) {
        guard let part = list.packages.first(where: { $0.id == id })?.part else { return }
        throw CatalogError(
            .badRequest,
            "'\(id)' of edition '\(edition)' is part \(part.number) of package '\(part.of)'. Use another id, or remove '\(part.of)' first (packhorse catalog remove)."
        )
    }
}
