public import Errors
internal import Foundation

extension Catalog {
    /// Refuses packages that could not take the place of those that are there, before anything is made of them.
    ///
    /// Publishing asks the same again: the catalog may be another by then.
    /// - Parameters:
    ///   - ids: Packages that are to be published.
    ///   - tileset: Id of the tileset that they are to be made of; an empty one is never refused.
    ///   - edition: The part of the catalog they go to.
    /// - Throws: `other-tileset` naming the first of them and how many more there are; `catalog-corrupt`, `io`.
    public func check(
        _ ids: [String], of tileset: String, in edition: CatalogEdition = .main
    ) throws(CatalogError) {
        guard !tileset.isEmpty else { return }
        let wanted = Set(ids)
        let others = try list(edition).packages.filter {
            wanted.contains($0.id) && $0.tileset != nil && $0.tileset != tileset
        }
        if let first = others.first { throw Self.otherTileset(first, tileset, edition, more: others.count - 1) }
    }

    /// Refuses packages whose ids differ from listed ones in letter case alone.
    ///
    /// Their files, and those of devices that have both, would be one on a file system that does not tell case apart: macOS, Windows, SD cards.
    /// - Throws: `bad-request` naming both; `catalog-corrupt`, `io`.
    public func checkCase(_ ids: [String], in edition: CatalogEdition = .main) throws(CatalogError) {
        try Self.checkCase(ids, in: try list(edition), edition)
    }

    static func checkCase(_ ids: [String], in list: CatalogList, _ edition: CatalogEdition) throws(CatalogError) {
        let listed = Set(list.packages.map(\.id))
        let new = ids.filter { !listed.contains($0) }
        guard !new.isEmpty else { return }
        let known = Dictionary(list.packages.map { ($0.id.lowercased(), $0.id) }) { first, _ in first }
        for id in new {
            guard let other = known[id.lowercased()] else { continue }
            throw CatalogError(
                .badRequest,
                "Package id '\(id)' differs from '\(other)' of catalog '\(edition)' in letter case alone: their files would be one on devices that do not tell it apart. Use '\(other)' or another id, or remove '\(other)' first (packhorse catalog remove)."
            )
        }
    }

    /// Those of the packages that have tile packs, ascending: a new version that is not cut into packs takes them away.
    public func idsWithPacks(among ids: [String], in edition: CatalogEdition = .main) -> [String] {
        ids.filter { access(place(CatalogPackList.path($0), edition).path, F_OK) == 0 }.sorted()
    }

    /// Why a package of `tileset` cannot take the place of `entry`.
    static func otherTileset(
        _ entry: CatalogEntry, _ tileset: String, _ edition: CatalogEdition, more: Int = 0
    ) -> CatalogError {
        let others = more == 0 ? "" : " So it is with \(more) more of these packages."
        return CatalogError(
            .otherTileset,
            "Package '\(entry.id)' of catalog '\(edition)' is made of tileset '\(entry.tileset ?? "")'; one of '\(tileset)' would take its place.\(others) Publish it to another catalog or under another id, or allow the replacement (--replace-tileset)."
        )
    }
}
