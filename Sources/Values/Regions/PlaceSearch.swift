/// Regions and towns that a person may mean by a text: those of this name, else those whose name begins so, else those with a similar name.
public struct PlaceSearch: Sendable {
    /// How names relate to the text.
    public enum Match: String, Sendable {
        case name
        case beginning
        case similar
    }

    /// How the names of all places found relate to the text.
    public let match: Match
    /// The widest first.
    public let regions: [Region]
    /// The most populous first; of similar names the most alike first.
    public let towns: [Town]
    /// How many towns were left out.
    public let left: Int

    /// Whether nothing was found.
    public var isEmpty: Bool { regions.isEmpty && towns.isEmpty }

    /// Searches.
    ///
    /// - Parameter limit: How many towns at most.
    /// - Throws: ``RegionsError`` `.badResource`.
    public static func find(
        _ text: String, in tree: RegionTree, _ towns: TownList, limit: Int
    ) throws(RegionsError) -> PlaceSearch {
        let regions = tree.meanings(of: text).sorted { $0.kind < $1.kind }
        let named = try towns.all(named: text, in: tree)
        if !regions.isEmpty || !named.isEmpty {
            return PlaceSearch(
                match: .name, regions: regions, towns: Array(named.prefix(limit)), left: max(0, named.count - limit))
        }
        let near = tree.suggestions(for: text).compactMap { tree[$0] }
        let folded = NameFolding.fold(text)
        let starting = near.filter { $0.names.values.contains { NameFolding.fold($0).hasPrefix(folded) } }
        let beginning = try towns.beginning(with: text, limit: limit)
        if !starting.isEmpty || !beginning.isEmpty {
            return PlaceSearch(match: .beginning, regions: starting, towns: beginning, left: 0)
        }
        return PlaceSearch(
            match: .similar, regions: near, towns: try towns.similar(to: text, limit: limit), left: 0)
    }
}
