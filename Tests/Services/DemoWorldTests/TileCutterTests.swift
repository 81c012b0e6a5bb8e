import Regions
import TestSupport
import Testing
import TileBodies
import Tiles

@testable import DemoWorld
@testable import WorldTiles

struct TileCutterTests {
    private let tree: RegionTree
    private let cutter: TileCutter

    init() throws {
        tree = try Fixture.tree.get()
        cutter = try Fixture.cutter.get()
    }

    private func decoded(_ tile: TileID, language: String = "en") throws -> DecodedTile {
        try #require(DecodedTile(cutter.cut(tile, language: language) ?? []))
    }

    @Test(arguments: [0, 1, 2, 3, 4, 6, 8, 10, 12, 14, 17, 22])
    func everyTilePassesTheCheckerAndTheRulesOfTheSpecification(zoom: Int) throws {
        let checker = BodyChecker()
        var tiles = 0
        for (longitude, latitude) in Fixture.places {
            guard let tile = Fixture.tile(longitude, latitude, zoom: zoom), let bytes = cutter.cut(tile) else {
                continue
            }
            tiles += 1
            let body = Gzip.compress(bytes)
            #expect(try checker.check(body, coding: .gzip, declared: .mvt) == body)
            try followsTheRules(bytes, tile)
        }
        #expect(tiles >= (zoom < 15 ? 25 : 12))
    }

    private func followsTheRules(_ bytes: [UInt8], _ tile: TileID) throws {
        let decoded = try #require(DecodedTile(bytes))
        #expect(Set(decoded.layers.map(\.name)).isSubset(of: ["countries", "regions", "labels", "grid"]))
        for layer in decoded.layers {
            #expect(layer.version == 2 && layer.extent == 4096 && !layer.features.isEmpty, "\(tile) \(layer.name)")
            #expect(Set(layer.keys).count == layer.keys.count && Set(layer.values).count == layer.values.count)
            for feature in layer.features {
                #expect(feature.tags.count.isMultiple(of: 2))
                for path in feature.paths {
                    #expect(path.allSatisfy { (-64...4160).contains($0.x) && (-64...4160).contains($0.y) }, "\(tile)")
                }
                guard feature.type == 3 else { continue }
                #expect(feature.closed == feature.paths.count)
                let areas = feature.paths.map(DecodedTile.Feature.doubledArea)
                #expect(areas.first ?? 0 > 0, "\(tile): the first ring is an exterior ring")
                #expect(!areas.contains(0), "\(tile): no ring without area")
                #expect(feature.paths.allSatisfy { $0.count > 2 })
                for path in feature.paths {
                    let hasTwin = path.indices.contains { path[$0] == path[($0 + 1) % path.count] }
                    #expect(!hasTwin, "\(tile): no repeated point")
                }
            }
        }
    }

    /// The tile drawn and the tree asked agree about the country at a place.
    @Test func drawnCountriesAgreeWithTheTree() throws {
        var dice = SplitMix(state: 7)
        var compared = 0
        var different = 0
        for round in 0..<400 {
            let zoom = [2, 5, 8, 11, 14][round % 5]
            let longitude = Double.random(in: -179...179, using: &dice)
            let latitude = Double.random(in: -60...75, using: &dice)
            guard let tile = Fixture.tile(longitude, latitude, zoom: zoom) else { continue }
            let point = MercatorPoint(longitude: longitude, latitude: latitude)
            let scale = 4096 / Double(tile.units)
            let x = Double(point.x - tile.origin.x) * scale
            let y = Double(point.y - tile.origin.y) * scale
            let drawn = try decoded(tile)["countries"].filter { $0.contains(x: x + 0.013, y: y + 0.017) }
            // At sea the tree knows island boxes, which are not drawn; ground is what counts here.
            let smallest = tree.smallest(longitude: longitude, latitude: latitude)
            let country = smallest?.kind == .region ? smallest?.parentID : smallest?.id
            compared += 1
            let names = drawn.compactMap { $0.text("id") }
            if let country { different += names.contains(country) ? 0 : 1 } else { different += names.isEmpty ? 0 : 1 }
        }
        #expect(compared > 350)
        // Places within a pixel of a coast or border, and island boxes at sea.
        #expect(different <= compared / 50, "\(different) of \(compared) places differ")
    }

