public import CatalogFormat

/// A package as a catalog lists it: one entry, or one for each of its parts.
///
/// All entries of a package have one version, and change together.
struct ListedPackage: Sendable, Hashable {
    /// The package's id, which parts do not have.
    let id: String
    /// One entry, or the parts in the order of their numbers; never empty.
    let entries: [CatalogEntry]

    /// The packages of a list, ascending by id.
    static func all(of entries: [CatalogEntry]) -> [ListedPackage] {
        let groups = Dictionary(grouping: entries, by: \.wholeID)
        return groups.map { id, entries in
            ListedPackage(id: id, entries: entries.sorted { ($0.part?.number ?? 0) < ($1.part?.number ?? 0) })
        }.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
    }

    /// The version of its entries.
    var version: Int32 { entries.map(\.version).max() ?? 0 }

    /// Whether it is listed as parts.
    var isInParts: Bool { entries.first?.part != nil }

    /// Whether it is a companion of a package and no map.
    var isCompanion: Bool { entries.allSatisfy { $0.companion != nil } }

    /// Whether none of its parts is missing.
    var isComplete: Bool {
        guard isInParts else { return entries.count == 1 }
        return entries.map { $0.part?.number } == Array(1...entries.count)
            && entries.allSatisfy { $0.part?.count == entries.count }
    }

    /// The package as one entry; of one in parts with the sums of their sizes, and the file of the first.
    var whole: CatalogEntry? { isInParts ? CatalogEntry(parts: entries) : entries.first }

    /// Whether a catalog that lists `other` already has all that this package of another catalog says.
    func isContained(in other: ListedPackage) -> Bool {
        entries.count == other.entries.count
            && zip(entries, other.entries).allSatisfy { $0.id == $1.id && $0.isContained(in: $1) }
    }
}

extension CatalogEntry {
    /// The id of its package: of a part that of the whole.
    public var wholeID: String { part?.of ?? id }
}
