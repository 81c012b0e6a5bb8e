public import CatalogFormat
internal import Digests
public import Errors
public import Tiles

/// How much of one area another area shares.
///
/// Separates a new version of a region from a package of another place with the same id.
struct AreaOverlap: Hashable {
    /// The deepest zoom at which both areas have tiles; they are compared at this zoom.
    let zoom: Int
    /// Tiles of the old area at that zoom; at least 1.
    let old: UInt64
    /// How many of those tiles the new area has.
    let shared: UInt64

    /// `nil` when one of them is empty.
    init?(old: TileMask, new: TileMask) {
        guard let zoom = [old.deepestZoom, new.deepestZoom].compactMap(\.self).min(), !old.isEmpty, !new.isEmpty else {
            return nil
        }
        self.zoom = zoom
        self.old = old.count(atZoom: zoom)
        shared = old.intersection(new).count(atZoom: zoom)
    }

    /// Whether the new area has fewer than half of the old one's tiles.
    ///
    /// An area that grows, or gets other zooms, keeps all of its tiles.
    var isOtherArea: Bool { shared < old - shared }
}

/// How much smaller a package is than the catalog's version.
///
/// A loss counts if it is more than half of the tiles or bytes.
struct PackageShrinkage: Hashable {
    let what: String
    let old: UInt64
    let new: UInt64

    /// `nil` if the new package has at least half of the tiles and of the bytes.
    ///
    /// Tile counts are compared only if both are known.
    ///
    /// - Parameter oldBytes: The bytes of the old version, without what its parts have in common.
    init?(old: CatalogEntry, oldBytes: UInt64, tiles: UInt64?, size: UInt64) {
        let numbers = [("tiles", old.tiles.map { UInt64(max(0, $0)) }, tiles), ("bytes", oldBytes, size)]
        for case (let what, let old?, let new?) in numbers where new < old && new < old - new {
            (self.what, self.old, self.new) = (what, old, new)
            return
        }
        return nil
    }
}

extension Catalog {
    /// Refuses a package that may not take the place of the listed one.
    ///
    /// - Throws: `bad-request`, `other-tileset`, `other-area`, `package-shrunk`.
    static func checkMayReplace(
        _ previous: CatalogEntry?, _ request: PublishRequest, in list: CatalogList
    ) throws(CatalogError) {
        let edition = request.options.edition
        try checkIsNoPart(request.id, in: list, edition)
        try checkIsAlike(list, request)
        guard let previous else { return try checkCase([request.id], in: list, edition) }
        if let known = previous.tileset, !request.tileset.isEmpty, known != request.tileset,
            !request.options.replacesTileset
        {
            throw otherTileset(previous, tileset: request.tileset, in: edition)
        }
        let entries = list.packages.filter { $0.wholeID == request.id }
        try checkPlace(
            of: request, previous, bytes: CatalogEntry.bytes(of: entries, comparedWith: request.parts.count))
    }

    /// Refuses packages whose area differs from that of the listed package with the same id, before any work is done
    /// for them.
    ///
    /// Publishing checks this again, because the catalog may change in the meantime. A listed mask that cannot be read
    /// is not compared.
    /// - Throws: `other-area` naming the first of them and how many more there are; `catalog-corrupt`, `io`.
    public func check(areas: [String: TileMask], in edition: CatalogEdition = .main) throws(CatalogError) {
        var others: [(CatalogEntry, AreaOverlap)] = []
        for entry in try wholePackages(among: Set(areas.keys), in: edition) {
            // A mask that cannot be read has no area to compare.
            guard let new = areas[entry.id], let old = try? TileMask(cartoText: entry.tileMask), old != new,
                let overlap = AreaOverlap(old: old, new: new), overlap.isOtherArea
            else { continue }
            others.append((entry, overlap))
        }
        if let (entry, overlap) = others.first {
            throw Self.otherArea(entry, overlap: overlap, in: edition, more: others.count - 1)
        }
    }

