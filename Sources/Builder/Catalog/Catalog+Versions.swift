internal import CatalogFormat
internal import Errors
internal import Files
internal import Foundation

/// `versions.json` of an edition: entries that `packages.json` had before, of versions whose files are kept.
struct CatalogHistory: Codable, Equatable {
    /// Identifies an entry of the history.
    struct Key: Hashable, Sendable {
        let id: String
        let version: Int32
    }

    /// Ascending by id, newest version first.
    private(set) var packages: [CatalogEntry] = []
    /// Withdrawn packages by id, each with the version after its last one: a version number is never used again, and
    /// the catalog's sequence does not decrease.
    private(set) var removed: [String: Int32]?

    /// The last used version of a package; the next version must be greater.
    func last(of id: String, _ listed: CatalogEntry?) -> Int32 { max(listed?.version ?? 0, removed?[id] ?? 0) }

    /// What withdrawn packages add to the catalog's sequence; a package that is listed again counts with its version
    /// instead.
    func sequence(with list: CatalogList) -> Int64 {
        guard let removed, !removed.isEmpty else { return 0 }
        let listed = Set(list.packages.map(\.id))
        return removed.reduce(0) { listed.contains($1.key) ? $0 : $0 + Int64($1.value) }
    }

    /// The same history without its entries.
    var withoutPackages: CatalogHistory {
        var copy = self
        copy.packages = []
        return copy
    }

    mutating func remove(_ entry: CatalogEntry) {
        removed = (removed ?? [:]).merging([entry.id: entry.version + (entry.version < Int32.max ? 1 : 0)]) {
            max($0, $1)
        }
    }

    /// The earlier versions of a listed entry, newest first; not those of another package whose part had its id.
    func of(_ current: CatalogEntry) -> [CatalogEntry] {
        packages.filter {
            $0.id == current.id && $0.version < current.version && $0.wholeID == current.wholeID
        }
    }

    /// The earlier versions of a listed package, newest first: also those in which it was cut into other parts.
    ///
    /// A version of which a part is not kept is left out.
    func of(_ current: ListedPackage) -> [ListedPackage] {
        let older = packages.filter { $0.wholeID == current.id && $0.version < current.version }
        return Dictionary(grouping: older, by: \.version).sorted { $0.key > $1.key }.compactMap { _, entries in
            ListedPackage.all(of: entries).first { $0.isComplete }
        }
    }

    mutating func add(_ entry: CatalogEntry) {
        packages.removeAll { $0.id == entry.id && $0.version == entry.version }
        let isSorted = zip(packages, packages.dropFirst()).allSatisfy { !Self.precedes($1, $0) }
        if !isSorted { packages.sort(by: Self.precedes) }
        packages.insert(entry, at: packages.lowerBound { Self.precedes($0, entry) })
    }

    private static func precedes(_ left: CatalogEntry, _ right: CatalogEntry) -> Bool {
        left.id == right.id ? left.version > right.version : left.id.utf8.lexicographicallyPrecedes(right.id.utf8)
    }

    /// The earlier versions of all packages by id, newest first; may name versions that are listed themselves.
    func byPackage() -> [String: [CatalogEntry]] { Dictionary(grouping: packages, by: \.id) }

    /// Removes entries that no list refers to, and all but the newest `keep` versions of each package; the listed
    /// version counts.
    ///
    /// - Returns: The removed entries.
    mutating func trim(to keep: Int?, under list: CatalogList) -> [CatalogEntry] {
        let current = Dictionary(list.packages.map { ($0.wholeID, $0.version) }, uniquingKeysWith: max)
        var older: [String: Set<Int32>] = [:]
        for entry in packages where current[entry.wholeID].map({ entry.version < $0 }) ?? false {
            older[entry.wholeID, default: []].insert(entry.version)
        }
        // The listed version counts.
        let most = max(1, keep ?? Int.max) - 1
        let staying = older.mapValues { Set($0.sorted(by: >).prefix(most)) }
        var gone: [CatalogEntry] = []
        packages.removeAll { entry in
            let stays = staying[entry.wholeID]?.contains(entry.version) ?? false
            if !stays { gone.append(entry) }
            return !stays
        }
        return gone
    }

    /// Paths of all files and patches of these entries, inside the edition's folder.
    static func paths(_ entries: [CatalogEntry]) -> Set<String> {
        Set(
            entries.flatMap { entry in
                entry.allFiles.map { entry.path($0.fileExtension) }
                    + entry.patches.map { entry.patchPath(from: $0.from, format: $0.format) }
            })
    }
}

extension Catalog {
    func historyURL(_ edition: CatalogEdition) -> URL { place(CatalogWithdrawals.fileName, edition) }

    /// Earlier versions; empty in a catalog of an earlier build.
    func history(_ edition: CatalogEdition) throws(CatalogError) -> CatalogHistory {
        let url = historyURL(edition)
        if let known = memory.history(edition, at: url) { return known }
        let file = KnownFile(path: url.path)
        guard let bytes = try Self.bytes(url) else { return CatalogHistory() }
        do {
            let history = try JSONDecoder().decode(CatalogHistory.self, from: Data(bytes))
            memory.cache(KnownDocument(history, bytes: bytes, file: file), edition, wasRead: true)
            return history
        } catch {
            throw CatalogError(
                .corrupt,
                "'\(url.path)' is not a list of versions; it was not changed. Restore it from a backup, or remove it to forget old versions.",
                cause: error)
        }
    }

    /// Writes the history, unless the file already has this content.
    func write(_ history: CatalogHistory, _ edition: CatalogEdition) throws(CatalogError) {
        guard try self.history(edition) != history else { return }
        let url = historyURL(edition)
        let bytes = try encoded(history, edition)
        try write(bytes, to: url)
        memory.cache(KnownDocument(history, bytes: bytes, file: KnownFile(path: url.path)), edition, wasRead: false)
    }

    /// The history as it is written.
    func encoded(_ history: CatalogHistory, _ edition: CatalogEdition) throws(CatalogError) -> [UInt8] {
        let url = historyURL(edition)
        return try memory.encoding { (rows) throws(CatalogError) in
            let packages = try rows.histories[edition, default: EncodedRows()].elements(
                history.packages, by: { CatalogHistory.Key(id: $0.id, version: $0.version) }
            ) { (entry) throws(CatalogError) in try Self.row(entry, named: url.path) }
            return try Self.document(
                shell: try CatalogJSON.encode(history.withoutPackages, named: url.path), filling: ["packages": packages]
            )
        }
    }

    /// Removes the files of removed entries, except files that remaining entries still name.
    func removeFiles(
        of gone: [CatalogEntry], except staying: [CatalogEntry], _ edition: CatalogEdition
    ) throws(CatalogError) {
        guard !gone.isEmpty else { return }
        // A file name is an id and an extension: only an entry whose id has the same beginning as that of a removed
        // entry can name the same file.
        let kept = CatalogHistory.paths(
            staying.filter { entry in gone.contains { $0.id.hasPrefix(entry.id) || entry.id.hasPrefix($0.id) } })
        try CatalogError.naming { () throws(StorageError) in
            for path in CatalogHistory.paths(gone).subtracting(kept).sorted() {
                try Durable.remove(place(path, edition))
            }
        }
    }
}
