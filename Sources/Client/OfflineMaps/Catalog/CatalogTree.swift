internal import Tiles

/// The tree of regions with its packages, as numbers that point at each other; made once for each catalog.
///
/// Packages of no region (boxes, user-defined areas) hang below the root.
final class CatalogTree: Sendable {
    /// One node.
    struct Node: Sendable {
        var id: String
        var kind: String
        var names: [String: String]
        /// The number of the node above; `nil` for the root.
        var parent: Int?
        var children: [Int] = []
        /// The number of its offer: of the base map where there is one.
        var offer: Int?
        /// Bytes of its package and of all packages below.
        var bytes: UInt64 = 0
    }

    /// The root is the first.
    let nodes: [Node]
    let offers: [CatalogContent.Offer]

    init(_ content: CatalogContent) {
        offers = content.offers
        var nodes = [Node(id: "world", kind: "world", names: [:])]
        var numbers: [String: Int] = [:]
        for node in content.nodes {
            // A catalog has one root; nodes without a parent besides it hang below it.
            if node.parent == nil, numbers.isEmpty {
                nodes[0] = Node(id: node.id, kind: node.kind, names: node.names)
                numbers[node.id] = 0
                continue
            }
            let above = node.parent.flatMap { numbers[$0] } ?? 0
            numbers[node.id] = nodes.count
            nodes[above].children.append(nodes.count)
            nodes.append(Node(id: node.id, kind: node.kind, names: node.names, parent: above))
        }
        Self.attach(content.offers, to: &nodes, numbers)
        for number in nodes.indices.reversed() {
            if let offer = nodes[number].offer { nodes[number].bytes += content.offers[offer].size }
            // Children have greater numbers, so their sums are complete.
            if let parent = nodes[number].parent { nodes[parent].bytes += nodes[number].bytes }
        }
        self.nodes = nodes
    }

    /// Gives each node the package of the base map, or of the first edition that has one.
    private static func attach(
        _ offers: [CatalogContent.Offer], to nodes: inout [Node], _ numbers: [String: Int]
    ) {
        var areas: [String: Int] = [:]
        for (number, offer) in offers.enumerated() {
            let place: Int
            if let known = offer.region.flatMap({ numbers[$0] }) {
                place = known
            } else if let known = areas[offer.id] {
                place = known
            } else {
                place = nodes.count
                areas[offer.id] = place
                nodes[0].children.append(place)
                nodes.append(Node(id: offer.id, kind: "area", names: offer.names, parent: 0))
            }
            guard let other = nodes[place].offer else {
                nodes[place].offer = number
                continue
            }
            if rank(offer) < rank(offers[other]) { nodes[place].offer = number }
        }
    }

    private static func rank(_ offer: CatalogContent.Offer) -> Int {
        (offer.group == nil ? 0 : 2) + (offer.language == nil ? 0 : 1)
    }
}
