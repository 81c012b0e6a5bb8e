import Synchronization

/// Folded names and the nodes that have them; made at the first lookup by name, because most commands never do one.
final class NameIndex: Sendable {
    private let built: Mutex<[String: [Int]]?> = Mutex(nil)

    /// Folded name -> indexes of nodes, in tree order.
    func names(of nodes: [RegionTree.Node]) -> [String: [Int]] {
        built.withLock { built in
            if let built { return built }
            var out: [String: [Int]] = [:]
            for (index, node) in nodes.enumerated() {
                for name in Set(node.region.names.values.map(NameFolding.fold)) { out[name, default: []].append(index) }
            }
            for (index, node) in nodes.enumerated() {
                for alias in Set(([node.alpha3].compactMap(\.self) + node.aliases).map(NameFolding.fold))
                where out[alias] == nil { out[alias] = [index] }
            }
            built = out
            return out
        }
    }
}
