internal import Foundation
internal import Synchronization

/// Finds packages by their names in all languages of the catalog, ignoring case and diacritics.
///
/// The folded names are made at the first search and kept.
final class CatalogSearch: Sendable {
    /// How well a name matches: the beginning of the name, of a word, or anything inside.
    private enum Match: Int {
        case beginning, word, inside
    }

    private struct Entry {
        /// The folded name of the place itself by language, without the names above it.
        var names: [String: String]
        var id: String
    }

    private let offers: [CatalogContent.Offer]
    private let entries = Mutex<[Entry]?>(nil)

    init(_ offers: [CatalogContent.Offer]) { self.offers = offers }

    /// The numbers of the offers that match, the best first.
    ///
    /// Beginnings come before words, words before the rest; within each, names in the asked language come first, then
    /// shorter names. A package that exists in several languages is found once for each group, in the asked language
    /// where it exists.
    func find(_ text: String, language: String) -> [Int] {
        let wanted = Self.folded(text)
        guard !wanted.isEmpty, wanted.utf8.count <= 1_000 else { return [] }
        var best: [String: (rank: Int, length: Int, name: String, offer: Int)] = [:]
        for (number, entry) in known().enumerated() {
            guard let found = Self.rank(entry, for: wanted, language: language) else { continue }
            let offer = offers[number]
            let key = "\(offer.group ?? "")/\(offer.id)"
            if let other = best[key], !Self.isBetter(offer, than: offers[other.offer], language) { continue }
            best[key] = (found.rank, found.name.utf8.count, found.name, number)
        }
        return best.values.sorted {
            ($0.rank, $0.length, $0.name, offers[$0.offer].group ?? "", offers[$0.offer].id)
                < ($1.rank, $1.length, $1.name, offers[$1.offer].group ?? "", offers[$1.offer].id)
        }.map(\.offer)
    }

    private static func isBetter(
        _ offer: CatalogContent.Offer, than other: CatalogContent.Offer, _ language: String
    ) -> Bool {
        func rank(_ offer: CatalogContent.Offer) -> Int {
            offer.language == language ? 0 : offer.language == nil ? 1 : 2
        }
        return rank(offer) < rank(other)
    }

    private static func rank(_ entry: Entry, for wanted: String, language: String) -> (rank: Int, name: String)? {
        if entry.id == wanted { return (0, entry.names[language] ?? entry.id) }
        var best: (rank: Int, name: String)?
        for (key, name) in entry.names {
            guard let match = match(name, wanted) else { continue }
            let rank = match.rawValue * 2 + (key == language ? 0 : 1)
            if best.map({ (rank, name) < ($0.rank, $0.name) }) ?? true { best = (rank, name) }
        }
        return best
    }

    private static func match(_ name: String, _ wanted: String) -> Match? {
        if name.hasPrefix(wanted) { return .beginning }
        var isInside = false
        var rest = name[...]
        while let place = rest.range(of: wanted) {
            isInside = true
            if place.lowerBound > name.startIndex {
                let before = name[name.index(before: place.lowerBound)]
                if !before.isLetter && !before.isNumber { return .word }
            }
            rest = rest[rest.index(after: place.lowerBound)...]
        }
        return isInside ? .inside : nil
    }

    private func known() -> [Entry] {
        entries.withLock { entries in
            if let entries { return entries }
            let new = offers.map { offer in
                Entry(
                    names: offer.names.mapValues {
                        Self.folded($0.partsBetweenSlashes(omittingEmpty: true).last ?? "")
                    },
                    id: Self.folded(offer.id))
            }
            entries = new
            return new
        }
    }

    /// Without case, diacritics, width, and spaces around it.
    static func folded(_ text: String) -> String {
        text.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
