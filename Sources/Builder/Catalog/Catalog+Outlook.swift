public import CatalogFormat
public import Errors
internal import Foundation

extension Catalog {
    /// Refuses packages that may not replace the listed ones, before any work is done for them.
    ///
    /// Publishing checks this again, because the catalog may change in the meantime.
    /// - Parameters:
    ///   - ids: Packages to publish.
    ///   - tileset: Id of the tileset that they are built from; an empty id is never refused.
    ///   - edition: The part of the catalog they go to.
    /// - Throws: `other-tileset` naming the first of them and how many more there are; `catalog-corrupt`, `io`.
    public func check(
        _ ids: [String], of tileset: String, in edition: CatalogEdition = .main
    ) throws(CatalogError) {
        guard !tileset.isEmpty else { return }
        let wanted = Set(ids)
        let others = try wholePackages(among: wanted, in: edition).filter {
            $0.tileset != nil && $0.tileset != tileset
        }
        if let first = others.first {
            throw Self.otherTileset(first, tileset: tileset, in: edition, more: others.count - 1)
        }
    }

    /// Refuses packages whose ids differ from listed ids only in upper and lower case.
    ///
    /// On a case-insensitive file system (macOS, Windows, SD cards) both files would be the same file, also on a device
    /// that installs both packages.
    /// - Throws: `bad-request` naming both; `catalog-corrupt`, `io`.
    public func checkCase(_ ids: [String], in edition: CatalogEdition = .main) throws(CatalogError) {
        try Self.checkCase(ids, in: try list(edition), edition)
    }

    static func checkCase(_ ids: [String], in list: CatalogList, _ edition: CatalogEdition) throws(CatalogError) {
        // Ids are ASCII, so that upper and lower case have the same length.
        let (wanted, lengths) = (Set(ids), Set(ids.map(\.utf8.count)))
        let folded = Set(ids.map { $0.lowercased() })
        var listed: Set<String> = []
        var known: [String: String] = [:]
        // By index: an entry that is copied changes the reference counts of all its members.
        for index in list.packages.indices {
            let id = list.packages[index].id
            guard lengths.contains(id.utf8.count) else { continue }
            if wanted.contains(id) { listed.insert(id) }
            let name = id.lowercased()
            if folded.contains(name), known[name] == nil { known[name] = id }
        }
        for id in ids where !listed.contains(id) {
            guard let other = known[id.lowercased()] else { continue }
            throw CatalogError(
                .badRequest,
                "Package id '\(id)' differs from '\(other)' of edition '\(edition)' only in upper and lower case: on devices with case-insensitive file systems both would be the same file. Use '\(other)' or another id, or remove '\(other)' first (packhorse catalog remove)."
            )
        }
    }

    /// The packages among `ids` that have tile packs, ascending.
    ///
    /// A new version without packs removes them.
    public func idsWithPacks(among ids: [String], in edition: CatalogEdition = .main) -> [String] {
        ids.filter { access(place(TilePackList.path($0), edition).path, F_OK) == 0 }.sorted()
    }

    /// Why a package of `tileset` cannot take the place of `entry`.
    static func otherTileset(
        _ entry: CatalogEntry, tileset: String, in edition: CatalogEdition, more: Int = 0
    ) -> CatalogError {
        let others = more == 0 ? "" : " \(more) more of these packages have the same problem."
        return CatalogError(
            .otherTileset,
            "Package '\(entry.id)' of edition '\(edition)' is built from tileset '\(entry.tileset ?? "")'; a package of '\(tileset)' would replace it.\(others) Publish it to another edition or catalog, or under another id, or allow the replacement (--replace-tileset)."
        )
    }
}
