/// The towns compiled into this binary, by name: about 69,000 populated places of GeoNames.
///
/// Names are compared as those of regions are: case, accents and punctuation do not matter. Other spellings and languages count, too.
public struct TownList: Sendable {
    /// The attribution that must accompany the data wherever it is shown or distributed; the text of the licence is named in NOTICE.
    public static let attribution = "Towns from GeoNames (geonames.org), CC BY 4.0."

    let bytes: TownBytes

    /// The embedded list; takes microseconds.
    ///
    /// - Throws: ``RegionsError`` `.badResource` when the binary is damaged.
    public static func embedded() throws(RegionsError) -> TownList { TownList(bytes: try TownBytes(.towns)) }

    /// How many towns there are.
    public var count: Int { bytes.count }

    /// Calls a function with each town, the most populous first.
    ///
    /// Reads the whole list, some milliseconds.
    package func forEach(_ body: (Town) -> Void) throws(RegionsError) {
        for block in 0..<bytes.townBlocks {
            try bytes.forEachTown(inBlock: block) { _, town in
                body(town)
                return true
            }
        }
    }

    /// The town with a number of GeoNames; `nil` when the list does not have it.
    ///
    /// Reads the list to the town.
    public func town(id: Int) throws(RegionsError) -> Town? {
        var found: Town?
        for block in 0..<bytes.townBlocks where found == nil {
            try bytes.forEachTown(inBlock: block) { _, town in
                if town.id == id { found = town }
                return found == nil
            }
        }
        return found
    }

    /// The towns that a text names, the most populous first; empty when no town has the name.
    ///
    /// A name (`Tartu`, `Dorpat`, `Тарту`), with a region that it lies in (`Tartu, EE`, `Estonia/Tartu`, `Springfield, IL`), or
    /// ``Town/key``. Towns that have the name as another spelling count only when no town has it as its own, or when they are more populous
    /// than all of those: `Cologne` means Köln too, although a town of 7,500 people has this name.
    public func named(_ text: String, in tree: RegionTree) throws(RegionsError) -> [Town] {
        try owners(of: text, in: tree).filter(\.counts).map(\.town)
    }

    /// All towns that have a name, the most populous first, also those that ``named(_:in:)`` leaves out.
    public func all(named text: String, in tree: RegionTree) throws(RegionsError) -> [Town] {
        try owners(of: text, in: tree).map(\.town)
    }

    private func owners(of text: String, in tree: RegionTree) throws(RegionsError) -> [(town: Town, counts: Bool)] {
        let trimmed = text.trimmedOfSpaces
        if trimmed.lowercased().hasPrefix(Town.keyStart) {
            guard let id = Int(trimmed.dropFirst(Town.keyStart.count)), let town = try town(id: id) else { return [] }
            return [(town, true)]
        }
        let whole = try owners(ofFolded: NameFolding.fold(trimmed))
        if !whole.isEmpty { return try Self.counted(towns(whole)) }
        let path = trimmed.split(separator: "/").map(String.init)
        let place = trimmed.split { ",()".contains($0) }.map { String($0).trimmedOfSpaces }.filter { !$0.isEmpty }
        for parts in [place, path.reversed()] where parts.count > 1 {
            let found = try towns(owners(ofFolded: NameFolding.fold(parts[0]))).filter { owner in
                parts.dropFirst().allSatisfy { lies(owner.town, in: $0, of: tree) }
            }
            if !found.isEmpty { return Self.counted(found) }
        }
        return []
    }

    private func towns(_ owners: [TownBytes.Owner]) throws(RegionsError) -> [(town: Town, isOwn: Bool)] {
        var found: [(town: Town, isOwn: Bool)] = []
        for owner in owners { found.append((try bytes.town(owner.index), owner.isOwn)) }
        return found
    }

    /// Which towns count: the most populous comes first, so other spellings count until the first town with its own name.
    private static func counted(_ towns: [(town: Town, isOwn: Bool)]) -> [(town: Town, counts: Bool)] {
        let first = towns.firstIndex(where: \.isOwn) ?? towns.count
        return towns.enumerated().map { ($1.town, $1.isOwn || $0 < first) }
    }

    /// The towns with exactly this folded name, in the order of the list.
    private func owners(ofFolded name: String) throws(RegionsError) -> [TownBytes.Owner] {
        let wanted = Array(name.utf8)
        guard !wanted.isEmpty else { return [] }
        var found: [TownBytes.Owner] = []
        try bytes.forEachName(fromBlock: try bytes.nameBlock(of: wanted)) { (name, owners) throws(RegionsError) in
            if name == wanted { found = owners }
            return name.lexicographicallyPrecedes(wanted)
        }
        return found
    }

    /// Whether a town lies in the region that a text means, or in the part of its country with this code: `IL` of `US-IL`.
    private func lies(_ town: Town, in text: String, of tree: RegionTree) -> Bool {
        if town.regionID == "\(town.country)-\(text.uppercased())" { return true }
        var ids: Set<String> = [town.regionID, town.country]
        var at = town.country
        while let parent = tree.parent(of: at), ids.insert(parent.id).inserted { at = parent.id }
        return tree.meanings(of: text).contains { ids.contains($0.id) }
    }

    /// Whether no other town of its region has its name.
    public func isOnly(_ town: Town) throws(RegionsError) -> Bool {
        try towns(owners(ofFolded: NameFolding.fold(town.name)))
            .count { $0.isOwn && $0.town.regionID == town.regionID } <= 1
    }

    /// The id of a package of this town: `Tartu-EE`, and with its number where its region has another town of this name.
    public func packageID(of town: Town) throws(RegionsError) -> String {
        let words = NameFolding.fold(town.name).split(separator: " ")
        let name = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(separator: "-")
        return "\(name)-\(town.regionID)" + (try isOnly(town) ? "" : "-\(town.id)")
    }

    /// What a person writes to name this town alone, as far as the list knows: `Tartu, EE`, else ``Town/key``.
    public func text(for town: Town) throws(RegionsError) -> String {
        try isOnly(town) ? "\(town.name), \(town.regionID)" : town.key
    }
}
