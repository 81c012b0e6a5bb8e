/// A node of the catalog's tree: the world, a continent, a country, a region, or an area that is none of these.
///
/// A value that belongs to its catalog: a newer catalog has other nodes.
public struct MapNode: Sendable {
    private let tree: CatalogTree
    private let number: Int

    init(_ tree: CatalogTree, _ number: Int = 0) {
        self.tree = tree
        self.number = number
    }

    private var node: CatalogTree.Node { tree.nodes[number] }

    /// The id of the region.
    public var id: String { node.id }
    /// `world`, `continent`, `subcontinent`, `country`, `region` or `area`.
    public var kind: String { node.kind }
    /// The names by language.
    public var names: [String: String] { node.names }
    /// The package of the node: of the base map where there is one; `nil` for a node that only has packages below.
    public var package: PackageInfo? { node.offer.map { PackageInfo(tree.offers[$0]) } }
    /// Bytes of the package and of the packages of all nodes below.
    public var bytes: UInt64 { node.bytes }
    /// The nodes below, in the order of the catalog.
    public var children: [MapNode] { node.children.map { MapNode(tree, $0) } }
    /// The node above; `nil` for the world.
    public var parent: MapNode? { node.parent.map { MapNode(tree, $0) } }
}

extension MapNode: Equatable {
    /// The same node of the same catalog.
    public static func == (left: MapNode, right: MapNode) -> Bool {
        left.tree === right.tree && left.number == right.number
    }
}
