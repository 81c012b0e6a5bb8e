import Errors
import Foundation
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

    @Test(arguments: [
        ("Korea, South", "KR"), ("Korea (South)", "KR"), ("Korea, Republic of", "KR"), ("Korea, Rep.", "KR"),
        ("Korea, Democratic People's Republic of", "KP"), ("Korea, Dem. People’s Rep.", "KP"), ("The Gambia", "GM"),
        ("Gambia, The", "GM"), ("the Netherlands", "NL"), ("Les Pays-Bas", "NL"), ("Republic of Estonia", "EE"),
        ("Eesti Vabariik", "EE"), ("Kingdom of Spain", "ES"), ("Swiss Confederation", "CH"), ("Congo, Dem. Rep.", "CD"),
        ("Congo, Rep.", "CG"), ("Republic of China", "TW"), ("China, People's Republic of", "CN"),
        ("Egypt, Arab Rep.", "EG"), ("Micronesia, Fed. Sts.", "FM"), ("Virgin Islands (U.S.)", "VI"),
        ("Virgin Islands, British", "VG"), ("Saint Lucia", "LC"), ("St Lucia", "LC"), ("Ireland, Northern", "GB-NIR"),
        ("Timor Leste", "TL"), ("Burma (Myanmar)", "MM"), ("America, United States of", "US"),
        ("Freistaat Bayern", "DE-BY"),
        ("Bavaria, Germany", "DE-BY"), ("Georgia, US", "US-GA"), ("Georgia, USA", "US-GA"),
        ("State of Georgia", "US-GA"), ("Republic of Georgia", "GE"), ("276", "DE"), ("008", "AL"), ("deu", "DE"),
        ("XKX", "XK"), ("983", "XK"),
    ])
    func findsWhatListsOfCountriesWrite(_ text: String, _ id: String) throws {
        #expect(try tree.find(text).id == id)
    }

    /// Removing a form of state must not turn one country into another.
    @Test(arguments: [
        "Republic of", "The", "Kingdom", "People's Republic of Korea", "Congo (DRC)", "United Republic", "999", "Korea",
    ])
    func whatIsNotCertainIsNotFound(_ text: String) {
        #expect(throws: RegionsError.self) { try tree.find(text) }
    }

    @Test(arguments: [("Korea", "KR"), ("8", "AL"), ("Congo (DRC)", "CG"), ("Korea, Nowhere", "KP")])
    func partsOfNamesAndShortNumbersAreSuggested(_ text: String, _ id: String) {
        #expect(tree.suggestions(for: text).contains(id))
    }

    /// Digits that two codes share say nothing.
    @Test(arguments: [
        ("000", []), ("999", []), ("1234", []), ("7", []), ("56", ["BE"]), ("056", ["BE"]), ("76", ["BR"]),
    ])
    func aNumberSuggestsOnlyTheRegionOfItsCode(_ text: String, _ ids: [String]) {
        #expect(tree.suggestions(for: text) == ids)
    }

    @Test(arguments: [
        ("U.S.", "US"), ("u. s. a.", "US"), ("U.K.", "GB"), ("Georgia, U.S.", "US-GA"), ("U.S./Georgia", "US-GA"),
    ])
    func initialsAreOneWord(_ text: String, _ id: String) throws { #expect(try tree.find(text).id == id) }

    @Test func aNameOfSeveralRegionsIsExplained() throws {
        let note = try #require(tree.otherMeanings(of: "georgia"))
        #expect(note.contains("country GE") && note.contains("US-GA (Georgia in United States)"))
        for text in ["GE", "us_ga", "Georgia, US", "State of Georgia", "Estonia", "no such region", ""] {
            #expect(tree.otherMeanings(of: text) == nil, "\(text)")
        }
    }

    /// The list of ISO 3166 as Debian has it, where it is installed.
    @Test func everyNameOfISO3166IsFound() throws {
        let file = URL(filePath: "/usr/share/iso-codes/json/iso_3166-1.json")
        guard let data = try? Data(contentsOf: file) else {
            return print("everyNameOfISO3166IsFound: skipped, \(file.path) is absent (Debian: iso-codes)")
        }
        let entries = try #require(try JSONDecoder().decode([String: [[String: String]]].self, from: data)["3166-1"])
        #expect(entries.count > 240)
        for entry in entries {
            for key in ["name", "official_name", "common_name", "alpha_3", "numeric"] {
                guard let text = entry[key] else { continue }
                #expect((try? tree.find(text).id) == entry["alpha_2"], "\(text)")
            }
        }
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
