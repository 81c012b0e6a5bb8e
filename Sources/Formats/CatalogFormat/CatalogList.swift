/// The content of `packages.json`.
package struct CatalogList: Codable, Equatable {
    package var packages: [CatalogEntry] = []
    package var schema: String?
    package var metainfo: [String: String]?

    package init(
        packages: [CatalogEntry] = [],
        schema: String? = nil,
        metainfo: [String: String]? = nil
    ) {
        self.packages = packages
        self.schema = schema
        self.metainfo = metainfo
    }

    /// Replaces the entry with the same id, or inserts the entry into the sorted list.
    package mutating func put(_ entry: CatalogEntry) {
        if let place = packages.firstIndex(where: { $0.id == entry.id }) {
            packages[place] = entry
        } else {
            packages.insert(entry, at: packages.lowerBound { $0.id.utf8.lexicographicallyPrecedes(entry.id.utf8) })
        }
    }

    /// Sorts by the bytes of the ids; a sorted list costs one comparison per entry.
    package mutating func sort() {
        let isSorted = zip(packages, packages.dropFirst()).allSatisfy {
            !$1.id.utf8.lexicographicallyPrecedes($0.id.utf8)
        }
        if !isSorted { packages.sort { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) } }
    }
}

extension Array {
    /// The first index whose element is not before the searched position.
    ///
    /// The elements before it must come first.
    package func lowerBound(_ isBefore: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
