import CatalogFormat
import Foundation
import Testing
import Tiles

@testable import OfflineMaps

/// The answers of a catalog, made from a document and from the rows of a store.
struct MapCatalogTests {
    /// From the document, and after a way through the database.
    static func catalogs() throws -> [MapCatalog] {
        let content = try CatalogContent(CatalogSample.index())
        let scratch = try StoreScratch()
        let database = try StoreDatabase.open(scratch.folder, isWorker: true)
        let verified = VerifiedCatalog(content: content, key: "k", sequence: 7)
        try database.apply(
            [.catalog(7)],
            ChangeDetails(catalog: CatalogCandidate(verified: verified, address: "a", mark: CatalogMark())))
        let stored = try #require(try database.content())
        #expect(stored == content)
        return [MapCatalog(content, checkedAt: nil), MapCatalog(stored, checkedAt: nil)]
    }

    @Test func listsPackagesGroupsLanguagesAndStyles() throws {
        for catalog in try Self.catalogs() {
            #expect(catalog.packages.map(\.id) == ["EE", "LV", "tallinn", "EE", "EE"])
            #expect(catalog.groups == ["terrain"])
            #expect(catalog.languages == ["de"])
            #expect(catalog.styles == [StyleInfo(id: "streets", name: "Streets", version: 3, size: 77)])
            let estonia = try #require(catalog.package("EE", Edition(language: "de")))
            #expect(estonia.size == 510 && estonia.version == 2 && estonia.dataDate == "2026-11-01")
            #expect(estonia.name("de") == "Estland")
            #expect(estonia.names("en") == ["Europe", "Estonia"])
            #expect(estonia.name("xx") == "Estonia")
            #expect(catalog.package("EE", Edition(group: "none")) == nil)
        }
    }

    @Test func treeHasBytesOfAllNodesBelow() throws {
        for catalog in try Self.catalogs() {
            let root = catalog.root
            #expect(root.id == "001" && root.kind == "world" && root.parent == nil && root.package == nil)
            #expect(root.bytes == 500 + 900 + 10)
            #expect(root.children.map(\.id) == ["150", "tallinn"])
            let europe = root.children[0]
            #expect(europe.bytes == 1_400 && europe.names["de"] == "Europa")
            #expect(europe.children.map(\.id) == ["EE", "LV"])
            // The base map and not the group, though it is listed too.
            #expect(europe.children[0].package?.size == 500)
            #expect(europe.children[0].parent == europe)
            #expect(root.children[1].kind == "area")
        }
    }

    @Test(arguments: [
        ("est", "en", ["EE", "EE"]), ("EST", "de", ["EE", "EE"]), ("эст", "en", ["EE", "EE"]),
        ("爱沙", "en", ["EE", "EE"]), ("إستون", "en", ["EE", "EE"]), ("tall", "en", ["tallinn"]),
        ("lett", "en", ["LV"]), ("nothing", "en", []), ("", "en", []), ("ee", "en", ["EE", "EE"]),
    ])
    func searchFindsNames(_ text: String, _ language: String, _ ids: [String]) throws {
        for catalog in try Self.catalogs() {
            #expect(catalog.search(text, language: language).map(\.id).prefix(ids.count) == ids[...])
            if ids.isEmpty { #expect(catalog.search(text, language: language).isEmpty) }
        }
    }

    @Test func searchPutsBeginningsFirstAndIgnoresDiacritics() throws {
        for catalog in try Self.catalogs() {
            // Estonie begins; Lettonie has the word inside.
            #expect(catalog.search("estonie", language: "fr").map(\.id) == ["EE", "EE", "LV"])
            #expect(catalog.search("pres", language: "fr").map(\.id) == ["LV"])
            // The edition in the asked language stands for the package.
            #expect(catalog.search("estland", language: "de").first?.edition.language == "de")
            #expect(catalog.search("estland", language: "fr").first?.edition == Edition())
        }
    }

    @Test func findsPackagesOfAPlaceAndATileSmallestFirst() throws {
        for catalog in try Self.catalogs() {
            let tallinn = try #require(TileID(zoom: 12, x: 289 << 3, y: 149 << 3))
            let place = Coordinate(
                longitude: tallinn.bounds.center.longitude, latitude: tallinn.bounds.center.latitude)
            let all = ["tallinn", "EE", "EE", "EE", "LV"]
            #expect(catalog.packages(at: place).map(\.id) == all)
            #expect(catalog.packages(holding: tallinn).map(\.id) == all)
            #expect(catalog.packages(holding: tallinn).map(\.size) == [10, 2_000, 500, 510, 900])
            #expect(catalog.packages(holding: .root).count == 5)
            #expect(catalog.packages(holding: try #require(TileID(zoom: 13, x: 289 << 4, y: 149 << 4))).isEmpty)
            #expect(catalog.packages(at: Coordinate(longitude: -100, latitude: 40)).isEmpty)
            #expect(catalog.packages(at: Coordinate(longitude: .nan, latitude: 40)).isEmpty)
        }
    }

    @Test func ageIsUnknownAfterTheClockWentBack() throws {
        let content = CatalogContent()
        let now = Date()
        #expect(MapCatalog(content, checkedAt: nil).age(at: now) == nil)
        #expect(MapCatalog(content, checkedAt: now + 5).age(at: now) == nil)
        #expect(MapCatalog(content, checkedAt: now - 5).age(at: now) == .seconds(5))
    }

    @Test func aMaskAboveTheCellsIsFoundAtItsPlaces() throws {
        var index = CatalogSample.index()
        index.packages = [CatalogSample.package("LV", "", cells: [(3, 4, 2)], size: 9)]
        var content = try CatalogContent(index)
        content.offers[0].mask = content.offers[0].mask.clipped(toZoom: 3)
        let catalog = MapCatalog(content, checkedAt: nil)
        #expect(catalog.packages(at: Coordinate(longitude: 24, latitude: 58)).map(\.id) == ["LV"])
        #expect(catalog.packages(holding: try #require(TileID(zoom: 3, x: 4, y: 2))).map(\.id) == ["LV"])
    }
}