    /// Refuses a package that is probably a mistake: its area differs from that of the listed version of its id, it
    /// has less than half of its tiles or bytes, or it lacks its attribution or half of its vector layers.
    ///
    /// - Parameter bytes: The least bytes of the listed version, whose parts may have tiles in common.
    /// - Throws: `other-area`, `package-shrunk`.
    private static func checkPlace(
        of request: PublishRequest, _ previous: CatalogEntry, bytes: UInt64
    ) throws(CatalogError) {
        // Of a package in parts this is the digest of the first one, which says nothing of the others.
        guard !request.parts.isEmpty || previous.sha256 != request.digest.hex else { return }
        let isSameArea = previous.tileMask == request.maskWire
        // A mask that cannot be read has no area to compare.
        if !request.options.replacesArea, !isSameArea, let old = try? TileMask(cartoText: previous.tileMask),
            // The same holds for the new mask.
            let new = try? request.mask ?? TileMask(cartoText: request.maskWire),
            let overlap = AreaOverlap(old: old, new: new),
            overlap.isOtherArea
        {
            throw otherArea(previous, overlap: overlap, in: request.options.edition)
        }
        // A package that may have another area, other zooms or another tileset cannot be compared by size.
        let hasOtherZooms =
            request.zooms.map { ($0.min, $0.max) != (previous.minZoom ?? $0.min, previous.maxZoom ?? $0.max) } ?? false
        let hasOtherTileset = previous.tileset != nil && previous.tileset != request.tileset
        let isExpected =
            request.options.allowsShrink || request.options.replacesArea && (!isSameArea || hasOtherZooms)
            || request.options.replacesTileset && hasOtherTileset
        guard !isExpected else { return }
        try checkContent(of: request, previous, "--allow-shrink (submit, retry, catalog import)")
        guard
            let loss = PackageShrinkage(old: previous, oldBytes: bytes, tiles: request.tiles, size: request.size)
        else { return }
        throw CatalogError(
            .packageShrunk,
            "Package '\(request.id)' would shrink from \(loss.old) \(loss.what) in version \(previous.version) to \(loss.new), less than half. Allow it with --allow-shrink (submit, retry, catalog import)."
        )
    }

    /// Refuses a package without the attribution, or without half of the vector layers, that the listed version has.
    ///
    /// Layers of a source without a list of them are those that its tiles have, so a rare one can go with the next data.
    ///
    /// - Parameter permission: The option that allows it.
    /// - Throws: `package-shrunk`.
    static func checkContent(
        of request: PublishRequest, _ previous: CatalogEntry, _ permission: String
    ) throws(CatalogError) {
        let lost: String
        if let attribution = previous.attribution, request.attribution.isEmpty {
            lost = "its attribution '\(attribution.prefix(100))'"
        } else if let layers = request.layers,
            case let missing = (previous.layers ?? []).filter({ !layers.contains($0) }), !missing.isEmpty,
            2 * missing.count >= previous.layers?.count ?? 0
        {
            let more = missing.count > 10 ? " and \(missing.count - 10) more" : ""
            lost = "its vector layers \(missing.prefix(10).joined(separator: ", "))\(more)"
        } else {
            return
        }
        throw CatalogError(
            .packageShrunk,
            "Package '\(request.id)' would lose \(lost), which version \(previous.version) has. Check the source; allow it with \(permission)."
        )
    }

    /// Why a package of another area cannot take the place of `entry`.
    private static func otherArea(
        _ entry: CatalogEntry, overlap: AreaOverlap, in edition: CatalogEdition, more: Int = 0
    ) -> CatalogError {
        let others = more == 0 ? "" : " \(more) more of these packages have the same problem."
        return CatalogError(
            .otherArea,
            "Package '\(entry.id)' of edition '\(edition)' is another area: the new one has \(overlap.shared) of its \(overlap.old) tiles of zoom \(overlap.zoom), less than half.\(others) Use another id, or --replace-area."
        )
    }
}
