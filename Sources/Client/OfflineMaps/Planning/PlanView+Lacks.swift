internal import Foundation
internal import TextFormats

/// What a catalog does not have: its address, the thing, and what it has instead.
extension PlanView {
    /// No list was read.
    var lacksList: PlanProblem {
        let text =
            address.map { "No list was read from the catalog '\($0.absoluteString)'." } ?? "The store has no catalog."
        return .failed(.notInCatalog, text: text)
    }

    /// The catalog does not have a thing.
    ///
    /// - Parameter isKnown: Whether the store has it, so that the catalog had it before.
    func lacks(_ thing: String, isKnown: Bool = false) -> PlanProblem {
        let name = address.map { " '\($0.absoluteString)'" } ?? ""
        return .failed(
            isKnown ? .superseded : .notInCatalog,
            text: "The catalog\(name) does not have \(thing)\(thing.hasSuffix("?") ? "" : ".")")
    }

    /// The catalog does not have a package, its packs, or a style.
    func lacks(_ item: Item) -> PlanProblem {
        let (id, edition) = (item.identifier, item.edition)
        let known: [String]
        let thing: String
        if case .style = item {
            (known, thing) = (content?.styles.map(\.id) ?? [], "the style '\(id)'")
        } else {
            let offers = content?.offers.filter { $0.group == edition.group } ?? []
            known = Set(offers.map(\.id)).sorted()
            thing = "the package '\(id)'\(Self.words(edition))"
        }
        return lacks(thing + Self.instead(of: id, known), isKnown: holds(item))
    }

    /// No package of a tileset has tile packs in an area.
    ///
    /// - Parameter whole: The packages of the tileset that cover the area and have no tile packs.
    func lacks(tileset: String, _ edition: Edition, whole: [String]) -> PlanProblem {
        let offers = content?.offers.filter { $0.group == edition.group } ?? []
        let known = Set(offers.map { $0.tileset ?? $0.id })
        let words = "'\(tileset)'\(Self.words(edition))"
        guard whole.isEmpty else {
            return lacks("tile packs of the tileset \(words): install its packages whole (\(Self.list(whole)))")
        }
        guard known.contains(tileset) else {
            let packed = Set(offers.filter { $0.packs != nil }.map { $0.tileset ?? $0.id }).sorted()
            let instead = packed.isEmpty ? ", nor tile packs of any other" : Self.instead(of: tileset, packed)
            return lacks("the tileset \(words)\(instead)")
        }
        return lacks("tile packs of the tileset \(words) in this area")
    }

    private static func words(_ edition: Edition) -> String {
        (edition.group.map { " in the group '\($0)'" } ?? "")
            + (edition.language.map { " in the language '\($0)'" } ?? "")
    }

    private static func instead(of id: String, _ known: [String]) -> String {
        if let nearest = Nearest.word(to: id, among: known), nearest != id { return "; did you mean '\(nearest)'?" }
        return known.isEmpty ? "" : "; it has \(list(known))"
    }

    private static func list(_ ids: [String]) -> String {
        ids.prefix(5).joined(separator: ", ") + (ids.count > 5 ? " and \(ids.count - 5) more" : "")
    }
}
