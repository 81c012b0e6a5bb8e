internal import CatalogFormat
internal import Tiles

/// Which packages of a catalog a region needs.
enum PackageChoice {
    /// Few packages of a tileset that together cover an area, the ones with the largest part of it first.
    ///
    /// Each step takes the package that covers most of what is left; of equal ones, the smallest. What no package
    /// covers is left out.
    ///
    /// - Parameters:
    ///   - tileset: The tileset; packages without one count as their own.
    ///   - edition: The data group and the language; packages without a language are used where there are no others.
    ///   - cover: The tiles of the area, down to the deepest wanted zoom.
    ///   - hasPacks: Whether to choose among the packages with tile packs, or among the others.
    /// - Returns: The packages, and what of the area they do not cover.
    static func packages(
        of tileset: String, _ edition: Edition, in content: CatalogContent, covering cover: TileMask, hasPacks: Bool
    ) -> (offers: [CatalogContent.Offer], left: TileMask) {
        guard let deepest = cover.deepestZoom else { return ([], cover) }
        func offers(_ language: String?) -> [CatalogContent.Offer] {
            content.offers.filter {
                ($0.tileset ?? $0.id) == tileset && $0.group == edition.group && $0.language == language
                    && ($0.packs != nil) == hasPacks
            }
        }
        var candidates = offers(edition.language)
        if candidates.isEmpty, edition.language != nil { candidates = offers(nil) }
        var chosen: [CatalogContent.Offer] = []
        // Masks end at their last zooms: the area is compared at the shallower of the two.
        var left = cover.clipped(toZoom: deepest)
        while !left.isEmpty, !candidates.isEmpty {
            let shares = candidates.map { share(of: left, in: $0.mask) }
            guard
                let best = candidates.indices.max(by: { one, other in
                    if shares[one] != shares[other] { return shares[one] < shares[other] }
                    return (candidates[one].mask.share, candidates[one].id)
                        > (candidates[other].mask.share, candidates[other].id)
                }), shares[best] > 0
            else { break }
            let offer = candidates.remove(at: best)
            left = left.subtracting(offer.mask.expanded(toZoom: deepest))
            chosen.append(offer)
        }
        return (chosen, left)
    }

    /// The part of a mask's deepest tiles that another mask covers, 0...1.
    private static func share(of mask: TileMask, in other: TileMask) -> Double {
        guard let deepest = mask.deepestZoom else { return 0 }
        let zoom = min(deepest, other.maxZoom)
        let wanted = mask.count(atZoom: zoom)
        guard wanted > 0 else { return 0 }
        return Double(mask.clipped(toZoom: zoom).intersection(other.clipped(toZoom: zoom)).count(atZoom: zoom))
            / Double(wanted)
    }

    /// The packs that an area needs, of several packages; of packs with the same tiles one that is whole is taken once.
    ///
    /// - Parameter packages: Lists of packs in the order of preference.
    /// - Returns: Packs with the numbers of their lists.
    static func packs(
        of lists: [TilePackList], covering cover: TileMask, zooms: ZoomRange
    ) -> [(list: Int, pack: TilePackList.Pack)] {
        struct Place: Hashable {
            var index: TileID
            var zooms: ZoomRange
        }
        var whole: [Place: (list: Int, pack: TilePackList.Pack)] = [:]
        var parts: [(place: Place, list: Int, pack: TilePackList.Pack)] = []
        for (number, list) in lists.enumerated() {
            for pack in list.packs {
                guard let span = pack.zooms.intersection(zooms), cover.contains(pack.index),
                    pack.index.zoom == span.min || cover.restricted(to: pack.index).count(in: span) > 0
                else { continue }
                let place = Place(index: pack.index, zooms: pack.zooms)
                if !pack.isComplete {
                    parts.append((place, number, pack))
                } else if whole[place] == nil {
                    whole[place] = (number, pack)
                }
            }
        }
        let all =
            whole.values.map { ($0.list, $0.pack) }
            + parts.filter { whole[$0.place] == nil }.map { ($0.list, $0.pack) }
        return all.sorted { left, right in
            let (a, b) = (left.1, right.1)
            if a.zooms.min != b.zooms.min { return a.zooms.min < b.zooms.min }
            return a.index != b.index ? a.index < b.index : left.0 < right.0
        }
    }
}
