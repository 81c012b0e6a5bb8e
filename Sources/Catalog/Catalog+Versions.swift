internal import Foundation
internal import Shards

/// `versions.json` of an edition: entries that `packages.json` had before, of versions whose files are kept.
struct CatalogHistory: Codable, Equatable {
    /// Ascending by id, newest version first.
    private(set) var packages: [CatalogEntry] = []
    /// Packages that were withdrawn, by id, each with a version above its last: a version's name is never used again, and the catalog's
    /// sequence does not fall.
    private(set) var removed: [String: Int32]?

    /// The version that the next one of a package comes after.
    func last(of id: String, _ listed: CatalogEntry?) -> Int32 { max(listed?.version ?? 0, removed?[id] ?? 0) }

    /// What withdrawn packages count in the catalog's sequence; one that is listed again counts by its version.
    func sequence(beside list: CatalogList) -> Int64 {
        let listed = Set(list.packages.map(\.id))
        return (removed ?? [:]).reduce(0) { listed.contains($1.key) ? $0 : $0 + Int64($1.value) }
    }

    mutating func remove(_ entry: CatalogEntry) {
        removed = (removed ?? [:]).merging([entry.id: entry.version + (entry.version < Int32.max ? 1 : 0)]) {
            max($0, $1)
        }
    }

    /// The earlier versions of a listed package, newest first.
    func of(_ current: CatalogEntry) -> [CatalogEntry] {
        packages.filter { $0.id == current.id && $0.version < current.version }
    }

    mutating func add(_ entry: CatalogEntry) {
        packages.removeAll { $0.id == entry.id && $0.version == entry.version }
        packages.append(entry)
        packages.sort {
            $0.id == $1.id ? $0.version > $1.version : $0.id.utf8.lexicographicallyPrecedes($1.id.utf8)
        }
    }

    /// Lets go of what no list leads to, and of all but `keep` versions of a package, the listed one included.
    ///
    /// - Returns: The entries that went.
    mutating func trim(to keep: Int?, under list: CatalogList) -> [CatalogEntry] {
        let current = Dictionary(list.packages.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        var left: [String: Int] = [:]
        var gone: [CatalogEntry] = []
        packages.removeAll { entry in
            let older = current[entry.id].map { entry.version < $0.version } ?? false
            left[entry.id, default: 1] += older ? 1 : 0
            let stays = older && left[entry.id, default: 1] <= max(1, keep ?? Int.max)
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
                    + entry.patches.map { entry.patchPath(from: $0.from) }
            })
    }
}

extension Catalog {
    func historyURL(_ edition: CatalogEdition) -> URL { place("versions.json", edition) }

    /// Earlier versions; none in a catalog of an earlier build.
    func history(_ edition: CatalogEdition) throws(CatalogError) -> CatalogHistory {
        let url = historyURL(edition)
        guard let bytes = try Self.bytes(url) else { return CatalogHistory() }
        do { return try JSONDecoder().decode(CatalogHistory.self, from: Data(bytes)) } catch {
            throw CatalogError(
                .corrupt,
                "'\(url.path)' is not a list of versions; it is left as it is. Restore it, or remove it to forget old versions.",
                cause: error)
        }
    }

    /// Writes what is remembered, unless it is there already.
    func write(_ history: CatalogHistory, _ edition: CatalogEdition) throws(CatalogError) {
        guard try self.history(edition) != history else { return }
        try write(history, to: historyURL(edition))
    }

    /// Removes the files of entries that went, except those that the ones that stay still name.
    func removeFiles(
        of gone: [CatalogEntry], except staying: [CatalogEntry], _ edition: CatalogEdition
    ) throws(CatalogError) {
        guard !gone.isEmpty else { return }
        let kept = CatalogHistory.paths(staying)
        try CatalogError.naming { () throws(ShardsError) in
            for path in CatalogHistory.paths(gone).subtracting(kept).sorted() {
                try Durable.remove(place(path, edition))
            }
        }
    }
}
