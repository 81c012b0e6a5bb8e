import Errors
import Foundation
import Testing
import Tiles

@testable import Regions

struct RegionImportTests {
    let tree: RegionTree
    let scratch: URL

    init() throws {
        tree = try RegionTree.embedded()
        scratch = FileManager.default.temporaryDirectory.appendingPathComponent(
            "packhorse-regions-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
    }

    var folder: URL { scratch.appendingPathComponent("imports") }

    /// Runs an import of a text and takes the scratch folder away again with `done`.
    func imported(_ text: String, _ options: RegionImport.Options = .init()) throws -> RegionImport.Report {
        let file = scratch.appendingPathComponent("in.geojson")
        try Data(text.utf8).write(to: file)
        let features: [AreaFeature]
        // A command reads the file, and reports what cannot be read.
        do throws(TilesError) { features = try AreaFeature.features(geoJSON: Array(text.utf8)) } catch {
            throw RegionsError(.badImport, error.message, cause: error)
        }
        return try RegionImport.run(
            features, of: file, into: folder, options: options, tree: RegionTree.load(imports: folder))
    }

    func done() throws { try FileManager.default.removeItem(at: scratch) }

    func square(_ west: Double, _ south: Double, _ size: Double) -> String {
        let (e, n) = (west + size, south + size)
        return
            #"{"type":"Polygon","coordinates":[[[\#(west),\#(south)],[\#(e),\#(south)],[\#(e),\#(n)],[\#(west),\#(n)],[\#(west),\#(south)]]]}"#
    }

    func feature(_ properties: String, _ geometry: String) -> String {
        #"{"type":"Feature","properties":\#(properties),"geometry":\#(geometry)}"#
    }

    func collection(_ features: [String]) -> String {
        #"{"type":"FeatureCollection","features":[\#(features.joined(separator: ","))]}"#
    }

    @Test func aNewRegionJoinsItsCountry() throws {
        let report = try imported(
            feature(#"{"iso_3166_2":"EE-37","name":"Harju","name:et":"Harju maakond"}"#, square(24.5, 59.2, 0.5)))
        #expect(report.added == ["EE-37"] && report.replaced.isEmpty && report.skipped.isEmpty)
        let new = try RegionTree.load(imports: folder)
        let region = try new.find("harju maakond")
        #expect(region.id == "EE-37" && region.kind == .region && region.isImported)
        #expect(region.names.count == RegionTree.languages.count)
        #expect(new.path(of: "EE-37", language: "et") == "Euroopa/Põhja-Euroopa/Eesti/Harju maakond")
        #expect(new.smallest(longitude: 24.7, latitude: 59.4)?.id == "EE-37")
        #expect(new.smallest(longitude: 26.7, latitude: 58.4)?.id == "EE")
        #expect(new.mask(of: "EE", maxZoom: 10) == tree.mask(of: "EE", maxZoom: 10))
        let box = try BoundingBox(west: 24.5, south: 59.2, east: 25, north: 59.7)
        #expect(new.mask(of: "EE-37", maxZoom: 12) == TileMask(covering: MercatorShape(box), maxZoom: 12))
        try done()
    }

    @Test func anImportedCountryTakesThePlaceOfTheEmbeddedOne() throws {
        let text = collection([feature(#"{"ISO_A2":"-99","ISO_A2_EH":"-99","GID_0":"LIE"}"#, square(9.5, 47.1, 0.1))])
        let refusal = #expect(throws: RegionsError.self) { try imported(text) }
        #expect(refusal?.code == .alreadyPresent)
        #expect(!FileManager.default.fileExists(atPath: folder.path))
        let report = try imported(text, .init(replace: true))
        #expect(report.replaced == ["LI"] && report.added.isEmpty)
        let new = try RegionTree.load(imports: folder)
        #expect(new["LI"]?.name("de") == "Liechtenstein")
        #expect(new.children(of: "155").map(\.id) == tree.children(of: "155").map(\.id))
        let box = try BoundingBox(west: 9.5, south: 47.1, east: 9.6, north: 47.2)
        #expect(new.mask(of: "LI", maxZoom: 14) == TileMask(covering: MercatorShape(box), maxZoom: 14))
        #expect(new.mask(of: "155", maxZoom: 11).count(atZoom: 11) >= new.mask(of: "DE", maxZoom: 11).count(atZoom: 11))

        try RegionImport.remove("li", from: folder)
        #expect(try RegionTree.load(imports: folder)["LI"]?.isImported == false)
        #expect(throws: RegionsError.self) { try RegionImport.remove("LI", from: folder) }
        try done()
    }

    @Test func aFinerRegionChangesItsParent() throws {
        _ = try imported(feature(#"{"ISO3166-2":"de-hb"}"#, square(8.5, 53.0, 0.2)), .init(replace: true))
        let new = try RegionTree.load(imports: folder)
        #expect(new["DE-HB"]?.name("en") == "Bremen")
        #expect(new.children(of: "DE").count == 16)
        let parts = new.children(of: "DE").map { new.mask(of: $0.id, maxZoom: 10) }
        #expect(parts.reduce(TileMask(empty: 10)) { $0.union($1) } == new.mask(of: "DE", maxZoom: 10))
        try done()
    }

    @Test func featuresOfOneIDBecomeOneRegionWrittenTheSameEachTime() throws {
        let one = feature(#"{"b":1,"shapeISO":"FI-01","shapeName":"Åland"}"#, square(19, 60, 1))
        let two = feature(#"{"shapeISO":"FI-01"}"#, square(21, 60, 1))
        _ = try imported(collection([one, two]))
        let url = folder.appendingPathComponent("FI-01.geojson")
        let first = try Data(contentsOf: url)
        _ = try imported(collection([one, two]), .init(replace: true))
        #expect(try Data(contentsOf: url) == first)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["FI-01.geojson"])
        let bounds = try #require(try RegionTree.load(imports: folder)["FI-01"]?.bounds)
        #expect(bounds == (try BoundingBox(west: 19, south: 60, east: 22, north: 61)))
        try done()
    }

    @Test(arguments: [
        (#"{"iso3166-1:alpha2":["IE"]}"#, "IE"), (#"{"iso_3166_2":"-99","ISO_A2_EH":"FR"}"#, "FR"),
        (#"{"ISO_1":"IT.25"}"#, "IT-25"),
        (#"{"shapeGroup":"NOR"}"#, "NO"), (#"{"iso3166-2":["PL-02"]}"#, "PL-02"), (#"{"ISO3166-1:alpha2":"se"}"#, "SE"),
    ])
    func knowsTheKeysOfTheUsualSources(_ properties: String, _ id: String) throws {
        let report = try imported(feature(properties, square(1, 1, 1)), .init(replace: true))
        #expect(report.added + report.replaced == [id])
        try done()
    }

    @Test func theIDOfTheFeatureItselfIsTakenWhereNoPropertyHasOne() throws {
        func feature(_ id: String, _ properties: String) -> String {
            #"{"type":"Feature","id":\#(id),"properties":\#(properties),"geometry":\#(square(1, 1, 1))}"#
        }
        #expect(try imported(feature(#""EE""#, "{}"), .init(replace: true)).replaced == ["EE"])
        #expect(try imported(feature(#""EE""#, #"{"ISO_A2":"LV"}"#), .init(replace: true)).replaced == ["LV"])
        for id in ["7", #""way/7""#] {
            #expect(throws: RegionsError.self, "\(id)") {
                try imported(feature(id, #"{"note":"a"}"#), .init(replace: true))
            }
        }
        try done()
    }

    @Test func aKeyAndALevelCanBeNamed() throws {
        let text = collection([
            feature(#"{"code":"EE-1A","title":"Here"}"#, square(24, 59, 1)),
            feature(#"{"code":"EE","title":"All"}"#, square(24, 59, 2)),
            feature(#"{"title":"No id"}"#, square(24, 59, 2)),
        ])
        let report = try imported(text, .init(level: .region, idKey: "code", nameKey: "title"))
        #expect(report.added == ["EE-1A"])
        #expect(report.skipped.count == 2)
        #expect(try RegionTree.load(imports: folder)["EE-1A"]?.name("ru") == "Here")
        try done()
    }

    @Test func saysWhichPropertiesAFileHas() throws {
        let error = #expect(throws: RegionsError.self) {
            try imported(collection([feature(#"{"adm_code":7,"label":"x"}"#, square(1, 1, 1))]))
        }
        #expect(error?.code == .badImport)
        #expect(error?.message.contains("adm_code, label") == true)
        #expect(error?.message.contains("--id KEY") == true)
        try done()
    }

    @Test(arguments: [
        "", "[]", "7", "{", #"{"type":"Point","coordinates":[1,2]}"#, #"{"type":"FeatureCollection"}"#,
        #"{"type":"FeatureCollection","features":[1]}"#,
        #"{"type":"FeatureCollection","features":[]}"#, #"{"type":"Feature"}"#,
        #"{"type":"Feature","properties":{"ISO_A2":"EE"},"geometry":null}"#,
        #"{"type":"Feature","properties":{"ISO_A2":"EE"},"geometry":{"type":"Point","coordinates":[1,2]}}"#,
        #"{"type":"Feature","properties":{"ISO_A2":"EE"},"geometry":{"type":"Polygon","coordinates":[[["a",2]]]}}"#,
        #"{"type":"Feature","properties":{"ISO_A2":"EE"},"geometry":{"type":"Polygon","coordinates":[]}}"#,
        #"{"type":"Feature","properties":{"ISO_A2":"../../etc"},"geometry":{"type":"Polygon","coordinates":[]}}"#,
        #"{"type":"Feature","properties":{"iso_3166_2":"ZZ-1"},"geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}}"#,
        #"{"type":"Feature","properties":{"iso_a2":"ZZ"},"geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}}"#,
    ])
    func refusesWhatIsNotARegionAndWritesNothing(_ text: String) throws {
        let error = #expect(throws: RegionsError.self) { try imported(text, .init(replace: true)) }
        #expect(error?.code == .badImport)
        #expect(!FileManager.default.fileExists(atPath: folder.path))
        try done()
    }

    @Test func aDamagedFileOfTheFolderIsNamed() throws {
        _ = try imported(feature(#"{"iso_3166_2":"EE-37"}"#, square(24.5, 59.2, 0.5)))
        let url = folder.appendingPathComponent("EE-37.geojson")
        let whole = try Data(contentsOf: url)
        for length in stride(from: 0, to: whole.count, by: 7) {
            try whole.prefix(length).write(to: url)
            let error = #expect(throws: RegionsError.self) { try RegionTree.load(imports: folder) }
            #expect(error?.code == .badImport)
            #expect(error?.message.contains("EE-37.geojson") == true)
        }
        try Data("{}".utf8).write(to: url)
        #expect(throws: RegionsError.self) { try RegionTree.load(imports: folder) }
        try done()
    }

    @Test func aMissingFolderMeansNoImports() throws {
        #expect(try RegionTree.load(imports: folder).regions.count == tree.regions.count)
        #expect(try RegionTree.load(imports: nil).regions.count == tree.regions.count)
        let missing = scratch.appendingPathComponent("none.geojson")
        let error = #expect(throws: RegionsError.self) {
            try ImportFile.read(missing)
        }
        #expect(error?.code == .fileFailed)
        try done()
    }

    @Test func anIDOfItsOwnIsARegionOfTheWorldOrOfANamedParent() throws {
        let file = scratch.appendingPathComponent("alps.poly")
        func area(_ west: Double) -> AreaFeature {
            let ring = [(west, 46.0), (west + 1, 46), (west + 1, 47), (west, 47)].map {
                Coordinate(longitude: $0.0, latitude: $0.1)
            }
            return AreaFeature(properties: ["name": .string("The Alps")], geometry: Geometry(polygons: [[ring]]))
        }
        func run(_ features: [AreaFeature], _ options: RegionImport.Options) throws -> RegionImport.Report {
            try RegionImport.run(
                features, of: file, into: folder, options: options, tree: RegionTree.load(imports: folder))
        }
        // The name of the file, when it has one feature.
        #expect(try run([area(7)], .init()).added == ["ALPS"])
        var new = try RegionTree.load(imports: folder)
        #expect(try new.find("the alps").id == "ALPS")
        #expect(new.parent(of: "alps")?.id == "001" && new["ALPS"]?.kind == .region)
        let box = try BoundingBox(west: 7, south: 46, east: 8, north: 47)
        #expect(new.mask(of: "ALPS", maxZoom: 11) == TileMask(covering: MercatorShape(box), maxZoom: 11))
        // The id that the user gives makes one region of all features.
        let wide = try run([area(7), area(8)], .init(id: "my-alps.2", parent: "Switzerland"))
        #expect(wide.added == ["MY-ALPS.2"])
        new = try RegionTree.load(imports: folder)
        #expect(new.parent(of: "MY-ALPS.2")?.id == "CH" && new["MY-ALPS.2"]?.bounds.east == 9)
        for name in ["world", "Estonia", "the_gambia", "Bavaria"] {
            #expect(throws: RegionsError.self, "\(name)") { try run([area(7)], .init(id: name)) }
        }
        for (id, parent) in [("../x", "CH"), ("ab", "CH"), ("own", "DE-BY"), ("own", "nowhere")] {
            #expect(throws: RegionsError.self, "\(id)") { try run([area(7)], .init(id: id, parent: parent)) }
        }
        for (id, words) in [
            ("123", "beginning with a letter"), ("ab", "3 to 64"), ("x", "3 to 64"), ("ab", "AB is not a country"),
        ] {
            let error = #expect(throws: RegionsError.self) { try run([area(7)], .init(id: id)) }
            #expect(error?.message.contains("'\(id.uppercased())' cannot be the id") == true, "\(error as Any)")
            #expect(error?.message.contains(words) == true, "\(error as Any)")
        }
        // Lines have no area, whatever their ids are.
        let way = Geometry(lines: [[Coordinate(longitude: 1, latitude: 1), Coordinate(longitude: 2, latitude: 2)]])
        let line = AreaFeature(properties: ["ISO_A2": .string("EE")], geometry: way)
        for options in [RegionImport.Options(), .init(id: "tracks")] {
            let error = #expect(throws: RegionsError.self) { try run([line, line], options) }
            #expect(error?.message.contains("has no polygon") == true, "\(error as Any)")
        }
        let mixed = try run([line, area(7)], .init(replace: true, id: "alps"))
        #expect(mixed.replaced == ["ALPS"])
        try done()
    }
}
