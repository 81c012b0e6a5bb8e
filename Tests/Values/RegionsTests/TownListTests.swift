import Errors
import Testing

@testable import Regions

struct TownListTests {
    let tree: RegionTree
    let towns: TownList

    init() throws {
        tree = try RegionTree.embedded()
        towns = try TownList.embedded()
    }

    @Test func thereAreManyTownsAndEachIsInARegionOfTheTree() throws {
        #expect(towns.count >= 30_000)
        var last = Int.max
        var regions: Set<String> = []
        for block in 0..<towns.bytes.townBlocks {
            try towns.bytes.forEachTown(inBlock: block) { _, town in
                #expect(town.population <= last)
                #expect((-180...180).contains(town.longitude) && (-90...90).contains(town.latitude))
                last = town.population
                regions.insert(town.regionID)
                return true
            }
        }
        for id in regions { #expect(tree[id]?.kind == .country || tree[id]?.kind == .region, "\(id)") }
        #expect(regions.count > 300)
    }

    @Test(arguments: [
        ("Tartu", "Tartu", "EE"), ("tartu ", "Tartu", "EE"), ("TÃRTU", "Tartu", "EE"), ("Dorpat", "Tartu", "EE"),
        ("Тарту", "Tartu", "EE"), ("타르투", "Tartu", "EE"), ("Tartu, EE", "Tartu", "EE"),
        ("Tartu, Estonia", "Tartu", "EE"),
        ("Tartu (Eesti)", "Tartu", "EE"), ("Estonia/Tartu", "Tartu", "EE"), ("Europe/Tartu", "Tartu", "EE"),
        ("Springfield, IL", "Springfield", "US-IL"), ("Springfield, Illinois", "Springfield", "US-IL"),
        ("Springfield, US-IL", "Springfield", "US-IL"), ("Springfield, Illinois, USA", "Springfield", "US-IL"),
        ("Atlanta, Georgia", "Atlanta", "US-GA"), ("Paris, FR", "Paris", "FR-IDF"),
        ("Paris, France", "Paris", "FR-IDF"),
        ("São Paulo", "São Paulo", "BR"), ("Sao Paulo", "São Paulo", "BR"), ("Praha", "Prague", "CZ"),
        ("cologne", "Köln", "DE-NW"), ("geonames:588335", "Tartu", "EE"), ("saint-étienne", "Saint-Étienne", "FR-ARA"),
    ])
    func findsATownByItsNames(text: String, name: String, region: String) throws {
        let found = try towns.named(text, in: tree)
        #expect(found.first?.name == name && found.first?.regionID == region, "\(found.prefix(3))")
    }

    @Test(arguments: ["Tartu", "Tartu, EE", "Springfield, IL", "Paris, France", "geonames:588335"])
    func oneTownIsMeant(text: String) throws { #expect(try towns.named(text, in: tree).count == 1) }

    @Test func aNameOfSeveralTownsGivesAllOfThem() throws {
        let found = try towns.named("Springfield", in: tree)
        #expect(found.count >= 8 && Set(found.map(\.country)).isSuperset(of: ["US", "AU"]))
        #expect(found.map(\.population) == found.map(\.population).sorted(by: >))
        // A town whose other spelling it is counts only when it is larger than all with this name.
        #expect(try towns.named("cologne", in: tree).count >= 2)
    }

    @Test func theTextOfEachTownMeansIt() throws {
        for index in stride(from: 0, to: towns.count, by: 97) {
            let town = try towns.bytes.town(index)
            let found = try towns.named(try towns.text(for: town), in: tree)
            #expect(found.contains(town), "\(town)")
            #expect(try towns.packageID(of: town).hasSuffix(town.regionID) || !towns.isOnly(town))
        }
        let tartu = try #require(try towns.named("Tartu", in: tree).first)
        #expect(try towns.packageID(of: tartu) == "Tartu-EE")
        #expect(abs(tartu.longitude - 26.72509) < 2e-5 && abs(tartu.latitude - 58.38062) < 2e-5)
        #expect(tartu.population > 80_000)
    }

    @Test(arguments: [
        "", "  ", "qqqqqq", "geonames:", "geonames:1", "geonames:-1", "Tartu, FI", "/", ",",
        String(repeating: "x", count: 5_000),
    ])
    func whatIsNoTownIsNotFound(text: String) throws { #expect(try towns.named(text, in: tree).isEmpty) }

    @Test func namesThatBeginSoAndSimilarNamesAreFound() throws {
        #expect(try towns.beginning(with: "tart", limit: 5).contains { $0.name == "Tartu" })
        #expect(try towns.beginning(with: "s", limit: 3).count == 3)
        #expect(try towns.beginning(with: "", limit: 3).isEmpty)
        #expect(try towns.similar(to: "Tratu", limit: 5).contains { $0.name == "Tartu" })
        #expect(try towns.similar(to: "Helsinky", limit: 1).map(\.name) == ["Helsinki"])
        #expect(try towns.similar(to: "xy", limit: 5).isEmpty)
    }

    /// The script that makes the list folds names by code of its own.
    @Test func theScriptFoldsAsTheProgramDoes() throws {
        var number = 0
        var last: [UInt8] = []
        try towns.bytes.forEachName(fromBlock: 0) { name, owners throws(RegionsError) in
            #expect(last.isEmpty || last.lexicographicallyPrecedes(name))
            #expect(
                owners.map(\.index) == Set(owners.map(\.index)).sorted() && (owners.last?.index ?? -1) < towns.count)
            if number % 50 == 0 {
                let text = String(decoding: name, as: UTF8.self)
                #expect(NameFolding.fold(text) == text, "\(text)")
            }
            number += 1
            last = name
            return true
        }
        #expect(number > 300_000)
        for index in stride(from: 0, to: towns.count, by: 31) {
            let town = try towns.bytes.town(index)
            #expect(try towns.all(named: town.name, in: tree).contains(town), "\(town.name)")
        }
    }

    @Test func aSearchGivesNamesThenBeginningsThenSimilarOnes() throws {
        let exact = try PlaceSearch.find("Luxembourg", in: tree, towns, limit: 3)
        #expect(exact.match == .name && exact.regions.map(\.id) == ["LU"] && exact.towns.first?.country == "LU")
        let begun = try PlaceSearch.find("Reykjav", in: tree, towns, limit: 3)
        #expect(begun.match == .beginning && begun.towns.first?.country == "IS")
        let alike = try PlaceSearch.find("Estnia", in: tree, towns, limit: 3)
        #expect(alike.match == .similar && alike.regions.first?.id == "EE")
        #expect(try PlaceSearch.find("qqqqqqqqqq", in: tree, towns, limit: 3).isEmpty)
    }
}

/// A damaged list of towns is refused or gives some other towns; it never traps and never asks for much memory.
struct HostileTownTests {
    /// Two towns, one of them with two names.
    static let small: [UInt8] = {
        let towns: [[UInt8]] = [
            [2] + Array("Bb".utf8) + [0, 0, 0, 0x80, 0, 0, 0xC0, 9, 7],
            [1] + Array("A".utf8) + [1, 0, 0, 0x40, 0, 0, 0x40, 3, 8],
        ]
        let names: [[UInt8]] = [
            [0, 1] + Array("a".utf8) + [6], [1, 1] + Array("b".utf8) + [0], [0, 2] + Array("bb".utf8) + [2],
        ]
        var out = Array("PHTN".utf8) + [1, 2, 3, 1, 2, 2, 2] + Array("EE".utf8) + [2] + Array("FI".utf8)
        out += [UInt8(towns.joined().count), UInt8(names.joined().count)]
        out += [0, 0, 0, UInt8(towns[0].count), 0, 0, 0, 0, 0, UInt8(names[0].count + names[1].count), 0, 0]
        return out + towns.joined() + names.joined()
    }()

    private func use(_ bytes: [UInt8]) {
        do {
            let list = TownList(bytes: try TownBytes(ResourceBytes(bytes)))
            let tree = try RegionTree(
                manifest: RegionManifest(format: 1, languages: [], nodes: []), atlas: try PieceAtlas(.boundaries))
            for text in ["a", "bb", "ab", "geonames:8", "b, FI"] {
                _ = try list.all(named: text, in: tree)
                _ = try list.beginning(with: text, limit: 2)
                _ = try list.similar(to: text + "ccc", limit: 2)
            }
        } catch {
            #expect(error.code == .badResource)
        }
    }

    @Test func theSmallListHasTwoTowns() throws {
        let list = TownList(bytes: try TownBytes(ResourceBytes(Self.small)))
        let tree = try RegionTree.embedded()
        #expect(
            try list.named("bb", in: tree) == [
                Town(id: 7, name: "Bb", regionID: "EE", longitude: 0, latitude: 45, population: 9)
            ])
        #expect(try list.named("ab", in: tree).map(\.id) == [7])
        #expect(try list.named("a", in: tree).map(\.id) == [8])
        #expect(try list.town(id: 8)?.latitude == -45)
    }

    @Test func everyTruncationIsRefused() {
        for length in 0..<Self.small.count {
            #expect(throws: RegionsError.self) { try TownBytes(ResourceBytes(Array(Self.small.prefix(length)))) }
        }
        #expect(throws: RegionsError.self) { try TownBytes(ResourceBytes(Self.small + [0])) }
    }

    @Test func everyByteMayHaveEveryValue() {
        for position in Self.small.indices {
            for value in stride(from: UInt8.min, through: .max, by: position < 30 ? 1 : 5) {
                var bytes = Self.small
                bytes[position] = value
                use(bytes)
            }
        }
    }
}
