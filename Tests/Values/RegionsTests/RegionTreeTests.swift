import Testing
import Tiles

@testable import Regions

struct RegionTreeTests {
    let tree: RegionTree

    init() throws { tree = try RegionTree.embedded() }

    @Test func holdsTheWorldDownToRegions() {
        var counts: [Region.Kind: Int] = [:]
        for region in tree.regions { counts[region.kind, default: 0] += 1 }
        #expect(counts == [.world: 1, .continent: 6, .subcontinent: 17, .country: 250, .region: 199])
        #expect(tree["DE"].map { tree.children(of: $0.id).count } == 16)
        #expect(tree.children(of: "GB").map(\.id) == ["GB-ENG", "GB-NIR", "GB-SCT", "GB-WLS"])
        let split = ["US": 51, "DE": 16, "GB": 4, "ES": 19, "RU": 83, "CA": 13, "FR": 13]
        for (id, count) in split { #expect(tree.children(of: id).count == count, "\(id)") }
    }

    @Test func everyRegionHasANameInEightLanguages() {
        for region in tree.regions {
            #expect(Set(region.names.keys) == Set(RegionTree.languages), "\(region.id)")
            #expect(region.names.values.allSatisfy { !$0.isEmpty }, "\(region.id)")
        }
    }

    @Test func everyRegionHangsBelowAWiderOne() {
        for region in tree.regions {
            guard let parent = tree.parent(of: region.id) else {
                #expect(region.kind == .world)
                continue
            }
            #expect(parent.kind < region.kind, "\(region.id)")
            #expect(tree.children(of: parent.id).contains { $0.id == region.id }, "\(region.id)")
        }
    }

    @Test func everyNodeHasGroundAndEveryPieceANode() throws {
        try tree.atlas.validate()
        for node in tree.nodes { #expect(node.hasOwnGround || !node.children.isEmpty, "\(node.region.id)") }
        let used = Set(tree.nodes.flatMap(\.pieces))
        #expect(used == Set(tree.atlas.pieces.indices))
    }

    @Test func pathsReadFromTheContinentDown() {
        #expect(tree.path(of: "EE", language: "en") == "Europe/Northern Europe/Estonia")
        #expect(tree.path(of: "EE", language: "et") == "Euroopa/Põhja-Euroopa/Eesti")
        #expect(tree.path(of: "DE-BY", language: "de") == "Europa/Westeuropa/Deutschland/Bayern")
        #expect(tree.path(of: "001", language: "en") == "World")
        #expect(tree.path(of: "AQ", language: "en") == "Antarctica")
        #expect(tree.path(of: "nowhere", language: "en") == "nowhere")
        let paths = tree.localizedPaths(of: "EE")
        #expect(paths.count == 8)
        #expect(paths["ru"] == "Европа/Северная Европа/Эстония")
    }

    @Test func namesFallBackToEnglish() {
        #expect(tree["EE"]?.name("et-EE") == "Eesti")
        #expect(tree["EE"]?.name("xx") == "Estonia")
    }

    @Test func boundsCrossTheAntimeridianWhereTheGroundDoes() throws {
        for id in ["FJ", "RU", "US", "NZ", "KI"] { #expect(tree[id]?.bounds.crossesAntimeridian == true, "\(id)") }
        for id in ["EE", "DE", "BR", "AU"] { #expect(tree[id]?.bounds.crossesAntimeridian == false, "\(id)") }
        let russia = try #require(tree["RU"]?.bounds)
        #expect(abs(russia.west - 19.6) < 0.2)
        #expect(abs(russia.east - -169.0) < 0.2)
    }

    @Test func attributionNamesBothSources() {
        #expect(RegionTree.attribution.contains { $0.contains("Natural Earth") })
        #expect(RegionTree.attribution.contains { $0.contains("Unicode") })
    }
}
