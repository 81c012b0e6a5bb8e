public import Errors
internal import Foundation
internal import Shards

extension Catalog {
    /// Puts a finished package into the catalog, in all of its formats.
    ///
    /// The version is one more than the last, and stays when the bytes of all files are the same; a format that was not there is
    /// added to the version it belongs to. The list is only written if something in it changed. Files are linked when they lie on
    /// the same file system, and copied otherwise. Each is hashed before it is listed. Blocks for the time of reading them.
    /// A request that tells no tileset keeps the one that is listed, unless it may replace it.
    /// - Throws: `bad-request`, `bad-file`, `other-tileset`, `other-area`, `package-shrunk`, `signing-key`, `catalog-corrupt`, `disk-full`, `io`; the list is then as it was.
    public func publish(_ request: PublishRequest) throws(CatalogError) -> Published {
        guard let result = publish([request]).first else {
            throw CatalogError(.badRequest, "Package '\(request.id)' was not published.")
        }
        return try result.get()
    }

    /// Puts finished packages into the catalog, and writes its lists, index and signature once for all of them.
    ///
    /// As ``publish(_:)-(PublishRequest)`` for each; one that fails leaves the others. A reader sees the catalog of before or the one with all
    /// of them. Blocks for the time of reading their files.
    /// - Returns: What became of each, in their order. When the lists cannot be written, none of them is published.
    public func publish(_ requests: [PublishRequest]) -> [Result<Published, CatalogError>] {
        var outcomes = [Result<Published, CatalogError>?](repeating: nil, count: requests.count)
        do throws(CatalogError) {
            try checkMaySign()
            try locked { () throws(CatalogError) in
                var changes: [CatalogEdition: CatalogChange] = [:]
                for (number, request) in requests.enumerated() {
                    do throws(CatalogError) {
                        try request.check()
                        var change: CatalogChange
                        if let known = changes[request.edition] {
                            change = known
                        } else {
                            change = CatalogChange(
                                list: try list(request.edition), history: try history(request.edition))
                        }
                        outcomes[number] = .success(try add(request, to: &change))
                        changes[request.edition] = change
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

    /// The time that it took to write the lists of the last change that this value made; `nil` before the first.
    public var listCost: Duration? { memory.listCost }

    /// Brings a package's files to their place and lists it in what is about to be written.
    private func add(_ request: PublishRequest, to change: inout CatalogChange) throws(CatalogError) -> Published {
        let edition = request.edition
        let previous = change.list.packages.first { $0.id == request.id }
        var request = request
        if let known = previous?.tileset, request.tileset.isEmpty, !request.replacesTileset { request.tileset = known }
        if let previous, let known = previous.tileset, !request.tileset.isEmpty, known != request.tileset,
            !request.replacesTileset
        {
            throw Self.otherTileset(previous, request.tileset, edition)
        }
        if previous == nil { try Self.checkCase([request.id], in: change.list, edition) }
        if let previous { try Self.checkPlace(of: request, previous) }
        try checkPacks(request)
        let (version, isSame) = try place(request, previous, after: change.history.last(of: request.id, previous))
        let stays = previous?.version == version
        let entry = CatalogEntry(request, version: version, like: stays ? previous : nil, base: baseURL + edition.path)
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
            // Packs of the version before: this one was not cut.
            change.packLists.updateValue(nil, forKey: request.id)
        }
        return Published(
            version: version, path: place(entry.path, edition), unchanged: isSame, losesPacks: losesPacks)
    }

    /// Whether every pack is there: a pruning may have met one that no list named yet.
    private func checkPacks(_ request: PublishRequest) throws(CatalogError) {
        for pack in request.tilePacks?.files ?? [] {
            guard CatalogIndex.isInside(pack.path), try fileSize(place(pack.path, request.edition)) == pack.size else {
                throw CatalogError(
                    .io, "Tile pack '\(request.edition.path)\(pack.path)' is not there any more; it is cut again.")
            }
        }
    }

    /// Lets lists take the place of those before: what is remembered first, the index after them, old files last.
    func write(_ changes: [CatalogEdition: CatalogChange]) throws(CatalogError) {
        let start = ContinuousClock.now
        var changes = changes
        var gone: [CatalogEdition: [CatalogEntry]] = [:]
        // Lists that an earlier attempt wrote may have no index yet: then nothing looks new, and it is.
        var isNew = isIndexStale
        try markIndexStale()
        for edition in changes.keys.sorted() {
            guard var change = changes[edition] else { continue }
            for (id, list) in change.packLists.sorted(by: { $0.key < $1.key }) {
                isNew = try write(packList: list, of: id, edition) || isNew
            }
            guard change.isListNew else { continue }
            gone[edition] = change.history.trim(to: keepVersions, under: change.list)
            changes[edition] = change
            try write(change.history, edition)
            try write(change.list, edition)
            isNew = true
        }
        guard isNew else { return unmarkIndex() }
        try refreshIndex()
        unmarkIndex()
        memory.listCost = ContinuousClock.now - start
        for (edition, entries) in gone {
            guard let change = changes[edition] else { continue }
            try removeFiles(of: entries, except: change.list.packages + change.history.packages, edition)
        }
    }
}

/// What a publication or a withdrawal makes of an edition, before anything of it is written.
struct CatalogChange {
    var list: CatalogList
    var history: CatalogHistory
    var isListNew = false
    /// Lists of tile packs by package; `nil` takes the one that is there away.
    var packLists: [String: [UInt8]?] = [:]
    /// Entries that are listed no more, in no version; their files are the withdrawer's to remove.
    var withdrawn: [CatalogEntry] = []
}
