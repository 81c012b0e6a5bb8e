import Synchronization

/// Names and the nodes that have them; made at the first lookup by name, because most commands never do one.
final class NameIndex: Sendable {
    /// Indexes of nodes in tree order.
    struct Names: Sendable {
        /// By folded name, and by code.
        var folded: [String: [Int]] = [:]
        /// By the words of a name.
        var words: [String: [Int]] = [:]
    }

    private let built: Mutex<Names?> = Mutex(nil)

    func names(of nodes: [RegionTree.Node]) -> Names {
        built.withLock { built in
            if let built { return built }
            var names = Names()
            for (index, node) in nodes.enumerated() {
                for name in Set(node.region.names.values.map(NameFolding.fold)) {
                    names.folded[name, default: []].append(index)
                }
            }
            for (index, node) in nodes.enumerated() {
                let codes = [node.alpha3, node.numeric].compactMap(\.self)
                for alias in Set((codes + node.aliases).map(NameFolding.fold)) where names.folded[alias] == nil {
                    names.folded[alias] = [index]
                }
            }
            for (name, owners) in names.folded {
                let key = NameWords(folded: name).key
                if !key.isEmpty { names.words[key, default: []] += owners }
            }
            for (key, owners) in names.words where owners.count > 1 { names.words[key] = Set(owners).sorted() }
            built = names
            return names
        }
    }
}