    @Test(arguments: [3, 6, 9, 12, 14])
    func neighboursAgreeOnTheEdgeTheyShare(zoom: Int) throws {
        var samples = 0
        var different = 0
        for (longitude, latitude) in Fixture.places {
            guard let left = Fixture.tile(longitude, latitude, zoom: zoom),
                let right = TileID(zoom: zoom, x: left.x + 1, y: left.y),
                let below = TileID(zoom: zoom, x: left.x, y: left.y + 1)
            else { continue }
            let here = try decoded(left)
            for (there, isRight) in [(try decoded(right), true), (try decoded(below), false)] {
                for step in stride(from: 8.25, to: 4096, by: 64) {
                    let ours = isRight ? (4096.25, step) : (step, 4096.25)
                    let theirs = isRight ? (0.25, step) : (step, 0.25)
                    let one = Set(here["countries"].filter { $0.contains(x: ours.0, y: ours.1) }.map(\.id))
                    let two = Set(there["countries"].filter { $0.contains(x: theirs.0, y: theirs.1) }.map(\.id))
                    samples += 1
                    different += one == two ? 0 : 1
                }
            }
        }
        #expect(samples > 3000)
        // A border that crosses the edge within a unit of a sample may fall on either side.
        #expect(different <= samples / 500, "\(different) of \(samples) samples differ")
    }

    @Test func aTileDoesNotDependOnWhatWasCutBefore() throws {
        let tiles = Fixture.places.flatMap { place in
            [3, 7, 10, 13, 16].compactMap { Fixture.tile(place.0, place.1, zoom: $0) }
        }
        let other = TileCutter(tree: tree)
        let backwards = tiles.reversed().map { other.cut($0, language: "fr") }
        let forwards = tiles.map { cutter.cut($0, language: "fr") }
        #expect(backwards.reversed() == forwards)
    }

    @Test func everyCountryIsLabelledOncePerZoom() throws {
        var seen: [String: Int] = [:]
        for y in 0..<32 {
            for x in 0..<32 {
                let tile = try #require(TileID(zoom: 5, x: x, y: y))
                guard let bytes = cutter.cut(tile), let decoded = DecodedTile(bytes) else { continue }
                for label in decoded["labels"] where label.text("kind") == "country" {
                    seen[label.text("id") ?? "", default: 0] += 1
                }
            }
        }
        let countries = tree.regions.filter { $0.kind == .country }.map(\.id)
        #expect(seen == Dictionary(uniqueKeysWithValues: countries.map { ($0, 1) }))
    }

    @Test func namesComeInTheLanguageAskedFor() throws {
        let tile = try #require(Fixture.tile(25.5, 58.7, zoom: 9))
        let english = try #require(try decoded(tile)["countries"].first)
        let german = try #require(try decoded(tile, language: "de")["countries"].first)
        #expect(english.text("name") == "Estonia" && german.text("name") == "Estland")
        #expect(german.text("name_en") == "Estonia" && german.text("name_et") == "Eesti")
        #expect(english.text("id") == "EE" && english.text("iso") == "EE")
    }

    @Test func groundThatFillsATileIsOneSquare() throws {
        let tile = try #require(Fixture.tile(10.0, 50.5, zoom: 14))
        let decoded = try decoded(tile)
        for layer in ["countries", "regions"] {
            #expect(decoded[layer].count == 1)
            #expect(decoded[layer].first?.paths.map(\.count) == [4])
            #expect(decoded[layer].first?.paths.map(DecodedTile.Feature.doubledArea) == [2 * 4224 * 4224])
        }
        #expect(decoded["grid"].count >= 4)
        let neighbour = try #require(TileID(zoom: 14, x: tile.x + 1, y: tile.y))
        #expect(cutter.cut(neighbour) != cutter.cut(tile))
    }

    @Test func openSeaIsEmpty() throws {
        for zoom in [6, 10, 14, 22] {
            let tile = try #require(Fixture.tile(-140, -40, zoom: zoom))
            #expect(cutter.cut(tile) == nil)
        }
    }

    @Test func paddingMakesATileAboutThatMuchLarger() throws {
        let tile = try #require(Fixture.tile(10.0, 50.5, zoom: 14))
        let plain = try #require(WorldTile.make(tile, from: cutter))
        let padded = try #require(WorldTile.make(tile, from: cutter, padding: 20_000))
        #expect((18_000...22_500).contains(padded.gzip.count - plain.gzip.count))
        #expect(padded == WorldTile.make(tile, from: cutter, padding: 20_000))
        #expect(padded.hash != plain.hash && plain.hash.count == 16)
        #expect(try BodyChecker().check(padded.gzip, coding: .gzip, declared: .mvt) == padded.gzip)
    }
}
