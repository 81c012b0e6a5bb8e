public import CatalogFormat
public import Errors
internal import Foundation

extension Catalog {
    /// Puts a finished package into the catalog, in all of its formats.
    ///
    /// The version is the last version plus one. It does not change if the bytes of all files are the same; a new
    /// format is added to the version it belongs to. The list is written only if its content changed. Files are linked
    /// if they are on the same file system, and copied otherwise. Each file is hashed before it is listed. Blocks while
    /// it reads the files. A request without a tileset keeps the listed tileset, unless it may replace it.
    /// - Throws: `bad-request`, `bad-file`, `other-tileset`, `other-area`, `package-shrunk`, `signing-key`,
    ///   `catalog-corrupt`, `disk-full`, `io`; the list is then unchanged.
    public func publish(_ request: PublishRequest) throws(CatalogError) -> Published {
        guard let result = publish([request]).first else {
            throw CatalogError(.badRequest, "Package '\(request.id)' was not published.")
        }
        return try result.get()
    }

    /// Puts finished packages into the catalog; writes its lists, index and signature once for all of them.
    ///
    /// Works as ``publish(_:)-(PublishRequest)`` for each; the failure of one package does not affect the others. A
    /// reader sees either the old catalog or the catalog with all of them. Blocks while it reads their files.
    /// - Returns: The result of each, in their order. If the lists cannot be written, none of them is published.
    public func publish(_ requests: [PublishRequest]) -> [Result<Published, CatalogError>] {
        var outcomes = [Result<Published, CatalogError>?](repeating: nil, count: requests.count)
        do throws(CatalogError) {
            try checkMaySign()
            try locked { () throws(CatalogError) in
                var changes: [CatalogEdition: CatalogChange] = [:]
                for (number, request) in requests.enumerated() {
                    do throws(CatalogError) {
                        outcomes[number] = .success(try add(request, to: &changes))
                    } catch {
                        outcomes[number] = .failure(error)
                    }
                }
                try write(changes)
            }
        } catch {
            outcomes = outcomes.map { if case .failure? = $0 { $0 } else { .failure(error) } }
        }
        return outcomes.map { $0 ?? .failure(CatalogError(.badRequest, "The package was not published.")) }
    }

    /// How long it took to write the lists of the last change by this value; `nil` before the first change.
    public var listCost: Duration? { memory.listCost }

    /// Checks a package and adds it to the change of its edition.
    func add(
        _ request: PublishRequest, to changes: inout [CatalogEdition: CatalogChange]
    ) throws(CatalogError) -> Published {
        try request.check()
        let edition = request.options.edition
        var change: CatalogChange
        if let known = changes[edition] {
            change = known
        } else {
            change = CatalogChange(list: try list(edition), history: try history(edition))
        }
        let published = try add(request, to: &change)
        changes[edition] = change
        return published
    }

    /// Moves a package's files to their place and adds it to the lists that will be written.
    func add(_ request: PublishRequest, to change: inout CatalogChange) throws(CatalogError) -> Published {
        let edition = request.options.edition
        let whole = change.list.whole(request.id)
        var request = request
        if let known = whole?.tileset, request.tileset.isEmpty, !request.options.replacesTileset {
            request.tileset = known
            for part in request.parts.indices { request.parts[part].tileset = known }
        }
        try Self.checkMayReplace(whole, request, in: change.list)
        guard request.parts.isEmpty else { return try addParts(request, to: &change) }
        try takePacks(of: request)
        try checkPacks(request)
        let last = lastVersion(request, change)
        drop(listedOf: request.id, except: [request.id], from: &change)
        let previous = change.list.packages.first { $0.id == request.id }
        let (version, isSame) = try place(request, previous, after: last)
        let stays = previous?.version == version
        let (same, base) = (stays ? previous : nil, baseURL + edition.path)
        let entry =
            request.entry?.placed(
                as: version, like: same, tileset: request.tileset.isEmpty ? nil : request.tileset, base: base)
            ?? CatalogEntry(request, version: version, like: same, base: base)
        if previous != entry {
            change.list.put(entry)
            if let previous, !stays { change.history.add(previous) }
            change.isListNew = true
        }
        let losesPacks =
            request.tilePacks == nil && !stays && !idsWithPacks(among: [request.id], in: edition).isEmpty
        if let packs = request.tilePacks {
            change.packLists[request.id] = packs.list
        } else if !stays {
            // The packs belong to the previous version: this version has none.
            change.packLists.updateValue(nil, forKey: request.id)
        }
        return Published(
            version: version, path: place(entry.path, edition), pathInside: edition.path + entry.path,
            unchanged: isSame, losesPacks: losesPacks)
    }

