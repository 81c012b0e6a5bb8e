import Regions
import TestSupport
import Testing
import TileBodies
import Tiles

@testable import WorldTiles

/// Tiles with the names of towns.
struct TownTilesTests {
    private static let tiles: Result<TownTiles, any Error> = Result { try TownTiles(TownList.embedded()) }

    private func names(_ longitude: Double, _ latitude: Double, zoom: Int) throws -> [String] {
        let tile = try #require(Fixture.tile(longitude, latitude, zoom: zoom))
        guard let bytes = try Self.tiles.get().cut(tile) else { return [] }
        return try #require(DecodedTile(bytes))["towns"].compactMap { $0.text("name") }
    }

    @Test func aTownIsInItsTileFromSomeZoomOn() throws {
        for zoom in [8, 10, 12, 16, 17, 20] {
            #expect(try names(26.72509, 58.38062, zoom: zoom).contains("Tartu"), "zoom \(zoom)")
        }
        #expect(try names(26.72509, 58.38062, zoom: 4).contains("Tallinn"))
        #expect(try !names(26.72509, 58.38062, zoom: 5).contains("Tartu"), "a small town")
        #expect(try !names(26.72509, 58.38062, zoom: 12).contains("Tallinn"), "another tile")
    }

    @Test func theMostPopulousComeFirstAndThereAreNeverTooMany() throws {
        #expect(try names(2.35, 48.85, zoom: 6).first == "Paris")
        for zoom in 0...12 {
            for (longitude, latitude) in Fixture.places {
                // The antimeridian belongs to no tile of this fixture.
                guard Fixture.tile(longitude, latitude, zoom: zoom) != nil else { continue }
                let found = try names(longitude, latitude, zoom: zoom)
                #expect(found.count <= TownTiles.most, "\(longitude) \(latitude) \(zoom)")
            }
        }
        #expect(try names(2.35, 48.85, zoom: 8).count == TownTiles.most)
    }

    @Test func everyTilePassesTheChecker() throws {
        let checker = BodyChecker()
        for (longitude, latitude) in Fixture.places {
            for zoom in [0, 3, 7, 11, 22] {
                guard let tile = Fixture.tile(longitude, latitude, zoom: zoom),
                    let bytes = try Self.tiles.get().cut(tile)
                else { continue }
                let body = Gzip.compress(bytes)
                #expect(try checker.check(body, coding: .gzip, declared: .mvt) == body, "\(tile)")
                let layer = try #require(DecodedTile(bytes)?.layers.first)
                #expect(layer.name == "towns" && layer.version == 2 && layer.extent == 4096)
                for feature in layer.features {
                    let point = try #require(feature.paths.first?.first)
                    #expect((0...4096).contains(point.x) && (0...4096).contains(point.y))
                }
            }
        }
    }

    @Test func thereIsNoTileAtSea() throws {
        #expect(try names(-40, 40, zoom: 6).isEmpty)
        #expect(try Self.tiles.get().cut(#require(TileID(zoom: 22, x: 0, y: 0))) == nil)
    }
}
