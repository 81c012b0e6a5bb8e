import Foundation
import Testing
import Tiles

/// Names of towns on the command line.
@Suite(.timeLimit(.programs))
struct TownTests {
    private func run(_ arguments: [String], in scratch: Scratch) async throws -> Program.Outcome {
        try await Program.run(arguments, in: scratch)
    }

    @Test func aTownIsAnAreaWithAMargin() async throws {
        let scratch = try Scratch()
        var masks: Set<String> = []
        for name in ["Tartu", "tartu, EE", "Dorpat", "Тарту", "Estonia/Tartu", "geonames:588335"] {
            let outcome = try await run(
                ["mask", name, "--margin", "20km", "--zoom", "11", "--format", "tiles"], in: scratch)
            #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(name): \(outcome.errors)")
            masks.insert(outcome.output)
        }
        #expect(masks.count == 1)
        let tiles = Set(try #require(masks.first).split(separator: "\n"))
        // 26.7251 E, 58.3806 N, and a place 19 km north of it.
        #expect(tiles.contains("11/1176/612") && tiles.contains("11/1176/611") && tiles.count < 60, "\(tiles)")
    }

    @Test func aTownIsBuilt() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let folder = scratch.url("maps")
        let outcome = try await run(
            [
                "build", "Tartu", "--margin", "20km", "--tileset", origin.tileset, "--zoom", "0-8", "-o",
                folder.path + "/", "--progress", "none",
            ],
            in: scratch)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let file = folder.appending(path: "Tartu-EE.mbtiles")
        #expect(try await run(["verify", file.path], in: scratch).status == 0)
    }

    @Test func aTownWithoutAMarginIsRefusedWithAnExample() async throws {
        let scratch = try Scratch()
        let list = scratch.url("list.yaml")
        for (text, words) in [
            ("[Tartu]", "with 'margin: 20km'"), ("[{region: Tartu}]", "margin: 20km"),
            ("[{id: a, region: EE, minus: [Tartu]}]", "margin: 20km"),
            ("[{id: a, union: [EE, Tartu]}]", "margin: 20km"),
        ] {
            try Data(text.utf8).write(to: list)
            let outcome = try await run(["mask", "--packages", list.path], in: scratch)
            #expect(
                outcome.status == 65 && outcome.errors.contains("'Tartu, EE' is a town")
                    && outcome.errors.contains(words), "\(outcome.errors)")
        }
        for text in [
            "[{region: Tartu, margin: 5km}]", "[{id: a, union: [Tartu, \"Valga, EE\"], margin: 5km}]",
            "[{id: a, region: EE, minus: [{region: Tartu, margin: 5km}]}]",
        ] {
            try Data(text.utf8).write(to: list)
            let outcome = try await run(
                ["mask", "--packages", list.path, "--zoom", "9", "--format", "counts"], in: scratch)
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        let elsewhere = try await run(["mask", "Tartu, LV", "--margin", "5km"], in: scratch)
        #expect(
            elsewhere.status == 66 && elsewhere.errors.contains("similar name: Tartu, EE"), "\(elsewhere.errors)")
        let bare = try await run(["mask", "Tartu"], in: scratch)
        #expect(bare.status == 64 && bare.errors.contains("--margin 20km"), "\(bare.errors)")
    }

    @Test func aNameOfSeveralTownsListsThemAndARegionWins() async throws {
        let scratch = try Scratch()
        let several = try await run(["mask", "Springfield", "--margin", "5km"], in: scratch)
        #expect(several.status == 66 && several.errors.contains("Springfield, US-IL"), "\(several.errors)")
        for column in ["TOWN", "COUNTRY", "PEOPLE", "LONGITUDE,LATITUDE"] {
            #expect(several.errors.contains(column), "\(several.errors)")
        }
        #expect(several.errors.contains("hint: add the country or region"), "\(several.errors)")
        let one = try await run(["mask", "Springfield, IL", "--margin", "5km"], in: scratch)
        #expect(one.status == 0 && one.errors.isEmpty)
        let region = try await run(["mask", "Luxembourg", "--zoom", "9", "--format", "counts"], in: scratch)
        #expect(region.status == 0 && region.errors.contains("note: the town Luxembourg, LU"), "\(region.errors)")
        let code = try await run(["mask", "LU", "--zoom", "9", "--format", "counts"], in: scratch)
        #expect(code.errors.isEmpty && code.output == region.output)
        let wrong = try await run(["mask", "Tratu", "--margin", "5km"], in: scratch)
        #expect(wrong.status == 66 && wrong.errors.contains("Tartu, EE"), "\(wrong.errors)")
    }

    private struct Found: Decodable {
        struct Town: Decodable {
            let id, name, country, region, path: String
            let population: Int
            let longitude, latitude: Double
        }
        struct Region: Decodable { let id: String }
        let match: String
        let regions: [Region]
        let towns: [Town]
    }

    @Test func regionsFindPrintsRegionsAndTowns() async throws {
        let scratch = try Scratch()
        let text = try await run(["regions", "find", "Tartu"], in: scratch)
        #expect(
            text.status == 0 && text.output.contains("Tartu, EE") && text.output.contains("26.7251,58.3806"),
            "\(text.output)")
        func find(_ words: String...) async throws -> Found {
            let outcome = try await run(["regions", "find", "--json"] + words, in: scratch)
            return try JSONDecoder().decode(Found.self, from: Data(outcome.output.utf8))
        }
        let tartu = try await find("tartu")
        #expect(
            tartu.match == "name" && tartu.towns.count == 1 && tartu.towns[0].country == "EE"
                && tartu.towns[0].population > 50_000)
        #expect(abs(tartu.towns[0].longitude - 26.725) < 0.01 && tartu.towns[0].path.hasSuffix("Estonia/Tartu"))
        #expect(try await find("Luxembourg").regions.map(\.id) == ["LU"])
        #expect(try await find("Reykjav").match == "beginning")
        #expect(try await find("--limit", "3", "San").towns.count <= 3)
        let none = try await run(["regions", "find", "qqqqqqqq"], in: scratch)
        #expect(none.status == 66 && none.errors.contains("no region and no town"), "\(none.errors)")
        let town = try await run(["regions", "show", "Tartu"], in: scratch)
        #expect(town.status == 66 && town.errors.contains("regions find"), "\(town.errors)")
    }
}