    /// Checks that every pack exists: a pruning may have removed one that no list named yet.
    private func checkPacks(_ request: PublishRequest) throws(CatalogError) {
        for pack in request.tilePacks?.files ?? [] {
            guard CatalogIndex.isInside(pack.path), try fileSize(place(pack.path, request.options.edition)) == pack.size
            else {
                throw CatalogError(
                    .io,
                    "Tile pack '\(request.options.edition.path)\(pack.path)' no longer exists; it will be built again.")
            }
        }
    }

    /// Replaces the lists.
    ///
    /// Order: histories first, then lists, then the index; old files are removed last.
    /// - Parameter record: For a change that must be made as a whole, also when the process dies during it: what is
    ///   remembered of it.
    func write(
        _ changes: [CatalogEdition: CatalogChange], asOneWith record: PromotionRecord? = nil
    ) throws(CatalogError) {
        let start = ContinuousClock.now
        var changes = changes
        var gone: [CatalogEdition: [CatalogEntry]] = [:]
        for edition in changes.keys.sorted() {
            guard var change = changes[edition], change.isListNew else { continue }
            gone[edition] = change.history.trim(to: keepVersions, under: change.list)
            changes[edition] = change
        }
        if let record { try begin(journal(of: changes, record)) }
        do throws(CatalogError) {
            try replaceLists(changes, record)
        } catch {
            throw record == nil ? error : Self.begun(error)
        }
        memory.listCost = ContinuousClock.now - start
        for (edition, entries) in gone {
            guard let change = changes[edition] else { continue }
            try removeFiles(of: entries, except: change.list.packages + change.history.packages, edition)
        }
    }

    /// A failure after a change that must be made as a whole has become certain.
    static func begun(_ error: CatalogError) -> CatalogError {
        CatalogError(
            error.code,
            "\(error.message) The change had begun and is completed by the next one who changes this catalog; repeat the command when this is mended.",
            details: error.details, hint: "to undo the change after that: packhorse catalog rollback", cause: error)
    }

    private func replaceLists(
        _ changes: [CatalogEdition: CatalogChange], _ record: PromotionRecord?
    ) throws(CatalogError) {
        // Lists from an earlier, failed attempt may not be in the index yet: then nothing looks new, but the index must
        // be written.
        var isNew = isIndexStale
        try markIndexStale()
        for edition in changes.keys.sorted() {
            guard let change = changes[edition] else { continue }
            for (id, list) in change.packLists.sorted(by: { $0.key < $1.key }) {
                isNew = try write(packList: list, of: id, edition) || isNew
            }
            guard change.isListNew else { continue }
            try write(change.history, edition)
            try write(change.list, edition)
            isNew = true
        }
        if let record { try write(record) }
        guard isNew || record != nil else { return unmarkIndex() }
        try refreshIndex()
        unmarkIndex()
        if record != nil { try endJournal() }
    }
}

/// The new content of an edition after a publication or a withdrawal, before any of it is written.
struct CatalogChange {
    var list: CatalogList
    var history: CatalogHistory
    var isListNew = false
    /// Lists of tile packs by package; `nil` removes the existing list.
    var packLists: [String: [UInt8]?] = [:]
    /// Entries that are no longer listed in any version; the caller that withdraws them removes their files.
    var withdrawn: [CatalogEntry] = []
}
