import Errors
import Testing

@testable import Regions

struct RegionFindTests {
    let tree: RegionTree

    init() throws { tree = try RegionTree.embedded() }

    @Test(arguments: [
        ("EE", "EE"), ("ee", "EE"), (" ee ", "EE"), ("EST", "EE"), ("Estonia", "EE"), ("estland", "EE"),
        ("EESTI", "EE"), ("эстония", "EE"),
        ("爱沙尼亚", "EE"), ("de-by", "DE-BY"), ("de_by", "DE-BY"), ("bayern", "DE-BY"), ("Bavière", "DE-BY"),
        ("baviere", "DE-BY"),
        ("world", "001"), ("001", "001"), ("europe", "150"), ("150", "150"), ("Северная  Европа", "154"),
        ("cote d'ivoire", "CI"),
        ("Côte d’Ivoire", "CI"), ("aland islands", "AX"), ("bosnia and herzegovina", "BA"),
        ("Bosnia & Herzegovina", "BA"), ("uk", "GB"),
        ("usa", "US"), ("EU", "150"), ("osterreich", "AT"), ("österreich", "AT"), ("Georgia", "GE"),
        ("United States/Georgia", "US-GA"), ("us/georgia", "US-GA"),
        ("baden württemberg", "DE-BW"), ("sao tome & principe", "ST"), ("Reunion", "RE"), ("Corsica", "FR-20R"),
        ("vatican", "VA"),
    ])
    func findsByIDOrName(_ text: String, _ id: String) throws {
        #expect(try tree.find(text).id == id)
    }

    @Test func everyNameFindsItsRegionOrSaysWhichShareIt() {
        for region in tree.regions {
            for (language, name) in region.names {
                do {
                    let found = try tree.find(name)
                    let sharesName = found.names.values.contains { NameFolding.fold($0) == NameFolding.fold(name) }
                    #expect(
                        found.id == region.id || sharesName && found.kind < region.kind,
                        "\(region.id) \(language) \(name)")
                } catch {
                    #expect(error.code == .ambiguousName && error.suggestions.contains(region.id), "\(error)")
                }
            }
        }
    }

    @Test(arguments: [
        ("Estnia", "EE"), ("Germny", "DE"), ("Эстонья", "EE"), ("switserland", "CH"), ("Bavari", "DE-BY"),
        ("Finlnad", "FI"), ("Argentinia", "AR"),
    ])
    func suggestsWhatMayHaveBeenMeant(_ text: String, _ id: String) {
        let error = #expect(throws: RegionsError.self) { try tree.find(text) }
        #expect(error?.code == .unknownRegion)
        #expect(error?.suggestions.first == id)
        #expect(error?.message.contains("Did you mean") == true)
    }

    @Test func saysWhereToLookWhenNothingIsClose() {
        for text in ["", "   ", "/", "qqqqqqqqqqqq", String(repeating: "x", count: 5000)] {
            let error = #expect(throws: RegionsError.self) { try tree.find(text) }
            #expect(error?.code == .unknownRegion)
            #expect(error?.suggestions.isEmpty == true)
        }
    }

    @Test func suggestionsDoNotDependOnHashing() {
        let first = tree.suggestions(for: "mar")
        #expect(!first.isEmpty)
        for _ in 0..<20 { #expect(tree.suggestions(for: "mar") == first) }
    }

    @Test(arguments: [
        ("Straße", "strasse"), ("  A--b ", "a b"), ("Ё", "е"), ("L’Aquila", "laquila"), ("Łódź", "lodz"),
        ("Đà Nẵng", "da nang"), ("ﬁ", "fi"), ("", ""),
        ("日本", "日本"),
    ])
    func folds(_ text: String, _ folded: String) {
        #expect(NameFolding.fold(text) == folded)
    }

    @Test func distanceCountsSwapsAsOne() {
        #expect(NameFolding.distance(Array("finlnad"), Array("finland"), limit: 2) == 1)
        #expect(NameFolding.distance(Array("kitten"), Array("sitting"), limit: 3) == 3)
        #expect(NameFolding.distance(Array("kitten"), Array("sitting"), limit: 2) == nil)
        #expect(NameFolding.distance([], Array("ab"), limit: 2) == 2)
    }
}
