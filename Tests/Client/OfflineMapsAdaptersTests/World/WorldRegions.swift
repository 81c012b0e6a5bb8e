import Foundation
import TestSupport

/// The tree of regions that the builder has inside.
struct WorldRegions: Decodable {
    struct Node: Decodable {
        var id: String
        var kind: String
        var parent: String?
    }
    var languages: [String]
    var nodes: [Node]

    init() throws {
        let file = Checkout.folder.appending(path: "Sources/CLibraries/CRegionData/regions.json")
        self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: file))
    }
}
