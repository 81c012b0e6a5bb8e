internal import CatalogFormat
internal import Tiles

/// Packages that the catalog has in parts, because their file would be too large: one offer each, with the offers of its parts.
extension CatalogContent {
    /// Makes one offer of the parts of each package; a package whose parts are not complete stays as they are.
    static func joined(_ offers: [Offer]) -> [Offer] {
        struct Whole: Hashable {
            var id: String
            var group: String?
            var language: String?
        }
        var parts: [Whole: [Offer]] = [:]
        for offer in offers {
            guard let part = offer.part else { continue }
            parts[Whole(id: part.of, group: offer.group, language: offer.language), default: []].append(offer)
        }
        guard !parts.isEmpty else { return offers }
        for offer in offers { parts[Whole(id: offer.id, group: offer.group, language: offer.language)] = nil }
        var joined: [Offer] = []
        for offer in offers {
            let whole = offer.part.map { Whole(id: $0.of, group: offer.group, language: offer.language) }
            guard let whole, let own = parts[whole] else {
                joined.append(offer)
                continue
            }
            let sorted = own.sorted { $0.part?.number ?? 0 < $1.part?.number ?? 0 }
            let isComplete = sorted.enumerated().allSatisfy {
                $1.part == CatalogPart(of: whole.id, number: $0 + 1, count: sorted.count)
            }
            // The first part of the list stands for all of them.
            if !isComplete { joined.append(offer) } else if own.first == offer { joined.append(Offer(parts: sorted)) }
        }
        return joined
    }
}

extension CatalogContent.Offer {
    /// One offer of parts, which are in the order of their numbers and not none.
    fileprivate init(parts: [CatalogContent.Offer]) {
        self = parts[0]
        self.parts = parts
        id = parts[0].part?.of ?? id
        part = nil
        version = parts.map(\.version).max() ?? version
        mask = TileMask(union: parts.map(\.mask)) ?? mask
        // A format that every part has; its files are those of the parts.
        files = parts[0].files.compactMap { file in
            let same = parts.compactMap { part in part.files.first { $0.format == file.format } }
            guard same.count == parts.count else { return nil }
            return CatalogContent.Download(
                format: file.format, url: file.url, size: same.reduce(0) { $0 + $1.size }, sha256: file.sha256)
        }
        (patches, packs) = ([], nil)
    }

    /// What is downloaded: its parts, or itself.
    var pieces: [CatalogContent.Offer] { parts.isEmpty ? [self] : parts }

    /// Whether the current files of an item are those that it has.
    func isInstalled(_ item: Item, in files: [InstalledFile]) -> Bool {
        guard case .package(_, let edition, let format) = item else { return false }
        let wanted = pieces.compactMap { piece in
            piece.files.first { $0.format == format.name }.map { (Item.package(piece.id, edition, format), $0.sha256) }
        }
        return wanted.allSatisfy { item, sha256 in
            files.contains { $0.isRead && $0.item == item && $0.sha256 == sha256 }
        }
    }
}

extension Item {
    /// Whether another item is this one, or can be a part of this package: `CA-2` of `CA`.
    func isMade(of other: Item) -> Bool {
        if self == other { return true }
        guard case .package(let id, let edition, let format) = self,
            case .package(let part, edition, format) = other, part.hasPrefix(id + "-"),
            let number = Int(part.dropFirst(id.utf8.count + 1))
        else { return false }
        return number > 0 && part == "\(id)-\(number)"
    }
}
